/* blockio.h - the block, of which both formats are made: a checked header and compressed columns.
 *
 * Private to footprint/. docs/format.md, "Blocks", is the specification. Nothing here keeps state
 * between blocks. */
#ifndef MALLAB_FOOTPRINT_BASE_BLOCKIO_H
#define MALLAB_FOOTPRINT_BASE_BLOCKIO_H

#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "footprint/base/bytes.h"
#include "footprint/base/call.h"
#include "footprint/base/status.h"

#define FILE_HEADER_BYTES  64u
#define BLOCK_HEADER_BYTES 64u
#define BLOCK_MAGIC        0x4b4c424du /* "MBLK" */
#define BLOCK_COLUMNS_MAX  16u
#define BLOCK_PAYLOAD_MAX  (16u << 20)

/* Stored: append only. */
enum block_type {
    BLOCK_META = 1,
    BLOCK_MARKS = 2,
    BLOCK_TRAILER = 3,
    BLOCK_USAGE = 4, /* usage.h */
    BLOCK_SITES = 5, /* fp_sites.h; likewise the next */
    BLOCK_MODULES = 6,
    BLOCK_WINDOW = 16,
    BLOCK_SUMMARY = 17,
    BLOCK_TOUCHED = 18, /* wl_tail.c */
};

struct block_header {
    uint8_t type;
    uint8_t flags;
    uint16_t column_count;
    uint32_t lane;
    uint32_t count;         /* marks or ops */
    uint32_t payload_bytes; /* column table and columns, after the header */
    uint64_t sequence;
    uint64_t base;         /* epoch, or number of the first op */
    uint64_t base_time;    /* in units of FP_TIME_UNIT_NS */
    uint64_t payload_hash; /* XXH64, seed 0 */
};

/* Flags of a trailer. Readers before they came into use ignore them. */
#define TRAILER_FLAG_RAN_ON    1u
#define TRAILER_FLAG_UNCOUNTED 2u

/* One column before compression or after decompression. */
struct column {
    const uint8_t *bytes;
    size_t size;
};

static inline struct cursor column_cursor(const struct column *column)
{
    return (struct cursor){column->bytes, column->bytes + column->size, false};
}

/* The fields that file headers of both kinds share; kind-specific words follow at byte 16. */
void file_header_seal(uint8_t header[FILE_HEADER_BYTES], const char magic[8], uint16_t version);

/* file_header_check - magic, version and checksum. Returns FP_OK, FP_ERR_FOREIGN, FP_ERR_VERSION or
 * FP_ERR_CHECKSUM, with ret_error's status, offset and what filled. kind: "footprint" or "workload". */
enum fp_status file_header_check(const uint8_t header[FILE_HEADER_BYTES], const char magic[8],
                                 uint16_t version_max, struct fp_error *ret_error);

/* block_pack - compress columns and prefix header and column table, into out (replaced).
 * header    column_count, payload_bytes and payload_hash are filled in here.
 * context   a compression context to reuse.
 * Returns   FP_OK, FP_ERR_MEMORY, FP_ERR_LIMIT. */
enum fp_status block_pack(struct block_header *header, const struct column *columns, unsigned column_count,
                          ZSTD_CCtx *context, int level, struct bytes *out);

/* block_header_parse - check and read the 64 bytes of a block header.
 * Returns FP_OK, FP_ERR_CORRUPT (no magic, limits) or FP_ERR_CHECKSUM; *ret_what says which. */
enum fp_status block_header_parse(const uint8_t bytes[BLOCK_HEADER_BYTES], struct block_header *ret_header,
                                  const char **ret_what);

/* block_payload_is_whole - whether header->payload_bytes at payload have the header's checksum. */
bool block_payload_is_whole(const struct block_header *header, const uint8_t *payload);

/* block_unpack - check a payload and decompress its columns one after the other into scratch.
 * payload       header->payload_bytes bytes.
 * scratch       scratch_bytes of room. Columns that do not fit are FP_ERR_CORRUPT: the room is the
 *               limit that the caller derives from header->count, never from the file's word.
 * ret_columns   column_count entries, pointing into scratch.
 * Returns       FP_OK, FP_ERR_CHECKSUM, FP_ERR_CORRUPT; *ret_offset is relative to the payload. */
enum fp_status block_unpack(const struct block_header *header, const uint8_t *payload, unsigned column_count,
                            ZSTD_DCtx *context, uint8_t *scratch, size_t scratch_bytes,
                            struct column *ret_columns, size_t *ret_offset, const char **ret_what);

/* Shapes as stored in a column: call, varint size, varint extra. put needs 21 bytes of room. */
uint8_t *put_shape(uint8_t *at, const struct fp_shape *shape);
#define SHAPE_BYTES_MAX 21u

#endif
