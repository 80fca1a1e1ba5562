/* blockio.c - pack and unpack blocks; file headers; meta data; the slow path of varint reading; the growing buffer. */
#include "footprint/base/blockio.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "footprint/base/bytes.h"
#include "footprint/base/meta.h"

void file_header_seal(uint8_t header[FILE_HEADER_BYTES], const char magic[8], uint16_t version)
{
    memcpy(header, magic, 8);
    put_u16(header + 8, version);
    put_u16(header + 10, FILE_HEADER_BYTES);
    put_u64(header + 56, XXH64(header, 56, 0));
}

enum fp_status file_header_check(const uint8_t header[FILE_HEADER_BYTES], const char magic[8],
                                 uint16_t version_max, struct fp_error *ret_error)
{
    struct fp_error error = {0};
    if (memcmp(header, magic, 8) != 0) {
        error.status = FP_ERR_FOREIGN;
        error.what = memcmp(magic, "MALLABFP", 8) == 0 ? "not a mallab footprint" : "not a mallab workload";
    } else if (get_u16(header + 8) == 0 || get_u16(header + 8) > version_max) {
        error.status = FP_ERR_VERSION;
        error.offset = 8;
        error.what = "of a format version that this mallab does not read";
        error.version_found = get_u16(header + 8);
        error.version_known = version_max;
    } else if (get_u16(header + 10) != FILE_HEADER_BYTES || get_u64(header + 56) != XXH64(header, 56, 0)) {
        error.status = FP_ERR_CHECKSUM;
        error.what = "file header is damaged";
    }
    if (error.status != FP_OK && ret_error != NULL)
        *ret_error = error;
    return error.status;
}

static void block_header_write(const struct block_header *header, uint8_t *at)
{
    memset(at, 0, BLOCK_HEADER_BYTES);
    put_u32(at, BLOCK_MAGIC);
    at[4] = header->type;
    at[5] = header->flags;
    put_u16(at + 6, header->column_count);
    put_u32(at + 8, header->lane);
    put_u32(at + 12, header->count);
    put_u32(at + 16, header->payload_bytes);
    put_u64(at + 24, header->sequence);
    put_u64(at + 32, header->base);
    put_u64(at + 40, header->base_time);
    put_u64(at + 48, header->payload_hash);
    put_u64(at + 56, XXH64(at, 56, 0));
}

enum fp_status block_header_parse(const uint8_t at[BLOCK_HEADER_BYTES], struct block_header *ret_header,
                                  const char **ret_what)
{
    struct block_header header;
    if (get_u32(at) != BLOCK_MAGIC) {
        *ret_what = "no block begins here";
        return FP_ERR_CORRUPT;
    }
    if (get_u64(at + 56) != XXH64(at, 56, 0)) {
        *ret_what = "checksum of a block header differs";
        return FP_ERR_CHECKSUM;
    }
    header = (struct block_header){
        .type = at[4],
        .flags = at[5],
        .column_count = get_u16(at + 6),
        .lane = get_u32(at + 8),
        .count = get_u32(at + 12),
        .payload_bytes = get_u32(at + 16),
        .sequence = get_u64(at + 24),
        .base = get_u64(at + 32),
        .base_time = get_u64(at + 40),
        .payload_hash = get_u64(at + 48),
    };
    if (header.payload_bytes > BLOCK_PAYLOAD_MAX || header.column_count > BLOCK_COLUMNS_MAX) {
        *ret_what = "block header is beyond the format's limits";
        return FP_ERR_CORRUPT;
    }
    *ret_header = header;
    return FP_OK;
}

/* Column table entry: u32 raw size, u32 stored size; equal sizes mean stored as is. */
#define TABLE_ENTRY_BYTES 8u

enum fp_status block_pack(struct block_header *header, const struct column *columns, unsigned column_count,
                          ZSTD_CCtx *context, int level, struct bytes *out)
{
    const size_t table = BLOCK_HEADER_BYTES;
    size_t room = table + column_count * TABLE_ENTRY_BYTES;
    for (unsigned i = 0; i < column_count; i++)
        room += ZSTD_compressBound(columns[i].size);
    if (!bytes_reserve(out, room))
        return FP_ERR_MEMORY;
    out->size = table + column_count * TABLE_ENTRY_BYTES;
    for (unsigned i = 0; i < column_count; i++) {
        const struct column *column = &columns[i];
        size_t stored = 0;
        if (column->size > 0) {
            stored = ZSTD_compressCCtx(context, out->at + out->size, out->capacity - out->size, column->bytes,
                                       column->size, level);
            if (ZSTD_isError(stored) || stored >= column->size) {
                memcpy(out->at + out->size, column->bytes, column->size);
                stored = column->size;
            }
        }
        put_u32(out->at + table + i * TABLE_ENTRY_BYTES, (uint32_t)column->size);
        put_u32(out->at + table + i * TABLE_ENTRY_BYTES + 4, (uint32_t)stored);
        out->size += stored;
    }
    if (out->size - BLOCK_HEADER_BYTES > BLOCK_PAYLOAD_MAX)
        return FP_ERR_LIMIT;
    header->column_count = (uint16_t)column_count;
    header->payload_bytes = (uint32_t)(out->size - BLOCK_HEADER_BYTES);
    header->payload_hash = XXH64(out->at + BLOCK_HEADER_BYTES, header->payload_bytes, 0);
    block_header_write(header, out->at);
    return FP_OK;
}

