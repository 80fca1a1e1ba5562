/* columns.c - a block of marks under construction: its memory, the dictionary of shapes, its columns; and columns into marks. */
#include "footprint/fp/columns.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/arrays.h"
#include "footprint/base/call.h"

#define TABLE_MASK ((1u << SHAPE_TABLE_BITS) - 1)

/* ---- memory ------------------------------------------------------------------------------------ */

bool fp_columns_init(struct fp_columns *columns)
{
    memset(columns, 0, sizeof *columns);
    columns->memory = calloc(1, sizeof *columns->memory);
    if (columns->memory == NULL)
        return false;
    fp_columns_clear(columns);
    return true;
}

void fp_columns_clear(struct fp_columns *columns)
{
    struct columns_memory *memory = columns->memory;
    memset(memory->epochs, 0, columns->epoch_bytes);
    columns->mark_count = columns->shape_count = columns->stamp_count = columns->literal_count = 0;
    columns->address_bytes = columns->epoch_bytes = 0;
    columns->other_count = 0;
    /* Entries of former generations count as empty, so the tables are wiped only once in 65535 blocks. */
    if (columns->generation == COLUMNS_GENERATION_LIMIT) {
        memset(memory->seen, 0, sizeof memory->seen);
        memset(memory->direct, 0, sizeof memory->direct);
        memset(memory->table, 0, sizeof memory->table);
        columns->generation = 0;
    }
    columns->generation++;
}

void fp_columns_take_sites(struct fp_columns *columns, struct fp_site_decoder *sites)
{
    if (sites != NULL && columns->mark_count > 0 && !columns->sited)
        memset(columns->memory->sites, 0, columns->mark_count * sizeof *columns->memory->sites);
    columns->sites = sites;
    columns->sited = sites != NULL || (columns->sited && columns->mark_count > 0);
}

/* ---- shapes, stamps ------------------------------------------------------------------------------- */

#define OTHERS_MAX (sizeof((struct fp_columns *)NULL)->others / sizeof(uint16_t))

static uint32_t new_entry(struct fp_columns *columns, const struct fp_shape *shape)
{
    const uint32_t index = columns->shape_count++;
    columns->memory->shapes[index] = *shape;
    if (shape->call >= FP_CALL_COUNT && columns->other_count++ < OTHERS_MAX)
        columns->others[columns->other_count - 1] = (uint16_t)index;
    return columns->generation << 16 | index;
}

static uint32_t hashed_shape(struct fp_columns *columns, const struct fp_shape *shape)
{
    const uint64_t mixed = (shape->size * 64 + shape->call + shape->extra * UINT64_C(0x632be59bd9b4e019)) *
                           UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(mixed >> (64 - SHAPE_TABLE_BITS));
    for (; columns->memory->table[at] >> 16 == columns->generation; at = (at + 1) & TABLE_MASK) {
        const uint32_t index = columns->memory->table[at] & 0xffff;
        const struct fp_shape *known = &columns->memory->shapes[index];
        if (known->size == shape->size && known->call == shape->call && known->extra == shape->extra)
            return index;
    }
    columns->memory->table[at] = new_entry(columns, shape);
    return columns->memory->table[at] & 0xffff;
}

uint32_t columns_shape(struct fp_columns *columns, const struct fp_shape *shape)
{
    const unsigned code = fp_record_code(shape->call);
    uint32_t *entry;
    if (code == 0 || shape->extra != fp_record_extra(shape->call) ||
        shape->size >> FP_RECORD_SHORT_SIZE_BITS != 0)
        return hashed_shape(columns, shape);
    entry = &columns->memory->direct[code << FP_RECORD_SHORT_SIZE_BITS | shape->size];
    if (*entry >> 16 != columns->generation)
        *entry = new_entry(columns, shape);
    return *entry & 0xffff;
}

void fp_columns_stamp(struct fp_columns *columns, uint64_t time_ns)
{
    /* Two stamps before one mark (a wide record stood between): the later one tells more. */
    if (columns->stamp_count > 0 &&
        columns->memory->stamps[columns->stamp_count - 1].mark == columns->mark_count)
        columns->stamp_count--;
    columns->memory->stamps[columns->stamp_count++] = (struct fp_stamp){columns->mark_count, time_ns};
}

/* Counted at the end and by shape: a count for each mark would cost as much as its stamp, and in most blocks all marks
 * that are no calls are of one shape, the first halves of reallocs. */
