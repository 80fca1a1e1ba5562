/* latency_pass.c - stand-ins that time, and the sorting of what they timed. */
#include "replay/exec/latency_pass.h"

#include <string.h>

#include "replay/base/op.h"
#include "replay/base/own_process.h"

/* ---- the stand-ins -------------------------------------------------------------------------- */

/* Their signatures are the allocator's, so what they need stands here: one pass a process. */
static struct rep_calls real;
static struct rep_clock timer;
static _Thread_local uint64_t *entry; /* where the next call's ticks go */

/* The second fence keeps the call from beginning before the clock is read. */
static inline uint64_t begin(void)
{
    const uint64_t ticks = rep_ticks(&timer);
#if defined(__x86_64__)
    _mm_lfence();
#endif
    return ticks;
}

static inline void end(uint64_t start)
{
    const uint64_t now = rep_ticks(&timer);
    *entry++ = now > start ? now - start : 0; /* counters of two processors may differ by a few ticks */
}

#define RETURNING(type, call, member, parameters, arguments)                                                 \
    static type timed_##call parameters                                                                      \
    {                                                                                                        \
        const uint64_t start = begin();                                                                      \
        type result = real.member arguments;                                                                 \
        end(start);                                                                                          \
        return result;                                                                                       \
    }
#define ALLOCATION(call, member, parameters, arguments, name, substitute)                                    \
    RETURNING(void *, call, member, parameters, arguments)
#define POSIX(call, member, parameters, arguments, name, substitute)                                         \
    RETURNING(int, call, member, parameters, arguments)
#define RELEASE(call, member, parameters, arguments, name, substitute)                                       \
    static void timed_##call parameters                                                                      \
    {                                                                                                        \
        const uint64_t start = begin();                                                                      \
        real.member arguments;                                                                               \
        end(start);                                                                                          \
    }
#define MEMBER(call, member, parameters, arguments, name, substitute) .member = timed_##call,

REP_ALLOCATIONS(ALLOCATION)
REP_POSIX_MEMALIGN(POSIX)
REP_RELEASES(RELEASE)

static const struct rep_calls STAND_INS = {REP_ALLOCATIONS(MEMBER) REP_POSIX_MEMALIGN(MEMBER)
                                               REP_RELEASES(MEMBER)};

void rep_latency_enter(struct rep_latency *latency, uint32_t index)
{
    entry = &latency->ticks[index];
}

/* ---- before the first op -------------------------------------------------------------------- */

uint32_t rep_size_class(uint64_t bytes)
{
    if (bytes <= 8)
        return bytes > 0;
    const uint32_t size_class = 64u - (uint32_t)__builtin_clzll(bytes - 1) - 2u;
    return size_class < REP_CLASSES ? size_class : REP_CLASSES - 1;
}

uint64_t rep_size_class_max(uint32_t size_class)
{
    return size_class == 0 ? 0 : UINT64_C(4) << size_class;
}

static bool map_histograms(struct rep_latency *latency, const struct wl_summary *summary)
{
    latency->all = rep_storage_map(1, sizeof *latency->all);
    for (unsigned call = 1; call < FP_CALL_COUNT; call++) {
        if (summary->ops_by_call[call] == 0)
            continue;
        latency->by_call[call] = rep_storage_map(REP_CLASSES, sizeof *latency->by_call[call]);
        if (latency->by_call[call] == NULL)
            return false;
    }
    return latency->all != NULL;
}

bool rep_latency_init(struct rep_latency *latency, const struct wl_summary *summary, uint64_t untimed,
                      struct rep_calls *calls)
{
    const uint64_t ops = summary->ops > untimed ? summary->ops - untimed : 0;
    *latency = (struct rep_latency){
        .steps = REP_STEPS_MAX,
        .by_time = summary->duration_ns > 0,
        .first = summary->duration_ns > 0 ? 0 : untimed,
        .span = summary->duration_ns > 0 ? summary->duration_ns : ops,
    };
    if (latency->span < REP_STEPS_MAX)
        latency->steps = latency->span > 0 ? (uint32_t)latency->span : 1;
    latency->map = rep_storage_map(latency->steps, sizeof *latency->map);
    latency->ticks = rep_storage_map(summary->window_ops_max, sizeof *latency->ticks);
    latency->class_of = rep_storage_map((size_t)summary->id_max + 1, sizeof *latency->class_of);
    latency->next = rep_storage_map((size_t)summary->thread_count + 1, sizeof *latency->next);
    if (latency->map == NULL || latency->ticks == NULL || latency->class_of == NULL ||
        latency->next == NULL || !map_histograms(latency, summary))
        return false;
    real = *calls;
    *calls = STAND_INS;
    return true;
}