bool block_payload_is_whole(const struct block_header *header, const uint8_t *payload)
{
    return XXH64(payload, header->payload_bytes, 0) == header->payload_hash;
}

enum fp_status block_unpack(const struct block_header *header, const uint8_t *payload, unsigned column_count,
                            ZSTD_DCtx *context, uint8_t *scratch, size_t scratch_bytes,
                            struct column *ret_columns, size_t *ret_offset, const char **ret_what)
{
    size_t at = column_count * TABLE_ENTRY_BYTES;
    *ret_offset = 0;
    if (!block_payload_is_whole(header, payload)) {
        *ret_what = "checksum of a block differs";
        return FP_ERR_CHECKSUM;
    }
    *ret_what = "a block's columns contradict its header";
    if (header->column_count != column_count || at > header->payload_bytes)
        return FP_ERR_CORRUPT;
    for (unsigned i = 0; i < column_count; i++) {
        const size_t raw = get_u32(payload + i * TABLE_ENTRY_BYTES);
        const size_t stored = get_u32(payload + i * TABLE_ENTRY_BYTES + 4);
        *ret_offset = at;
        if (stored > header->payload_bytes - at || stored > raw || raw > scratch_bytes)
            return FP_ERR_CORRUPT;
        if (stored == raw) {
            memcpy(scratch, payload + at, raw);
        } else if (ZSTD_decompressDCtx(context, scratch, raw, payload + at, stored) != raw) {
            *ret_what = "a column does not decompress to its size";
            return FP_ERR_CORRUPT;
        }
        ret_columns[i] = (struct column){scratch, raw};
        scratch += raw;
        scratch_bytes -= raw;
        at += stored;
    }
    if (at != header->payload_bytes)
        return FP_ERR_CORRUPT;
    return FP_OK;
}

uint8_t *put_shape(uint8_t *at, const struct fp_shape *shape)
{
    *at++ = shape->call;
    at = put_varint(at, shape->size);
    return put_varint(at, shape->extra);
}

/* ---- meta data --------------------------------------------------------------------------------------- */

enum fp_status meta_encode(const struct fp_meta *meta, size_t count, struct bytes *out)
{
    out->size = 0;
    if (count > META_COUNT_MAX)
        return FP_ERR_LIMIT;
    for (size_t i = 0; i < count; i++) {
        const size_t key = strlen(meta[i].key);
        const size_t value = strlen(meta[i].value);
        if (strpbrk(meta[i].key, "=\n") != NULL || strchr(meta[i].value, '\n') != NULL)
            return FP_ERR_ARGUMENT;
        if (out->size + key + value + 2 > META_BYTES_MAX)
            return FP_ERR_LIMIT;
        if (!bytes_reserve(out, META_BYTES_MAX))
            return FP_ERR_MEMORY;
        memcpy(out->at + out->size, meta[i].key, key);
        out->at[out->size + key] = '=';
        memcpy(out->at + out->size + key + 1, meta[i].value, value);
        out->at[out->size + key + 1 + value] = '\n';
        out->size += key + value + 2;
    }
    return FP_OK;
}

bool meta_parse(char *text, size_t size, struct fp_meta *ret_meta, size_t *ret_count)
{
    size_t count = 0;
    char *end = text + size;
    if (memchr(text, '\0', size) != NULL)
        return false;
    while (text < end) {
        char *newline = memchr(text, '\n', (size_t)(end - text));
        char *equals = newline != NULL ? memchr(text, '=', (size_t)(newline - text)) : NULL;
        if (equals == NULL || count == META_COUNT_MAX)
            return false;
        *equals = '\0';
        *newline = '\0';
        ret_meta[count++] = (struct fp_meta){text, equals + 1};
        text = newline + 1;
    }
    *ret_count = count;
    return true;
}

const char *meta_find(const struct fp_meta *meta, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(meta[i].key, key) == 0)
            return meta[i].value;
    return NULL;
}

/* ---- bytes -------------------------------------------------------------------------------------------- */

uint64_t get_varint_slow(struct cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte;
        if (cursor->at == cursor->end)
            break;
        byte = *cursor->at++;
        if (shift == 63 && byte > 1)
            break; /* bits beyond the 64th */
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    cursor->bad = true;
    cursor->at = cursor->end;
    return 0;
}

bool bytes_reserve(struct bytes *bytes, size_t capacity)
{
    uint8_t *at;
    if (capacity <= bytes->capacity)
        return true;
    at = realloc(bytes->at, capacity);
    if (at == NULL)
        return false;
    bytes->at = at;
    bytes->capacity = capacity;
    return true;
}

void bytes_release(struct bytes *bytes)
{
    free(bytes->at);
    *bytes = (struct bytes){0};
}