uint32_t fp_columns_events(const struct fp_columns *columns)
{
    const uint16_t *const mark_shapes = columns->memory->mark_shapes;
    uint32_t events = columns->mark_count;
    if (columns->other_count > OTHERS_MAX) {
        for (uint32_t i = 0; i < columns->mark_count; i++)
            events -= columns->memory->shapes[mark_shapes[i]].call >= FP_CALL_COUNT;
        return events;
    }
    for (uint32_t other = 0; other < columns->other_count; other++)
        for (uint32_t i = 0; i < columns->mark_count; i++)
            events -= mark_shapes[i] == columns->others[other];
    return events;
}

bool fp_columns_have(const struct fp_columns *columns, unsigned call)
{
    for (uint32_t i = 0; i < columns->shape_count; i++)
        if (columns->memory->shapes[i].call == call)
            return true;
    return false;
}

/* ---- writing -------------------------------------------------------------------------------------- */

static struct column shape_column(const struct fp_columns *columns, uint8_t *at)
{
    const uint8_t *const begin = at;
    for (uint32_t i = 0; i < columns->shape_count; i++)
        at = put_shape(at, &columns->memory->shapes[i]);
    return (struct column){begin, (size_t)(at - begin)};
}

/* put_varint for up to 28 bits without a branch: literals are near and far at random. Needs room for four bytes. */
static inline uint8_t *put_middle_varint(uint8_t *at, uint32_t value)
{
    const uint32_t more = (value > 0x7f) + (value > 0x3fff) + (value > 0x1fffff);
    const uint32_t spread = (value & 0x7f) | (value << 1 & 0x7f00) | (value << 2 & 0x7f0000) |
                            (value << 3 & 0x7f000000);
    put_u32(at, spread | (0x00808080u & ((1u << 8 * more) - 1)));
    return at + 1 + more;
}

/* The shift that fits all literals is known at the end only. */
static struct column literal_column(const struct fp_columns *columns, uint8_t *at, unsigned *ret_shift)
{
    const uint8_t *begin = at;
    uint64_t any = (uint64_t)1 << MARKS_FLAG_SHIFT;
    uint64_t last = 0;
    unsigned shift;
    for (uint32_t i = 0; i < columns->literal_count; i++)
        any |= columns->memory->literals[i];
    shift = (unsigned)__builtin_ctzll(any);
    for (uint32_t i = 0; i < columns->literal_count; i++) {
        const uint64_t literal = columns->memory->literals[i] >> shift;
        const uint64_t step = zigzag((int64_t)(literal - last));
        at = step >> 28 == 0 ? put_middle_varint(at, (uint32_t)step) : put_varint(at, step);
        last = literal;
    }
    *ret_shift = shift;
    return (struct column){begin, (size_t)(at - begin)};
}

static void stamp_columns(const struct fp_columns *columns, uint8_t *gap, uint8_t *time,
                          struct column ret_columns[MARKS_COLUMNS])
{
    const uint8_t *const first_gap = gap, *const first_time = time;
    const struct fp_stamp *last = columns->memory->stamps; /* less itself is 0: the first time is the base */
    uint32_t mark = 0;
    for (uint32_t i = 0; i < columns->stamp_count; i++) {
        const struct fp_stamp *stamp = &columns->memory->stamps[i];
        gap = put_varint(gap, stamp->mark - mark);
        time = put_varint(time, stamp->time_ns / FP_TIME_UNIT_NS - last->time_ns / FP_TIME_UNIT_NS);
        mark = stamp->mark;
        last = stamp;
    }
    ret_columns[MARKS_STAMP_GAP] = (struct column){first_gap, (size_t)(gap - first_gap)};
    ret_columns[MARKS_STAMP_TIME] = (struct column){first_time, (size_t)(time - first_time)};
}

static void split_shapes(struct columns_memory *memory, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        memory->shape_low[i] = (uint8_t)memory->mark_shapes[i];
    for (uint32_t i = 0; i < count; i++)
        memory->shape_high[i] = (uint8_t)(memory->mark_shapes[i] >> 8);
}

