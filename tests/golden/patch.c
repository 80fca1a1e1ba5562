/* patch.c - find blocks, replace columns, make checksums right. */
#include "golden/patch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "footprint/base/bytes.h"
#include "footprint/wl/window.h"
#include "footprint/wl/wl_file.h"
#include "footprint/wl/workload.h"

#define TABLE_ENTRY_BYTES 8u

static void reserve(struct bytes *bytes, size_t capacity)
{
    if (!bytes_reserve(bytes, capacity)) {
        fputs("out of memory\n", stderr);
        abort();
    }
}

static void image_reserve(struct image *image, size_t capacity)
{
    struct bytes bytes = {image->bytes, image->size, image->capacity};
    reserve(&bytes, capacity);
    image->bytes = bytes.at;
    image->capacity = bytes.capacity;
}

bool image_load(struct image *image, const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t got;
    if (file == NULL)
        return false;
    image->size = 0;
    do {
        image_reserve(image, image->size + 65536);
        got = fread(image->bytes + image->size, 1, 65536, file);
        image->size += got;
    } while (got > 0);
    if (ferror(file)) {
        (void)fclose(file); /* the read's error is the one to tell */
        errno = EIO;
        return false;
    }
    return fclose(file) == 0;
}

bool image_store(const struct image *image, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    bool stored = image->size == 0 || fwrite(image->bytes, 1, image->size, file) == image->size;
    return fclose(file) == 0 && stored;
}

void image_set(struct image *image, const void *bytes, size_t size)
{
    image_reserve(image, size + 1);
    if (size > 0)
        memcpy(image->bytes, bytes, size);
    image->size = size;
}

void image_release(struct image *image)
{
    free(image->bytes);
    *image = (struct image){0};
}

bool image_is_workload(const struct image *image)
{
    return image->size >= 8 && memcmp(image->bytes, IMAGE_WORKLOAD, 8) == 0;
}

size_t image_end(const struct image *image)
{
    if (image_is_workload(image) && image->size >= FILE_HEADER_BYTES + WORKLOAD_FOOTER_BYTES)
        return image->size - WORKLOAD_FOOTER_BYTES;
    return image->size;
}

/* Bytes of the block at an offset, header included; 0 when it is not whole. */
static size_t block_bytes(const struct image *image, size_t at)
{
    const size_t end = image_end(image);
    if (at >= end || end - at < BLOCK_HEADER_BYTES)
        return 0;
    size_t bytes = (size_t)BLOCK_HEADER_BYTES + get_u32(image->bytes + at + 16);
    return bytes <= end - at ? bytes : 0;
}

size_t image_next_block(const struct image *image, size_t at)
{
    const size_t next = at == 0 ? FILE_HEADER_BYTES : at + block_bytes(image, at);
    return next != at && block_bytes(image, next) > 0 ? next : 0;
}

size_t image_find_block(const struct image *image, unsigned type, unsigned nth)
{
    for (size_t at = image_next_block(image, 0); at != 0; at = image_next_block(image, at))
        if (image->bytes[at + 4] == type && nth-- == 0)
            return at;
    return 0;
}

void image_splice(struct image *image, size_t at, size_t removed, const void *bytes, size_t added)
{
    image_reserve(image, image->size - removed + added + 1);
    memmove(image->bytes + at + added, image->bytes + at + removed, image->size - at - removed);
    if (added > 0)
        memcpy(image->bytes + at, bytes, added);
    image->size = image->size - removed + added;
}

void image_seal_header(struct image *image)
{
    put_u64(image->bytes + 56, XXH64(image->bytes, 56, 0));
}

void image_seal_block(struct image *image, size_t at)
{
    uint8_t *header = image->bytes + at;
    if (block_bytes(image, at) > 0)
        put_u64(header + 48, XXH64(header + BLOCK_HEADER_BYTES, get_u32(header + 16), 0));
    put_u64(header + 56, XXH64(header, 56, 0));
}

void image_seal_footer(struct image *image)
{
    size_t last = 0;
    if (!image_is_workload(image) || image->size < FILE_HEADER_BYTES + WORKLOAD_FOOTER_BYTES)
        return;
    for (size_t at = image_next_block(image, 0); at != 0; at = image_next_block(image, at))
        last = at;
    wl_footer_make(last, image->bytes + image->size - WORKLOAD_FOOTER_BYTES);
}

