/* latency_pass.h - the latency pass: every call of the allocator timed by itself.
 *
 *   stand-in   a function in the place of the allocator's in struct rep_calls, which reads the clock, calls the
 *              real one, and reads the clock again. So the loop is the very one of the time pass, and what it does
 *              besides the call (dispatch, slots, touching new memory) lies between two timed calls, not in one.
 *              First-touch faults are thereby left out, though faults of the allocator's own writes are in
 *   cost       what two reads take with nothing between them; measured before the first op, subtracted of each call
 *   class      of a size: 0 bytes, up to 8, up to 16 ... each power of two up to 2^48. A release has the size that
 *              was requested for its object; one of NULL has 0
 *   step       an equal part of recorded time; an op's time is that of the 16th op before it at most
 *
 * A thread writes its calls' ticks into entries of its own, by the op's place in the plan: no lock, no shared
 * line but at the borders of parts. The opener of the next window sorts them into histograms at rest. */
#ifndef MALLAB_REPLAY_EXEC_LATENCY_PASS_H
#define MALLAB_REPLAY_EXEC_LATENCY_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "footprint/wl/workload.h"
#include "replay/clock/ticks.h"
#include "replay/exec/calls.h"
#include "replay/exec/window_plan.h"
#include "replay/meters/histogram.h"

#define REP_CLASSES   47u                       /* sizes end below 2^48: 0, 8, 16, ... 2^48 */
#define REP_STEPS_MAX 200u                      /* of the map of latency over time */
#define REP_MAP_SHIFT (REP_HISTOGRAM_BITS - 1u) /* rows of the map: two a power of two */
#define REP_MAP_ROWS  (REP_HISTOGRAM_BUCKETS >> REP_MAP_SHIFT)

struct rep_latency {
    struct rep_histogram *all;                    /* one */
    struct rep_histogram *by_call[FP_CALL_COUNT]; /* REP_CLASSES each; NULL: the workload has no such call */
    uint32_t (*map)[REP_MAP_ROWS];                /* steps rows of counts */
    uint32_t steps;
    bool by_time;         /* steps are of recorded time; else of ops, because the workload has no times */
    uint64_t first, span; /* of all steps together: nanoseconds or ops */
    uint64_t cost_ticks;

    /* Under way. */
    uint64_t *ticks;   /* by place in rep_plan.ops */
    uint8_t *class_of; /* by object id */
    uint32_t *next;    /* by part: scratch */
    uint64_t ops;      /* seen, timed or not */
};

/* rep_size_class - the class of a size in bytes. rep_size_class_max - the largest size of a class. */
uint32_t rep_size_class(uint64_t bytes);
uint64_t rep_size_class_max(uint32_t size_class);

/* rep_latency_init - map all that the pass needs and put the stand-ins into calls.
 * calls     resolved; its functions are the ones timed. One latency pass a process.
 * untimed   ops at the begin that are not to be counted (whole windows only, see run_threads.h).
 * Returns   false when it does not fit into memory. */
bool rep_latency_init(struct rep_latency *latency, const struct wl_summary *summary, uint64_t untimed,
                      struct rep_calls *calls);

/* rep_latency_calibrate - take the clock, which is initialised, and measure the cost. Before the first op. */
void rep_latency_calibrate(struct rep_latency *latency, const struct rep_clock *clock);

/* rep_latency_enter - this thread is about to execute ops of the plan from place `index` on, each by one call. */
void rep_latency_enter(struct rep_latency *latency, uint32_t index);

/* rep_latency_window - a window is over and all threads rest: sort its ticks. timed: they count. */
void rep_latency_window(struct rep_latency *latency, const struct rep_plan *plan,
                        const struct wl_window *window, bool timed);

#endif
