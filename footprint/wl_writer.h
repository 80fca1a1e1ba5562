/* wl_writer.h - a workload being written: the ops of one window, and what goes on from window to window.
 *
 * Private to footprint/. wl_writer.c fills a window, wl_encode.c turns it into a block. */
#ifndef MALLAB_FOOTPRINT_WL_WRITER_H
#define MALLAB_FOOTPRINT_WL_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <zstd.h>

#include "footprint/ids.h"
#include "footprint/window.h"
#include "footprint/wl_file.h"

struct thread_state {
    struct wl_thread facts;
    uint32_t local_window; /* window number + 1 for which local is valid */
    uint32_t local;        /* number within the window */
};

struct wl_writer {
    struct wl_file file;
    ZSTD_CCtx *context;
    int level;
    uint32_t window_ops;

    /* the window being gathered */
    uint32_t *op_threads;
    struct wl_wait *waits;
    uint64_t *times;
    uint32_t op_count, wait_count, local_count;
    uint64_t start_ns, live_peak;
    uint32_t shapes_before; /* size of the dictionary when the window began */
    bool shapes_reset;
    uint32_t known[WINDOW_WAITERS_MAX]
                  [WINDOW_WAITERS_MAX]; /* [waiter][other]: ops of other, as index + 1, known done */

    /* the workload so far */
    struct wl_summary summary;
    struct thread_state *threads;
    uint32_t threads_capacity;
    struct ids ids;
    uint32_t *last_op; /* by id: number of the newest op on it, low 32 bits */
    uint32_t *history; /* ids of the newest WINDOW_HISTORY ops */
    uint64_t now_ns;
    uint64_t live_bytes, live_objects;
    struct fp_shape *keys;   /* dictionary: shapes as the caller gave them; .call may carry SHAPE_FRESH */
    struct fp_shape *shapes; /* the same, normalised */
    uint32_t shape_count;
    uint32_t *shape_table; /* hash -> index + 1 */
    uint32_t last_literal;
    struct bytes columns[WINDOW_COLUMNS];
    struct bytes packed;
    struct bytes notes;            /* meta text that belongs to the summary */
    size_t meta_count, meta_bytes; /* of both texts together */
    enum fp_status broken;         /* a window that could not be written: nothing may follow it */
};

/* wl_window_flush - encode and append the window, and make room for the next. After a failure the window is still
 * there and may be in the file in part: the workload ends here, and every further call returns the same. */
enum fp_status wl_window_flush(struct wl_writer *writer);

#endif
