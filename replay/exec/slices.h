/* slices.h - a workload's windows, cut where recorded time passes, for runs that sample memory over it.
 *
 *   point   a moment of recorded time at which memory is to be looked at: REP_SLICE_POINTS of them, at
 *           even distances from the first measured op to the end of the recording
 *   slice   the ops of a window between two points: a window that ends at a point, or with its own
 *   rest    a window without ops: it ends at a point up to which the program made no call
 *
 * Windows are cut by ops. A short program, or one that waits, has few, and the memory seen at their ends
 * says little of the time between. A cut is legal anywhere, as the ops of a window stand in one legal
 * order, and all threads rest between slices. It costs as much as a window, so it is for runs that follow
 * a clock, whose time nobody looks at. Windows of inherited objects are not cut: no time passes in them. */
#ifndef MALLAB_REPLAY_EXEC_SLICES_H
#define MALLAB_REPLAY_EXEC_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/base/objects.h"

#define REP_SLICE_POINTS 200u

/* Arrays of a slice; two take turns, as wl_reader_next's do. */
struct rep_slice_room {
    struct wl_run *runs;
    struct wl_wait *waits;
    uint64_t *times_ns;
    struct wl_noted *noted;
};

struct rep_slices {
    const struct wl_summary *summary;
    uint64_t untimed_ops;
    struct rep_live live; /* as of what was handed out */
    struct rep_slice_room rooms[2];
    unsigned room;
    bool begun;                   /* the points are known */
    uint64_t origin_ns, step_ns;  /* of the points */
    uint64_t now_ns;              /* the end of what was handed out */
    uint64_t ops;                 /* of it */
    struct wl_window whole;       /* being cut */
    bool cutting;                 /* whole has ops left */
    uint32_t next;                /* the first of them */
    uint32_t next_run, run_taken; /* where it stands in whole.runs, and how much of that run is gone */
    uint32_t next_wait, next_touched, next_noted;
};

/* rep_slices_init - map what cutting takes, before the first op: 8 bytes an object id and some 70 an op of
 * the largest window. untimed_ops: of inherited objects. False when it does not fit. */
bool rep_slices_init(struct rep_slices *slices, const struct wl_summary *summary, uint64_t untimed_ops);

/* rep_slices_count_max - how many windows, slices and rests there are at most. */
uint64_t rep_slices_count_max(const struct wl_summary *summary);

/* rep_slices_next - the next slice or rest.
 * next        hands out the workload's windows, as wl_reader_next does.
 * ret_window  valid until the call after the next. facts are exact but for live_bytes_peak: it stays with
 *             the last slice of its window, for whoever looks at whole windows, and is 0 in others.
 * Returns     FP_OK, FP_END, or what next returned. */
enum fp_status rep_slices_next(struct rep_slices *slices,
                               enum fp_status (*next)(void *context, struct wl_window *ret_window),
                               void *context, struct wl_window *ret_window);

#endif
