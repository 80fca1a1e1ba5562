/* marks.c - columns of a marks block. */
#include "footprint/marks.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/bytes.h"

/* Address codes: 0 a literal follows in its column, 1 NULL, d + 1 the address named d marks ago. */
enum { ADDRESS_LITERAL = 0, ADDRESS_NULL = 1 };

#define LAST_SEEN_BITS 17 /* twice FP_BLOCK_MARKS_MAX entries: 512 KiB, stays in the L2 cache */

/* Header flags: bits 0-2 hold the shift by which all literals of the block were divided. */
#define FLAG_SHIFT_MASK 7u

static uint32_t hash_address(uint64_t address)
{
    return (uint32_t)((address >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LAST_SEEN_BITS));
}

static bool encoder_prepare(struct marks_encoder *encoder, const struct fp_block *block)
{
    const size_t count = block->mark_count;
    const size_t room[MARKS_COLUMNS] = {
        [MARKS_SHAPES] = (size_t)block->shape_count * SHAPE_BYTES_MAX,
        [MARKS_SHAPE_LOW] = count,
        [MARKS_SHAPE_HIGH] = count,
        [MARKS_ADDRESS] = count * 3 + 1, /* put_short_varint writes one more */
        [MARKS_LITERAL] = count * VARINT_BYTES_MAX,
        [MARKS_EPOCH] = count * 5,
        [MARKS_STAMP_GAP] = (size_t)block->stamp_count * 3,
        [MARKS_STAMP_TIME] = (size_t)block->stamp_count * VARINT_BYTES_MAX,
    };
    for (int i = 0; i < MARKS_COLUMNS; i++)
        if (!bytes_reserve(&encoder->columns[i], room[i] + VARINT_BYTES_MAX))
            return false;
    if (!bytes_reserve(&encoder->literals, count * sizeof(uint64_t)))
        return false;
    if (encoder->last_seen == NULL) {
        encoder->last_seen = calloc((size_t)1 << LAST_SEEN_BITS, sizeof *encoder->last_seen);
        if (encoder->last_seen == NULL)
            return false;
    }
    /* Entries of older generations are ignored, so the table is cleared once in 65,535 blocks. */
    if (++encoder->generation > 0xffff) {
        memset(encoder->last_seen, 0, sizeof *encoder->last_seen << LAST_SEEN_BITS);
        encoder->generation = 1;
    }
    return true;
}

static bool block_is_valid(const struct fp_block *block)
{
    uint32_t mark = 0;
    uint64_t time_ns = 0;
    if (block->mark_count == 0 || block->mark_count > FP_BLOCK_MARKS_MAX || block->shape_count == 0 ||
        block->shape_count > block->mark_count || block->stamp_count > block->mark_count + 1 ||
        block->lane >= FP_LANES_MAX)
        return false;
    for (uint32_t i = 0; i < block->shape_count; i++)
        if (!fp_mark_is_valid(block->shapes[i].call))
            return false;
    for (uint32_t i = 0; i < block->stamp_count; i++) {
        if (block->stamps[i].mark < mark || block->stamps[i].mark > block->mark_count ||
            block->stamps[i].time_ns < time_ns)
            return false;
        mark = block->stamps[i].mark;
        time_ns = block->stamps[i].time_ns;
    }
    return true;
}

static void encode_shapes(struct marks_encoder *encoder, const struct fp_block *block)
{
    uint8_t *at = encoder->columns[MARKS_SHAPES].at;
    for (uint32_t i = 0; i < block->shape_count; i++)
        at = put_shape(at, &block->shapes[i]);
    encoder->columns[MARKS_SHAPES].size = (size_t)(at - encoder->columns[MARKS_SHAPES].at);
}

static void encode_stamps(struct marks_encoder *encoder, const struct fp_block *block, uint64_t base_time)
{
    uint8_t *gap = encoder->columns[MARKS_STAMP_GAP].at;
    uint8_t *time = encoder->columns[MARKS_STAMP_TIME].at;
    uint32_t mark = 0;
    for (uint32_t i = 0; i < block->stamp_count; i++) {
        const uint64_t units = block->stamps[i].time_ns / FP_TIME_UNIT_NS;
        gap = put_varint(gap, block->stamps[i].mark - mark);
        time = put_varint(time, units - base_time);
        mark = block->stamps[i].mark;
        base_time = units;
    }
    encoder->columns[MARKS_STAMP_GAP].size = (size_t)(gap - encoder->columns[MARKS_STAMP_GAP].at);
    encoder->columns[MARKS_STAMP_TIME].size = (size_t)(time - encoder->columns[MARKS_STAMP_TIME].at);
}

