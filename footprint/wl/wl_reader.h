/* wl_reader.h - a workload being read: what its frame says, and the arena that everything lives in.
 *
 * Private to footprint/. wl_open.c maps the file, walks its frame, reads the summary and lays out the memory;
 * wl_reader.c hands out windows.
 *
 * No malloc in either of them or below: replay links the allocator under test, and nothing of ours may come from it. All memory
 * is one anonymous mapping, touched at open. */
#ifndef MALLAB_FOOTPRINT_WL_WL_READER_H
#define MALLAB_FOOTPRINT_WL_WL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "footprint/wl/window.h"
#include "footprint/wl/wl_decode.h"

/* A decoded window's room. There are two, so that a window outlives the next one's decoding. */
struct window_room {
    struct wl_op *ops;
    struct wl_run *runs;
    struct wl_wait *waits;
    uint64_t *times_ns;
    struct wl_noted *noted;
    uint32_t *sites; /* NULL: nobody asked for them, or there are none */
};

struct wl_reader {
    size_t arena_bytes; /* of the mapping that begins with this struct */
    const uint8_t *file;
    size_t file_bytes;
    size_t first_window; /* offset of the first block */
    size_t at;           /* offset of the next block */
    size_t window_at;    /* of the block read last */
    size_t windows_end;  /* where the blocks of shares begin, or what follows those */
    size_t sites_at;     /* where the blocks of stacks begin, or the summary */
    size_t summary_at;
    struct wl_touched *touched;
    size_t touched_count, next_touched;
    uint64_t next_window, next_op;
    uint64_t digest;
    struct wl_summary summary;
    struct wl_thread *threads;
    struct fp_meta meta[META_COUNT_MAX];
    size_t meta_count, meta_first;
    char *meta_text;
    ZSTD_DCtx *context;
    uint8_t *scratch;
    size_t scratch_bytes;
    struct wl_decoder decoder;
    struct window_room rooms[2];
    struct fp_error error;
};

static inline enum fp_status wl_fail(struct fp_error *error, enum fp_status status, uint64_t offset,
                                     const char *what)
{
    *error = fp_error_make(status, 0, offset, what);
    return status;
}

/* wl_scan_block - read the block header at an offset and check that the block ends at or before `end`. */
enum fp_status wl_scan_block(const uint8_t *file, size_t offset, size_t end, struct block_header *ret_header,
                             struct fp_error *error);

/* wl_arena_unpack - the columns of the block at an offset, in the scratch area: they last until the next call. */
enum fp_status wl_arena_unpack(struct wl_reader *reader, size_t offset, const struct block_header *header,
                               unsigned column_count, struct column *ret_columns);

#endif