void columns_finish(struct fp_columns *columns, struct site_model *model, uint32_t lane, uint64_t sequence,
                    struct block_header *ret_header, struct column ret_columns[MARKS_COLUMNS_MOST])
{
    struct columns_memory *memory = columns->memory;
    const uint32_t count = columns->mark_count;
    const struct site_calls calls = {memory->shapes, memory->shape_low, memory->shape_high, count};
    unsigned shift;
    split_shapes(memory, count);
    ret_columns[MARKS_SHAPES] = shape_column(columns, memory->shape_list);
    ret_columns[MARKS_SHAPE_LOW] = (struct column){memory->shape_low, count};
    ret_columns[MARKS_SHAPE_HIGH] = (struct column){memory->shape_high,
                                                    columns->shape_count > 256 ? count : 0};
    ret_columns[MARKS_ADDRESS] = (struct column){memory->address, columns->address_bytes};
    ret_columns[MARKS_LITERAL] = literal_column(columns, memory->literal, &shift);
    ret_columns[MARKS_EPOCH] = (struct column){memory->epochs, columns->epoch_bytes};
    stamp_columns(columns, memory->stamp_gaps, memory->stamp_times, ret_columns);
    if (columns->sited)
        ret_columns[MARKS_SITES] = (struct column){
            memory->site_list,
            (size_t)(site_column_put(model, calls, memory->sites, memory->site_list) - memory->site_list)};
    *ret_header = (struct block_header){
        .type = BLOCK_MARKS,
        .column_count = columns->sited ? MARKS_COLUMNS_MOST : MARKS_COLUMNS,
        .flags = (uint8_t)shift,
        .lane = lane,
        .count = count,
        .sequence = sequence,
        .base = columns->base_epoch,
        .base_time = columns->stamp_count > 0 ? memory->stamps[0].time_ns / FP_TIME_UNIT_NS : 0,
    };
}

/* ---- reading -------------------------------------------------------------------------------------- */

size_t marks_scratch_bytes(uint32_t count)
{
    /* shapes 21, low and high 2, address 3, literal 10, epoch 5, site 16 and at the end 4, stamps (count + 1) times 3 + 10 */
    return (size_t)count * (SHAPE_BYTES_MAX + 2 + 3 + 10 + 5 + SITE_BYTES_MOST) + RANGE_TAIL_BYTES +
           ((size_t)count + 1) * 13;
}

static enum fp_status decode_shapes(const struct column *column, uint32_t mark_count,
                                    struct fp_block_buffer *buffer, uint32_t *ret_count)
{
    struct cursor cursor = column_cursor(column);
    uint32_t count = 0;
    while (cursor.at < cursor.end) {
        struct fp_shape shape;
        if (count == mark_count)
            return FP_ERR_CORRUPT;
        if (!FP_GROW(buffer->shapes, buffer->shapes_capacity, (size_t)count + 1))
            return FP_ERR_MEMORY;
        shape.call = get_byte(&cursor);
        shape.size = get_varint(&cursor);
        shape.extra = get_varint(&cursor);
        if (cursor.bad || !fp_mark_is_valid(shape.call))
            return FP_ERR_CORRUPT;
        buffer->shapes[count++] = shape;
    }
    *ret_count = count;
    return count > 0 ? FP_OK : FP_ERR_CORRUPT;
}

static enum fp_status decode_sites(const struct column *columns, uint32_t mark_count,
                                   struct site_model *model, struct fp_block_buffer *buffer)
{
    const uint8_t *high = columns[MARKS_SHAPE_HIGH].size > 0 ? columns[MARKS_SHAPE_HIGH].bytes : NULL;
    const struct site_calls calls = {buffer->shapes, columns[MARKS_SHAPE_LOW].bytes, high, mark_count};
    if (!FP_GROW(buffer->sites, buffer->sites_capacity, mark_count))
        return FP_ERR_MEMORY;
    return site_column_get(model, calls, &columns[MARKS_SITES], FP_SITES_MAX, buffer->sites) ? FP_OK
                                                                                             : FP_ERR_CORRUPT;
}

static enum fp_status decode_stamps(const struct block_header *header, const struct column *gaps,
                                    const struct column *times, struct fp_block_buffer *buffer,
                                    uint32_t *ret_count)
{
    struct cursor gap = column_cursor(gaps);
    struct cursor time = column_cursor(times);
    const uint64_t units_max = UINT64_MAX / FP_TIME_UNIT_NS;
    uint64_t units = header->base_time;
    uint64_t mark = 0;
    uint32_t count = 0;
    if (!FP_GROW(buffer->stamps, buffer->stamps_capacity, gaps->size))
        return FP_ERR_MEMORY;
    while (gap.at < gap.end) {
        const uint64_t marks = get_varint(&gap);
        const uint64_t step = get_varint(&time);
        /* Against what is left, because a sum could wrap and then decrease. */
        if (count > header->count || marks > header->count - mark || units > units_max ||
            step > units_max - units)
            return FP_ERR_CORRUPT;
        mark += marks;
        units += step;
        buffer->stamps[count++] = (struct fp_stamp){(uint32_t)mark, units * FP_TIME_UNIT_NS};
    }
    *ret_count = count;
    return cursor_done(&gap) && cursor_done(&time) ? FP_OK : FP_ERR_CORRUPT;
}

