/* wl_reader.h - a workload being read: what its frame says, and the arena that everything lives in.
 *
 * Private to footprint/. In the order of an open: wl_scan.c maps the file and walks its frame, wl_summary.c reads the
 * summary, wl_open.c lays out the memory and puts these together; wl_reader.c hands out windows.
 *
 * No malloc in any of them or below: replay links the allocator under test, and nothing of ours may come from it. All memory
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
};

struct wl_reader {
    size_t arena_bytes; /* of the mapping that begins with this struct */
    const uint8_t *file;
    size_t file_bytes;
    size_t first_window; /* offset of the first block */
    size_t at;           /* offset of the next block */
    size_t window_at;    /* of the block read last */
    size_t windows_end;  /* where the blocks of shares begin, or the summary */
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

/* Facts that an open learns before it can lay out the arena. */
struct wl_opening {
    const uint8_t *file;
    size_t file_bytes;
    size_t first_window, windows_end, summary_at;
    size_t touched_count;
    uint32_t touched_block_max;
    struct block_header meta_header, summary_header;
    size_t meta_at;
    uint64_t ops, windows, digest;
    uint32_t version, window_ops_max;
    struct fp_error error;
};

static inline enum fp_status wl_fail(struct fp_error *error, enum fp_status status, uint64_t offset,
                                     const char *what)
{
    *error = fp_error_make(status, 0, offset, what);
    return status;
}

/* wl_scan - map a file and walk its frame: header, footer, every block's header. Nothing is decoded.
 * opening  zeroed; its mapping is the caller's from here on, also after a failure (file NULL: none), when its error is set. */
enum fp_status wl_scan(struct wl_opening *opening, const char *path);

/* wl_scan_block - read the block header at an offset and check that the block ends at or before `end`. */
enum fp_status wl_scan_block(const uint8_t *file, size_t offset, size_t end, struct block_header *ret_header,
                             struct fp_error *error);

/* wl_summary_numbers - the summary's numbers; the limits that memory depends on are held against what the scan counted.
 * wl_summary_threads - its threads; NULL only checks them. Both return whether everything is as docs/format.md has it. */
bool wl_summary_numbers(const struct wl_opening *opening, const struct column *column,
                        struct wl_summary *ret);
bool wl_summary_threads(struct wl_summary *summary, struct wl_thread *threads, const struct column *column);

/* wl_arena_unpack - the columns of the block at an offset, in the scratch area: they last until the next call. */
enum fp_status wl_arena_unpack(struct wl_reader *reader, size_t offset, const struct block_header *header,
                               unsigned column_count, struct column *ret_columns);

#endif
