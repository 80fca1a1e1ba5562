/* defects.c - changes of which the invalid golden files are made. */
#include "golden/defects.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "footprint/base/bytes.h"
#include "footprint/wl/window.h"

void defect_apply(struct image *image, const struct defect *defect)
{
    for (const struct edit *edit = defect->edits; edit < defect->edits + 4 && edit->apply != NULL; edit++) {
        const size_t at = edit->block == FILE_BEGIN ? 0
                          : edit->block == FILE_END ? image->size
                                                    : image_find_block(image, edit->block, edit->nth);
        if (at == 0 && edit->block != FILE_BEGIN)
            abort(); /* the base is a golden file: it has that block, and its columns below */
        edit->apply(image, at, edit);
    }
}

/* ---- the file and its blocks ---------------------------------------------------------------- */

void edit_cut(struct image *image, size_t at, const struct edit *edit)
{
    image->size = at + (size_t)edit->number;
}

void edit_insert(struct image *image, size_t at, const struct edit *edit)
{
    image_splice(image, at, 0, edit->bytes, edit->size);
}

static size_t block_size(const struct image *image, size_t at)
{
    return BLOCK_HEADER_BYTES + (size_t)get_u32(image->bytes + at + 16);
}

void edit_remove(struct image *image, size_t at, const struct edit *edit)
{
    image_splice(image, at, block_size(image, at), NULL, 0);
    image_seal_footer(image);
}

void edit_repeat(struct image *image, size_t at, const struct edit *edit)
{
    uint8_t copy[4096];
    const size_t size = block_size(image, at);
    if (size > sizeof copy)
        abort();
    memcpy(copy, image->bytes + at, size);
    image_splice(image, image_find_block(image, (unsigned)edit->value, 0), 0, copy, size);
    image_seal_footer(image);
}

void edit_set(struct image *image, size_t at, const struct edit *edit)
{
    for (size_t i = 0; i < edit->size; i++)
        image->bytes[at + (size_t)edit->number + i] = (uint8_t)(edit->value >> 8 * i);
    if (edit->block == FILE_BEGIN)
        image_seal_header(image);
    else
        image_seal_block(image, at);
}

void edit_write(struct image *image, size_t at, const struct edit *edit)
{
    memcpy(image->bytes + at + edit->number, edit->bytes, edit->size);
}

void edit_flip(struct image *image, size_t at, const struct edit *edit)
{
    image->bytes[at + (size_t)edit->number] ^= (uint8_t)edit->value;
}

void edit_footer(struct image *image, size_t at, const struct edit *edit)
{
    uint8_t *footer = image->bytes + image->size - WORKLOAD_FOOTER_BYTES;
    put_u64(footer + 8, at + (uint64_t)edit->number);
    put_u64(footer + 16, XXH64(footer, 16, 0));
}

/* ---- columns -------------------------------------------------------------------------------- */

/* Make room for so many bytes; what is more than there was is zero. */
static uint8_t *column_of(const struct image *image, size_t at, const struct edit *edit, size_t size,
                          struct image_columns *columns)
{
    struct bytes *column = &columns->columns[edit->column];
    if (!image_get_columns(image, at, columns))
        abort();
    const size_t was = column->size;
    if (!bytes_reserve(column, was + size + 1))
        abort();
    memset(column->at + was, 0, size + 1);
    return column->at;
}

static void column_set(struct image *image, size_t at, const struct edit *edit, const void *bytes,
                       size_t zeros, size_t size, size_t all)
{
    struct image_columns columns = {0};
    uint8_t *column = column_of(image, at, edit, all, &columns);
    memset(column, 0, all);
    memcpy(column + zeros, bytes, size);
    columns.columns[edit->column].size = all;
    image_set_columns(image, at, &columns);
    image_columns_release(&columns);
}

void edit_column(struct image *image, size_t at, const struct edit *edit)
{
    const size_t zeros = (size_t)edit->number;
    column_set(image, at, edit, edit->bytes, zeros, edit->size,
               edit->value > 0 ? (size_t)edit->value : zeros + edit->size);
}

void edit_within(struct image *image, size_t at, const struct edit *edit)
{
    struct image_columns columns = {0};
    memcpy(column_of(image, at, edit, 0, &columns) + edit->number, edit->bytes, edit->size);
    image_set_columns(image, at, &columns);
    image_columns_release(&columns);
}

void edit_number(struct image *image, size_t at, const struct edit *edit)
{
    (void)image_add_to_number(image, at, edit->column, (unsigned)edit->number, edit->value);
}

void edit_resize(struct image *image, size_t at, const struct edit *edit)
{
    struct image_columns columns = {0};
    (void)column_of(image, at, edit, 1, &columns);
    columns.columns[edit->column].size += (size_t)edit->number;
    image_set_columns(image, at, &columns);
    image_columns_release(&columns);
}

void edit_table(struct image *image, size_t at, const struct edit *edit)
{
    uint8_t *entry = image->bytes + at + BLOCK_HEADER_BYTES + (size_t)edit->column * 8;
    put_u32(entry, (uint32_t)edit->number);
    put_u32(entry + 4, (uint32_t)edit->value);
    image_seal_block(image, at);
}

/* RFC 8878: a single-segment frame with its size in 4 bytes and blocks of one repeated byte each. Written by
 * hand, so that these bytes do not depend on a compressor's version. */
static size_t put_frame(uint8_t *at, uint32_t frame_bytes)
{
    const uint32_t block_max = 128u << 10;
    uint8_t *const start = at;
    put_u32(at, 0xfd2fb528);
    at[4] = 0xa0;
    put_u32(at + 5, frame_bytes);
    at += 9;
    do {
        const uint32_t block = frame_bytes < block_max ? frame_bytes : block_max;
        const uint32_t header = block << 3 | 1u << 1 | (block == frame_bytes ? 1 : 0);
        at[0] = (uint8_t)header;
        at[1] = (uint8_t)(header >> 8);
        at[2] = (uint8_t)(header >> 16);
        at[3] = 0;
        at += 4;
        frame_bytes -= block;
    } while (frame_bytes > 0);
    return (size_t)(at - start);
}

void edit_bomb(struct image *image, size_t at, const struct edit *edit)
{
    uint8_t frame[9 + 4 * 1024];
    const size_t size = put_frame(frame, (uint32_t)edit->number);
    column_set(image, at, edit, frame, 0, size, size);
    edit_table(image, at,
               &(struct edit){.column = edit->column, .number = (int64_t)edit->value, .value = size});
}
