/* defects.c - changes that both formats share. */
#include "golden/defects.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/bytes.h"

size_t defect_truncated_header(struct image *image)
{
    image->size = 40;
    return image_is_workload(image) ? 40 : 0;
}

size_t defect_foreign(struct image *image)
{
    memcpy(image->bytes,
           "\x7f"
           "ELF\2\1\1",
           8);
    return 0;
}

size_t defect_newer_version(struct image *image)
{
    put_u16(image->bytes + 8, 99);
    image_seal_header(image);
    return 8;
}

size_t defect_header_checksum(struct image *image)
{
    image->bytes[57] ^= 1;
    return 0;
}

size_t defect_meta_without_equals(struct image *image)
{
    return defect_column(image, BLOCK_META, 0, 0, "program scene\n", 14);
}

size_t defect_column(struct image *image, unsigned type, unsigned nth, unsigned column, const void *bytes,
                     size_t size)
{
    const size_t at = image_find_block(image, type, nth);
    struct image_columns columns = {0};
    if (at == 0 || !image_get_columns(image, at, &columns) || !bytes_reserve(&columns.columns[column], size))
        abort(); /* the base is a golden file: it has that block and column */
    memcpy(columns.columns[column].at, bytes, size);
    columns.columns[column].size = size;
    image_set_columns(image, at, &columns);
    image_columns_release(&columns);
    return at;
}

size_t defect_coded(struct image *image, unsigned type, unsigned column, bool cut)
{
    uint8_t bytes[4096] = {0};
    struct image_columns columns = {0};
    const size_t at = image_find_block(image, type, 0);
    if (at == 0 || !image_get_columns(image, at, &columns))
        abort(); /* likewise */
    const size_t size = columns.columns[column].size;
    if (size >= sizeof bytes)
        abort();
    memcpy(bytes, columns.columns[column].at, size);
    image_columns_release(&columns);
    return defect_column(image, type, 0, column, bytes, cut ? size - 1 : size + 1);
}

size_t defect_table(struct image *image, unsigned type, unsigned nth, unsigned column, uint32_t raw,
                    uint32_t stored)
{
    const size_t at = image_find_block(image, type, nth);
    uint8_t *entry = image->bytes + at + BLOCK_HEADER_BYTES + (size_t)column * 8;
    if (at == 0)
        abort(); /* as above */
    put_u32(entry, raw);
    put_u32(entry + 4, stored);
    image_seal_block(image, at);
    return at;
}

size_t defect_column_offset(const struct image *image, size_t block, unsigned column)
{
    const uint8_t *payload = image->bytes + block + BLOCK_HEADER_BYTES;
    size_t offset = block + BLOCK_HEADER_BYTES + (size_t)get_u16(image->bytes + block + 6) * 8;
    for (unsigned i = 0; i < column; i++)
        offset += get_u32(payload + (size_t)i * 8 + 4);
    return offset;
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

size_t defect_bomb(struct image *image, unsigned type, unsigned nth, unsigned column, uint32_t frame_bytes,
                   uint32_t table_bytes)
{
    uint8_t frame[9 + 4 * 1024];
    const size_t size = put_frame(frame, frame_bytes);
    (void)defect_column(image, type, nth, column, frame, size);
    return defect_table(image, type, nth, column, table_bytes, (uint32_t)size);
}