/* put_varint without a branch, for up to 21 bits. Distances are long and short at random: a processor would guess
 * the number of bytes wrong half of the time. Needs room for four bytes. */
static inline uint8_t *put_short_varint(uint8_t *at, uint32_t value)
{
    const uint32_t two = value > 0x7f, three = value > 0x3fff;
    put_u32(at, (value & 0x7f) | two << 7 | (value >> 7 & 0x7f) << 8 | three << 15 | value >> 14 << 16);
    return at + 1 + two + three;
}

#define LOOK_AHEAD 16u /* marks: about a memory latency */

/* Addresses and their distances. Literals are gathered raw first, because the shift that fits them all
 * is known at the end only; encode_literals writes their column. Returns how many there are. */
static uint32_t encode_addresses(struct marks_encoder *encoder, const struct fp_block *block,
                                 uint64_t *literals)
{
    uint8_t *at = encoder->columns[MARKS_ADDRESS].at;
    const uint32_t tag = encoder->generation << 16;
    const struct fp_mark *marks = block->marks;
    uint32_t literal_count = 0;
    for (uint32_t i = 0; i < block->mark_count; i++) {
        const uint64_t address = marks[i].address;
        uint32_t *seen, before, code;
        bool is_known;
        if (i + LOOK_AHEAD < block->mark_count)
            __builtin_prefetch(&encoder->last_seen[hash_address(marks[i + LOOK_AHEAD].address)], 1);
        if (address == 0) {
            *at++ = ADDRESS_NULL;
            continue;
        }
        seen = &encoder->last_seen[hash_address(address)];
        before = (*seen & 0xffff0000u) == tag ? *seen & 0xffff : i;
        is_known = before != i && marks[before].address == address;
        code = is_known ? i - before + 1 : ADDRESS_LITERAL;
        literals[literal_count] = address;
        literal_count += !is_known;
        at = put_short_varint(at, code);
        *seen = tag | i;
    }
    encoder->columns[MARKS_ADDRESS].size = (size_t)(at - encoder->columns[MARKS_ADDRESS].at);
    return literal_count;
}

static unsigned encode_literals(struct marks_encoder *encoder, const uint64_t *literals, uint32_t count)
{
    uint8_t *at = encoder->columns[MARKS_LITERAL].at;
    uint64_t any = (uint64_t)1 << FLAG_SHIFT_MASK;
    uint64_t last = 0;
    unsigned shift;
    for (uint32_t i = 0; i < count; i++)
        any |= literals[i];
    shift = (unsigned)__builtin_ctzll(any);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t literal = literals[i] >> shift;
        at = put_varint(at, zigzag((int64_t)(literal - last)));
        last = literal;
    }
    encoder->columns[MARKS_LITERAL].size = (size_t)(at - encoder->columns[MARKS_LITERAL].at);
    return shift;
}

/* Returns false when an index or an epoch is out of order. */
static bool encode_marks(struct marks_encoder *encoder, const struct fp_block *block)
{
    uint8_t *low = encoder->columns[MARKS_SHAPE_LOW].at;
    uint8_t *high = encoder->columns[MARKS_SHAPE_HIGH].at;
    uint8_t *epoch_at = encoder->columns[MARKS_EPOCH].at;
    uint32_t epoch = 0;
    for (uint32_t i = 0; i < block->mark_count; i++) {
        const struct fp_mark *mark = &block->marks[i];
        if (mark->shape >= block->shape_count || mark->epoch < epoch)
            return false;
        low[i] = (uint8_t)mark->shape;
        high[i] = (uint8_t)(mark->shape >> 8);
        epoch_at = put_varint(epoch_at, mark->epoch - epoch);
        epoch = mark->epoch;
    }
    if (block->base_epoch > UINT64_MAX - epoch)
        return false;
    encoder->columns[MARKS_SHAPE_LOW].size = block->mark_count;
    encoder->columns[MARKS_SHAPE_HIGH].size = block->shape_count > 256 ? block->mark_count : 0;
    encoder->columns[MARKS_EPOCH].size = (size_t)(epoch_at - encoder->columns[MARKS_EPOCH].at);
    return true;
}