static bool decode_marks(const struct block_header *header, const struct column *columns,
                         uint32_t shape_count, struct fp_mark *marks)
{
    struct cursor code = column_cursor(&columns[MARKS_ADDRESS]);
    struct cursor literal = column_cursor(&columns[MARKS_LITERAL]);
    struct cursor epochs = column_cursor(&columns[MARKS_EPOCH]);
    const uint8_t *low = columns[MARKS_SHAPE_LOW].bytes;
    const uint8_t *high = shape_count > 256 ? columns[MARKS_SHAPE_HIGH].bytes : NULL;
    const unsigned shift = header->flags & MARKS_FLAG_SHIFT;
    uint64_t last = 0;
    uint64_t epoch = 0;
    if (columns[MARKS_SHAPE_LOW].size != header->count ||
        columns[MARKS_SHAPE_HIGH].size != (high != NULL ? header->count : 0))
        return false;
    for (uint32_t i = 0; i < header->count; i++) {
        const uint64_t distance = get_varint(&code);
        const uint32_t shape = low[i] | (high != NULL ? (uint32_t)high[i] << 8 : 0);
        const uint64_t step = get_varint(&epochs);
        uint64_t address = 0;
        uint16_t before = 0;
        if (distance > ADDRESS_NULL) {
            if (distance - 1 > i)
                return false;
            before = (uint16_t)(distance - 1); /* fits: a block has at most 65,536 marks */
            address = marks[i - before].address;
        } else if (distance == ADDRESS_LITERAL) {
            last += (uint64_t)unzigzag(get_varint(&literal));
            address = last << shift;
        }
        if (shape >= shape_count || step > UINT32_MAX - epoch)
            return false;
        epoch += step;
        marks[i] = (struct fp_mark){address, (uint16_t)shape, before, (uint32_t)epoch};
    }
    return cursor_done(&code) && cursor_done(&literal) && cursor_done(&epochs) &&
           header->base <= UINT64_MAX - epoch;
}

enum fp_status marks_decode(const struct block_header *header,
                            const struct column columns[MARKS_COLUMNS_MOST], struct site_model *model,
                            struct fp_block_buffer *buffer, struct fp_block *ret_block, const char **ret_what)
{
    uint32_t shape_count = 0;
    uint32_t stamp_count = 0;
    enum fp_status status;
    if (!FP_GROW(buffer->marks, buffer->marks_capacity, header->count)) {
        *ret_what = "no memory for a block";
        return FP_ERR_MEMORY;
    }
    *ret_what = "shapes of a block are damaged";
    status = decode_shapes(&columns[MARKS_SHAPES], header->count, buffer, &shape_count);
    if (status != FP_OK)
        return status;
    *ret_what = "times of a block are damaged";
    status = decode_stamps(header, &columns[MARKS_STAMP_GAP], &columns[MARKS_STAMP_TIME], buffer,
                           &stamp_count);
    if (status != FP_OK)
        return status;
    *ret_what = "marks of a block are damaged";
    if (!decode_marks(header, columns, shape_count, buffer->marks))
        return FP_ERR_CORRUPT;
    *ret_what = "sites of a block are damaged";
    const bool has_sites = marks_column_count(header) == MARKS_COLUMNS_MOST;
    if (has_sites)
        status = decode_sites(columns, header->count, model, buffer);
    if (status != FP_OK)
        return status;
    *ret_block = (struct fp_block){
        .lane = header->lane,
        .sequence = header->sequence,
        .base_epoch = header->base,
        .mark_count = header->count,
        .shape_count = shape_count,
        .stamp_count = stamp_count,
        .marks = buffer->marks,
        .shapes = buffer->shapes,
        .stamps = buffer->stamps,
        .sites = has_sites ? buffer->sites : NULL,
    };
    return FP_OK;
}
