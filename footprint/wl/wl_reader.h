/* wl_reader.h - a workload being read: what its frame says, and the arena that everything lives in.
 *
 * Private to footprint/. wl_open.c maps the file, walks its frame, reads the summary and lays out the memory;
 * wl_reader.c hands out windows.
 *
 * No malloc in either of them or below: replay links the allocator under test, and nothing of ours may come from it. All memory
 * is two anonymous mappings, touched at open: what ids need is known when the summary was read, with the memory of the first. */
#ifndef MALLAB_FOOTPRINT_WL_WL_READER_H
#define MALLAB_FOOTPRINT_WL_WL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "footprint/wl/window.h"

/* ---- wl_decode.c: the columns of a window become ops again, and nothing is trusted ---------------------- */

struct wl_waits_thread {
    uint32_t window; /* ids.window when local was given */
    uint32_t local;
};

/* State that goes on from window to window, and room for one decoded window. */
struct wl_decoder {
    struct ids ids;
    uint32_t *history; /* WINDOW_HISTORY entries */
    uint32_t last_literal;
    uint32_t thread_count;
    uint32_t shape_count;
    uint64_t live_objects;            /* counted */
    uint32_t refused;                 /* index of an op that cannot be, plus 1; 0: none known */
    uint64_t end_units;               /* time at which the last window ended */
    uint64_t *thread_ops;             /* counted, by thread */
    uint32_t site_end;                /* sites are below; 0: the workload has none */
    const struct wl_summary *summary; /* what no window may contradict; set before the first */
    /* of the check of waits; by id, by op, by thread, by pairs of a window's first threads */
    uint32_t *touched; /* waits_tag << 16 | index of the newest op on it */
    uint32_t waits_tag;
    uint16_t *locals; /* the op's thread, as its number within the window */
    struct wl_waits_thread *waits_threads;
    uint32_t known[WINDOW_WAITERS_MAX][WINDOW_WAITERS_MAX]; /* [waiter][other]: ops of other, as index + 1 */
    struct wl_op *shapes;                                   /* WINDOW_SHAPES_MAX, id 0 */
    struct fp_shape *site_shapes; /* for the model of sites; NULL: nobody asked, or there are none */
    struct site_model *site_model;
    uint8_t *kinds;    /* enum fp_call_kind of each shape; a realloc of NULL counts as allocating */
    struct wl_op *ops; /* the summary's window_ops_max, as the arrays below */
    struct wl_run *runs;
    struct wl_wait *waits;
    uint64_t *times_ns;
    struct wl_noted *noted;
    uint32_t *sites; /* NULL: likewise */
};

/* wl_decode_reset - forget all windows: as before the first. Storage is kept. */
void wl_decode_reset(struct wl_decoder *decoder);

/* wl_decode_window - decode one window.
 * header, columns  as unpacked; header->count is at most the room of the arrays.
 * Returns   FP_OK; FP_ERR_CORRUPT with *ret_what: the decoder is unusable until wl_decode_reset. */
enum fp_status wl_decode_window(struct wl_decoder *decoder, const struct block_header *header,
                                const struct column columns[WINDOW_COLUMNS], struct wl_window *ret_window,
                                const char **ret_what);

/* ---- the reader -------------------------------------------------------------------------------------- */

/* A decoded window's room. There are two, so that a window outlives the next one's decoding. */
struct window_room {
    struct wl_op *ops;
    struct wl_run *runs;
    struct wl_wait *waits;
    uint64_t *times_ns;
    struct wl_noted *noted;
    uint32_t *sites; /* NULL: nobody asked for them, or there are none */
};

/* The mapped file, and where its parts begin. */
struct wl_frame {
    const uint8_t *file;
    size_t file_bytes;
    size_t first_window; /* offset of the first block */
    size_t windows_end;  /* where the blocks of shares begin, or what follows those */
    size_t sites_at;     /* where the blocks of stacks begin, or the summary */
    size_t summary_at;
    uint64_t digest;
};

struct wl_reader {
    size_t arena_bytes; /* of the mapping that begins with this struct */
    size_t id_bytes;    /* of the one that begins with decoder.ids.next */
    struct wl_frame frame;
    struct wl_reader_info info;
    size_t at; /* offset of the next block */
    struct wl_touched *touched;
    size_t next_touched;
    uint64_t next_window, next_op;
    struct wl_thread *threads;
    struct fp_meta meta[META_COUNT_MAX];
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
