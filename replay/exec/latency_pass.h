/* latency_pass.h - the latency pass: every call of the allocator timed by itself.
 *
 *   stand-in   a function in the place of the allocator's in struct rep_calls: it reads the clock,
 *              calls the real one, and reads the clock again. So the loop is the very one of the time
 *              pass, and what it does besides (dispatch, slots, touching new memory) lies between two
 *              timed calls. First-touch faults of the program are thereby left out
 *   cost       what two reads take with nothing between them; subtracted of each call
 *   class      of a size: 0 bytes, up to 8, up to 16 ... each power of two up to 2^48. A release has
 *              the size that was requested for its object; one of NULL has 0
 *   step       an equal part of recorded time; an op's time is that of the 16th op before it at most
 *   bucket     of a histogram: values below 64 ticks have one each; above, each power of two is cut in
 *              64 of equal width. Its middle stands for its values, and is at most 0.8 % from any.
 *              (Source: G. Tene's HdrHistogram, with 6 bits of precision.) Values from 2^40 ticks on,
 *              some minutes, stand in the last bucket; count, sum and max stay exact
 *
 * A thread writes its calls' ticks into entries of its own, by the op's place in the plan: no lock, and
 * no shared line but at the borders of parts. The opener of the next window sorts them at rest. */
#ifndef MALLAB_REPLAY_EXEC_LATENCY_PASS_H
#define MALLAB_REPLAY_EXEC_LATENCY_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "footprint/wl/workload.h"
#include "replay/clock/real.h"
#include "replay/exec/calls.h"
#include "replay/exec/window_plan.h"

/* ---- histograms ------------------------------------------------------------------------- */

#define REP_HISTOGRAM_BITS    6u
#define REP_HISTOGRAM_VALUES  40u /* bits of the largest value told apart */
#define REP_HISTOGRAM_BUCKETS ((REP_HISTOGRAM_VALUES - REP_HISTOGRAM_BITS + 1u) << REP_HISTOGRAM_BITS)
#define REP_HISTOGRAM_REL_ERR (1.0 / (2u << REP_HISTOGRAM_BITS)) /* of a percentile, at most */

struct rep_histogram {
    uint64_t count, sum, max;
    uint64_t buckets[REP_HISTOGRAM_BUCKETS];
};

/* rep_histogram_bucket - the bucket of a value. */
static inline uint32_t rep_histogram_bucket(uint64_t value)
{
    if (value >> REP_HISTOGRAM_VALUES != 0)
        return REP_HISTOGRAM_BUCKETS - 1;
    if (value >> REP_HISTOGRAM_BITS == 0)
        return (uint32_t)value;
    const uint32_t shift = 63u - (uint32_t)__builtin_clzll(value) - REP_HISTOGRAM_BITS;
    return (shift << REP_HISTOGRAM_BITS) + (uint32_t)(value >> shift);
}

/* rep_histogram_low - the least value of a bucket; of the one behind the last, where that would begin. */
uint64_t rep_histogram_low(uint32_t bucket);

/* rep_histogram_add - count a value. One thread at a time. */
static inline void rep_histogram_add(struct rep_histogram *histogram, uint64_t value)
{
    histogram->count++;
    histogram->sum += value;
    if (value > histogram->max)
        histogram->max = value;
    histogram->buckets[rep_histogram_bucket(value)]++;
}

/* rep_histogram_merge - add all that another counted. */
void rep_histogram_merge(struct rep_histogram *histogram, const struct rep_histogram *other);

/* rep_histogram_percentile - the value that a share (0 .. 1) of all values does not exceed: the
 * middle of the bucket with the value of rank ceil(share * count), and never more than max; 0 of
 * an empty histogram. */
double rep_histogram_percentile(const struct rep_histogram *histogram, double share);

/* rep_histogram_mean - exact; 0 of an empty histogram. */
double rep_histogram_mean(const struct rep_histogram *histogram);

/* ---- the pass --------------------------------------------------------------------------- */

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

    /* Figures under way. */
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
 * untimed   ops at the begin that are not to be counted (whole windows only, see exec.h).
 * Returns   false when it does not fit into memory. */
bool rep_latency_init(struct rep_latency *latency, const struct wl_summary *summary, uint64_t untimed,
                      struct rep_calls *calls);

/* rep_latency_calibrate - take the clock, which is initialised, and measure the cost. Before the first op. */
void rep_latency_calibrate(struct rep_latency *latency, const struct rep_clock *clock);

/* rep_latency_enter - this thread is about to execute the ops of the plan from place `index` on. */
void rep_latency_enter(struct rep_latency *latency, uint32_t index);

/* rep_latency_window - a window is over and all threads rest: sort its ticks. timed: they count. */
void rep_latency_window(struct rep_latency *latency, const struct rep_plan *plan,
                        const struct wl_window *window, bool timed);

#endif