enum fp_status marks_encode(struct marks_encoder *encoder, const struct fp_block *block,
                            struct block_header *ret_header, struct column ret_columns[MARKS_COLUMNS])
{
    uint64_t *literals;
    uint64_t base_time = 0;
    unsigned shift;
    if (!block_is_valid(block))
        return FP_ERR_ARGUMENT;
    if (!encoder_prepare(encoder, block))
        return FP_ERR_MEMORY;
    literals = (uint64_t *)(void *)encoder->literals.at;
    if (block->stamp_count > 0)
        base_time = block->stamps[0].time_ns / FP_TIME_UNIT_NS;
    encode_shapes(encoder, block);
    encode_stamps(encoder, block, base_time);
    shift = encode_literals(encoder, literals, encode_addresses(encoder, block, literals));
    if (!encode_marks(encoder, block))
        return FP_ERR_ARGUMENT;
    for (int i = 0; i < MARKS_COLUMNS; i++)
        ret_columns[i] = (struct column){encoder->columns[i].at, encoder->columns[i].size};
    *ret_header = (struct block_header){
        .type = BLOCK_MARKS,
        .flags = (uint8_t)shift,
        .lane = block->lane,
        .count = block->mark_count,
        .sequence = block->sequence,
        .base = block->base_epoch,
        .base_time = base_time,
    };
    return FP_OK;
}

void marks_encoder_release(struct marks_encoder *encoder)
{
    for (int i = 0; i < MARKS_COLUMNS; i++)
        bytes_release(&encoder->columns[i]);
    bytes_release(&encoder->literals);
    free(encoder->last_seen);
    *encoder = (struct marks_encoder){0};
}

size_t marks_scratch_bytes(uint32_t count)
{
    /* shapes 21, low and high 2, address 3, literal 10, epoch 5, stamps (count + 1) times 3 + 10 */
    return (size_t)count * (SHAPE_BYTES_MAX + 2 + 3 + 10 + 5) + ((size_t)count + 1) * 13;
}

/* ---- decoding ------------------------------------------------------------------------------ */

static bool grow(void **array, size_t *capacity, size_t count, size_t size)
{
    void *grown;
    if (count <= *capacity)
        return true;
    grown = realloc(*array, count * size);
    if (grown == NULL)
        return false;
    *array = grown;
    *capacity = count;
    return true;
}

static struct cursor cursor_of(const struct column *column)
{
    return (struct cursor){column->bytes, column->bytes + column->size, false};
}

static enum fp_status decode_shapes(const struct column *column, uint32_t mark_count,
                                    struct fp_block_buffer *buffer, uint32_t *ret_count)
{
    struct cursor cursor = cursor_of(column);
    uint32_t count = 0;
    while (cursor.at < cursor.end) {
        struct fp_shape shape;
        if (count == mark_count)
            return FP_ERR_CORRUPT;
        if (count == buffer->shapes_capacity &&
            !grow((void **)&buffer->shapes, &buffer->shapes_capacity, count * 2 < 64 ? 64 : (size_t)count * 2,
                  sizeof *buffer->shapes))
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

static enum fp_status decode_stamps(const struct block_header *header, const struct column *gaps,
                                    const struct column *times, struct fp_block_buffer *buffer,
                                    uint32_t *ret_count)
{
    struct cursor gap = cursor_of(gaps);
    struct cursor time = cursor_of(times);
    const uint64_t units_max = UINT64_MAX / FP_TIME_UNIT_NS;
    uint64_t units = header->base_time;
    uint64_t mark = 0;
    uint32_t count = 0;
    if (!grow((void **)&buffer->stamps, &buffer->stamps_capacity, gaps->size, sizeof *buffer->stamps))
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
    struct cursor code = cursor_of(&columns[MARKS_ADDRESS]);
    struct cursor literal = cursor_of(&columns[MARKS_LITERAL]);
    struct cursor epochs = cursor_of(&columns[MARKS_EPOCH]);
    const uint8_t *low = columns[MARKS_SHAPE_LOW].bytes;
    const uint8_t *high = shape_count > 256 ? columns[MARKS_SHAPE_HIGH].bytes : NULL;
    const unsigned shift = header->flags & FLAG_SHIFT_MASK;
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
        if (distance > ADDRESS_NULL) {
            if (distance - 1 > i)
                return false;
            address = marks[i - (distance - 1)].address;
        } else if (distance == ADDRESS_LITERAL) {
            last += (uint64_t)unzigzag(get_varint(&literal));
            address = last << shift;
        }
        if (shape >= shape_count || step > UINT32_MAX - epoch)
            return false;
        epoch += step;
        marks[i] = (struct fp_mark){address, shape, (uint32_t)epoch};
    }
    return cursor_done(&code) && cursor_done(&literal) && cursor_done(&epochs) &&
           header->base <= UINT64_MAX - epoch;
}

enum fp_status marks_decode(const struct block_header *header, const struct column columns[MARKS_COLUMNS],
                            struct fp_block_buffer *buffer, struct fp_block *ret_block, const char **ret_what)
{
    uint32_t shape_count = 0;
    uint32_t stamp_count = 0;
    enum fp_status status;
    if (!grow((void **)&buffer->marks, &buffer->marks_capacity, header->count, sizeof *buffer->marks)) {
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
    };
    return FP_OK;
}