/* This does what the stand-ins do, and calls nothing. */
static uint64_t empty_call(const struct rep_clock *clock)
{
    uint64_t span = 0;
    entry = &span;
    end(begin());
    entry = NULL;
    return span;
}

void rep_latency_calibrate(struct rep_latency *latency, const struct rep_clock *clock)
{
    timer = *clock;
    latency->cost_ticks = rep_ticks_median(clock, empty_call);
}

/* ---- at rest -------------------------------------------------------------------------------- */

/* Nanoseconds or ops, whichever the steps are of. */
static uint32_t step_of(const struct rep_latency *latency, const struct wl_window *window, uint32_t op)
{
    const uint32_t sample = op / WL_TIME_STRIDE;
    uint64_t at = latency->ops + op;
    if (latency->by_time)
        at = sample < window->time_count ? window->times_ns[sample] : window->facts.start_ns;
    at = at > latency->first ? at - latency->first : 0;
    if (at >= latency->span)
        return latency->steps - 1;
    return (uint32_t)((unsigned __int128)at * latency->steps / latency->span);
}

/* One op in the recorded order, so that the class of an object is that of its last size. */
static void sort_op(struct rep_latency *latency, const struct wl_window *window, uint32_t number,
                    uint32_t index, bool timed)
{
    const struct wl_op *op = &window->ops[number];
    uint8_t *size_class = &latency->class_of[op->id];
    if (fp_call_kind_of(op->call) != FP_KIND_RELEASE)
        *size_class = (uint8_t)rep_size_class(rep_op_bytes(op));
    if (!timed)
        return;
    const uint64_t ticks = latency->ticks[index];
    const uint64_t net = ticks > latency->cost_ticks ? ticks - latency->cost_ticks : 0;
    rep_histogram_add(latency->all, net);
    rep_histogram_add(&latency->by_call[op->call][op->id == 0 ? 0 : *size_class], net);
    latency->map[step_of(latency, window, number)][rep_histogram_bucket(net) >> REP_MAP_SHIFT]++;
}

void rep_latency_window(struct rep_latency *latency, const struct rep_plan *plan,
                        const struct wl_window *window, bool timed)
{
    uint32_t number = 0;
    for (uint32_t part = 0; part < plan->part_count; part++)
        latency->next[plan->parts[part].thread] = plan->parts[part].op_first;
    for (uint32_t i = 0; i < window->run_count; i++) {
        uint32_t *next = &latency->next[window->runs[i].thread];
        for (uint32_t left = window->runs[i].op_count; left > 0; left--, number++)
            sort_op(latency, window, number, plan->serial ? number : (*next)++, timed);
    }
    latency->ops += window->op_count;
}

/* ---- histograms ----------------------------------------------------------------------------- */

#define PER_OCTAVE (1u << REP_HISTOGRAM_BITS)

uint64_t rep_histogram_low(uint32_t bucket)
{
    if (bucket < 2 * PER_OCTAVE)
        return bucket;
    const uint32_t shift = bucket / PER_OCTAVE - 1;
    return (uint64_t)(bucket % PER_OCTAVE + PER_OCTAVE) << shift;
}

void rep_histogram_merge(struct rep_histogram *histogram, const struct rep_histogram *other)
{
    histogram->count += other->count;
    histogram->sum += other->sum;
    if (other->max > histogram->max)
        histogram->max = other->max;
    for (uint32_t i = 0; i < REP_HISTOGRAM_BUCKETS; i++)
        histogram->buckets[i] += other->buckets[i];
}

double rep_histogram_percentile(const struct rep_histogram *histogram, double share)
{
    const double exact = share * (double)histogram->count;
    uint64_t rank = (uint64_t)exact, seen = 0;
    if ((double)rank < exact || rank == 0)
        rank++;
    for (uint32_t i = 0; i < REP_HISTOGRAM_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen < rank)
            continue;
        const uint64_t low = rep_histogram_low(i);
        const uint64_t last = rep_histogram_low(i + 1) - 1;
        const double middle = ((double)low + (double)last) / 2;
        /* Only the greatest of the values in the last bucket is known. */
        const double max = (double)histogram->max;
        return i == REP_HISTOGRAM_BUCKETS - 1 || middle > max ? max : middle;
    }
    return 0;
}

double rep_histogram_mean(const struct rep_histogram *histogram)
{
    return histogram->count > 0 ? (double)histogram->sum / (double)histogram->count : 0;
}
