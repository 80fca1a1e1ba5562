/* wl_decode.h - turn the columns of a window back into ops, trusting nothing.
 *
 * Private to footprint/. No function here allocates: wl_open.c lays out all memory beforehand. */
#ifndef MALLAB_FOOTPRINT_WL_WL_DECODE_H
#define MALLAB_FOOTPRINT_WL_WL_DECODE_H

#include "footprint/wl/ids.h"
#include "footprint/wl/window.h"

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
    uint64_t *shape_hashes; /* for the model of sites; NULL: nobody asked for sites, or there are none */
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

#endif