void image_seal_all(struct image *image, const char magic[8])
{
    uint64_t windows = 0;
    uint64_t ops = 0;
    if (image->size < FILE_HEADER_BYTES + WORKLOAD_FOOTER_BYTES)
        return;
    file_header_seal(image->bytes, magic, 1);
    if (image_is_workload(image))
        put_u32(image->bytes + 20, WL_TIME_STRIDE);
    put_u32(image->bytes + (image_is_workload(image) ? 16 : 20), FP_TIME_UNIT_NS);
    image_seal_header(image);
    size_t end = image_end(image);
    for (size_t at = FILE_HEADER_BYTES; end - at >= BLOCK_HEADER_BYTES;) {
        uint8_t *header = image->bytes + at;
        const size_t room = end - at - BLOCK_HEADER_BYTES;
        put_u32(header, BLOCK_MAGIC);
        /* What is left would be no block: it joins this one. */
        if (get_u32(header + 16) > room || room - get_u32(header + 16) < BLOCK_HEADER_BYTES)
            put_u32(header + 16, (uint32_t)room);
        if (header[4] == BLOCK_WINDOW) {
            put_u64(header + 24, windows++);
            put_u64(header + 32, ops);
            ops += get_u32(header + 12);
        }
        image_seal_block(image, at);
        at += (size_t)BLOCK_HEADER_BYTES + get_u32(header + 16);
    }
    image_seal_footer(image);
}

static bool get_column(const uint8_t *stored, size_t stored_bytes, size_t raw_bytes, struct bytes *ret)
{
    if (stored_bytes > raw_bytes || raw_bytes > IMAGE_COLUMN_MAX)
        return false;
    reserve(ret, raw_bytes + 1);
    ret->size = raw_bytes;
    if (stored_bytes != raw_bytes)
        return ZSTD_decompress(ret->at, raw_bytes, stored, stored_bytes) == raw_bytes;
    memcpy(ret->at, stored, raw_bytes);
    return true;
}

bool image_get_columns(const struct image *image, size_t at, struct image_columns *ret_columns)
{
    const uint8_t *payload = image->bytes + at + BLOCK_HEADER_BYTES;
    const size_t bytes = block_bytes(image, at);
    if (bytes == 0)
        return false;
    ret_columns->count = get_u16(image->bytes + at + 6);
    size_t used = (size_t)ret_columns->count * TABLE_ENTRY_BYTES;
    if (ret_columns->count > BLOCK_COLUMNS_MAX || used > bytes - BLOCK_HEADER_BYTES)
        return false;
    for (unsigned i = 0; i < ret_columns->count; i++) {
        const size_t raw = get_u32(payload + (size_t)i * TABLE_ENTRY_BYTES);
        const size_t stored = get_u32(payload + (size_t)i * TABLE_ENTRY_BYTES + 4);
        if (stored > bytes - BLOCK_HEADER_BYTES - used ||
            !get_column(payload + used, stored, raw, &ret_columns->columns[i]))
            return false;
        used += stored;
    }
    return used == bytes - BLOCK_HEADER_BYTES;
}

void image_columns_release(struct image_columns *columns)
{
    for (unsigned i = 0; i < BLOCK_COLUMNS_MAX; i++)
        bytes_release(&columns->columns[i]);
    columns->count = 0;
}

void image_set_columns(struct image *image, size_t at, const struct image_columns *columns)
{
    struct bytes payload = {0};
    size_t room = (size_t)columns->count * TABLE_ENTRY_BYTES;
    for (unsigned i = 0; i < columns->count; i++)
        room += columns->columns[i].size;
    reserve(&payload, room + 1);
    payload.size = (size_t)columns->count * TABLE_ENTRY_BYTES;
    for (unsigned i = 0; i < columns->count; i++) {
        const struct bytes *column = &columns->columns[i];
        put_u32(payload.at + (size_t)i * TABLE_ENTRY_BYTES, (uint32_t)column->size);
        put_u32(payload.at + (size_t)i * TABLE_ENTRY_BYTES + 4, (uint32_t)column->size);
        if (column->size > 0)
            memcpy(payload.at + payload.size, column->at, column->size);
        payload.size += column->size;
    }
    image_splice(image, at + BLOCK_HEADER_BYTES, get_u32(image->bytes + at + 16), payload.at, payload.size);
    put_u16(image->bytes + at + 6, (uint16_t)columns->count);
    put_u32(image->bytes + at + 16, (uint32_t)payload.size);
    bytes_release(&payload);
    image_seal_block(image, at);
    image_seal_footer(image);
}

size_t image_add_to_number(struct image *image, size_t at, unsigned column, unsigned index, uint64_t add)
{
    struct image_columns columns = {0};
    struct bytes changed = {0};
    struct cursor cursor;
    uint8_t *end;
    if (!image_get_columns(image, at, &columns) ||
        !bytes_reserve(&changed, columns.columns[column].size + VARINT_BYTES_MAX))
        abort();
    struct bytes old = columns.columns[column];
    cursor = (struct cursor){old.at, old.at + old.size, false};
    for (end = changed.at; cursor.at < cursor.end; index--)
        end = put_varint(end, get_varint(&cursor) + (index == 0 ? add : 0));
    changed.size = (size_t)(end - changed.at);
    columns.columns[column] = changed;
    bytes_release(&old);
    image_set_columns(image, at, &columns);
    image_columns_release(&columns);
    return at;
}
