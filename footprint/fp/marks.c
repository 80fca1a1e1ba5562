/* marks.c - a block of marks out of its columns. */
#include "footprint/fp/marks.h"

#include <stdlib.h>

#include "footprint/fp/columns_put.h"
#include "footprint/fp/fp_sites.h"
#include "footprint/fp/record.h"
#include "footprint/fp/site_model.h"

size_t marks_scratch_bytes(uint32_t count)
{
    /* shapes 21, low and high 2, address 3, literal 10, epoch 5, site 16 and at the end 4, stamps (count + 1) times 3 + 10 */
    return (size_t)count * (SHAPE_BYTES_MAX + 2 + 3 + 10 + 5 + SITE_BYTES_MOST) + RANGE_TAIL_BYTES +
           ((size_t)count + 1) * 13;
}

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

static enum fp_status decode_shapes(const struct column *column, uint32_t mark_count,
                                    struct fp_block_buffer *buffer, uint32_t *ret_count)
{
    struct cursor cursor = column_cursor(column);
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

/* The sites of marks, which are decoded but for them. Without a model they are lost. */
static enum fp_status decode_sites(const struct column *column, struct site_model *model, uint32_t mark_count,
                                   struct fp_block_buffer *buffer)
{
    struct range_coder coder = range_read(column->bytes, column->size);
    if (!grow((void **)&buffer->sites, &buffer->sites_capacity, mark_count, sizeof *buffer->sites))
        return FP_ERR_MEMORY;
    for (uint32_t i = 0; i < mark_count; i++) {
        const struct fp_shape *shape = &buffer->shapes[buffer->marks[i].shape];
        buffer->sites[i] = 0;
        if (fp_call_has_site(shape->call))
            buffer->sites[i] = model != NULL ? site_model_get(model, &coder, site_shape_hash(shape))
                                             : FP_CUT_LOST;
        else if (model != NULL)
            site_model_other(model);
        if (buffer->sites[i] >= FP_SITES_MAX)
            return FP_ERR_CORRUPT;
    }
    return model == NULL || range_done(&coder) ? FP_OK : FP_ERR_CORRUPT;
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
    *ret_what = "sites of a block are damaged";
    const bool has_sites = marks_column_count(header) == MARKS_COLUMNS_MOST;
    if (has_sites)
        status = decode_sites(&columns[MARKS_SITES], model, header->count, buffer);
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
