/* entry_figures.c - what follows from other figures of a workload. */
#include "results/measure/figures/entry_figures.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/figures/held.h"
#include "results/measure/figures/metric.h"
#include "results/measure/figures/pareto.h"
#include "results/measure/result/result.h"
#include "results/measure/run/trial.h"
#include "results/measure/statistics/statistics.h"

/* ---- drift ----------------------------------------------------------------------------------- */

#define DRIFT_SIGMAS 3.0

/* Slopes between pairs of rounds: their median is Sen's estimate, the balance of their signs Mann's statistic. Few hundred thousand for
 * 1000 rounds. */
struct res_drift res_drift_of(const double *paces, size_t count)
{
    struct res_drift drift = {.share = NAN};
    size_t pairs = 0;
    double signs = 0;
    if (count < 4)
        return drift;
    double *slopes = res_calloc(count * (count - 1) / 2, sizeof *slopes);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = i + 1; k < count; k++) {
            signs += (paces[k] > paces[i]) - (paces[k] < paces[i]);
            slopes[pairs++] = (paces[k] - paces[i]) / (double)(k - i);
        }
    }
    const double n = (double)count;
    drift.share = res_median(slopes, pairs) * (n - 1);
    drift.significant = fabs(signs) > DRIFT_SIGMAS * sqrt(n * (n - 1) * (2 * n + 5) / 18);
    free(slopes);
    return drift;
}

/* Whole-run times of an entry; NULL when it failed or has not run every round. */
static double *times_of(const struct res_trial *trial, const struct res_entry *entry)
{
    if (entry->failed != NULL || entry->run_count != trial->rounds || entry->run_count == 0)
        return NULL;
    double *times = res_calloc(entry->run_count, sizeof *times);
    bool usable = true;
    for (size_t i = 0; i < entry->run_count; i++) {
        times[i] = entry->runs[i].ns_per_op;
        usable = usable && isfinite(times[i]) && times[i] > 0;
    }
    if (usable)
        return times;
    free(times);
    return NULL;
}

static struct res_drift drift_of(const struct res_trial *trial, double *const *times)
{
    double *paces = res_calloc(trial->rounds, sizeof *paces);
    double *shares = res_calloc(trial->entry_count, sizeof *shares);
    size_t entries = 0;
    for (size_t round = 0; round < trial->rounds; round++) {
        entries = 0;
        for (size_t i = 0; i < trial->entry_count; i++)
            if (times[i] != NULL)
                shares[entries++] = times[i][round] / res_median(times[i], trial->rounds) - 1;
        paces[round] = entries > 0 ? res_median(shares, entries) : 0;
    }
    const struct res_drift drift = entries > 0 ? res_drift_of(paces, trial->rounds)
                                               : (struct res_drift){.share = NAN};
    free(paces);
    free(shares);
    return drift;
}

void res_drift_fill(const struct res_trial *trial, struct res_result_workload *ret_workload)
{
    double **times = res_calloc(trial->entry_count, sizeof *times);
    for (size_t i = 0; i < trial->entry_count; i++)
        times[i] = times_of(trial, &trial->entries[i]);
    const struct res_drift drift = drift_of(trial, times);
    ret_workload->drift_share = drift.share;
    ret_workload->drift_significant = drift.significant;
    for (size_t i = 0; i < trial->entry_count; i++)
        free(times[i]);
    free(times);
}

/* ---- a memory limit -------------------------------------------------------------------------- */

const char *res_limit_by(const struct res_options *options)
{
    if (options->limit_bytes == 0)
        return NULL;
    return options->group_place == NULL         ? "RLIMIT_DATA"
           : options->group_place->version == 1 ? "cgroup v1"
                                                : "cgroup v2";
}

static void add_runs(struct res_limited *limited, const struct res_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *limit = json_object_get(runs[i].json, "limit");
        const uint64_t times = (uint64_t)json_integer_value(json_object_get(limit, "at_limit_count"));
        const uint64_t peak = (uint64_t)json_integer_value(json_object_get(limit, "peak_bytes"));
        limited->runs += json_is_object(limit);
        limited->runs_at_limit += times > 0;
        if (times > limited->at_limit_count_max)
            limited->at_limit_count_max = times;
        if (peak > limited->peak_bytes_max)
            limited->peak_bytes_max = peak;
    }
}

struct res_limited *res_limit_entry(const struct res_options *options, const struct res_entry *entry)
{
    if (options->limit_bytes == 0 || options->group_place == NULL || entry->is_floor)
        return NULL;
    struct res_limited *limited = res_calloc(1, sizeof *limited);
    add_runs(limited, entry->runs, entry->run_count);
    add_runs(limited, entry->memory_runs, entry->memory_count);
    return limited;
}

/* ---- latency of one entry --------------------------------------------------------------------- */

/* Passes as the rows read them: a pass has the same keys as the figures. */
struct passes {
    struct res_latency_figures *items;
    size_t count;
};

static struct passes passes_of(const json_t *array)
{
    struct passes passes = {.items = res_calloc(json_array_size(array) + 1, sizeof *passes.items)};
    size_t index;
    json_t *pass;
    json_array_foreach(array, index, pass)
    {
        char *problem = NULL;
        if (res_described_read(&RES_LATENCY, pass, &passes.items[passes.count], &problem))
            passes.count++;
        free(problem);
    }
    return passes;
}

static void passes_release(struct passes *passes)
{
    for (size_t i = 0; i < passes->count; i++)
        res_described_release(&RES_LATENCY, &passes->items[i]);
    free(passes->items);
}

/* ---- groups of calls ------------------------------------------------------------------------- */

enum list { OF_ALL, BY_CALL, BY_SIZE, BY_BOTH };

struct calls {
    struct res_call_figures **items;
    size_t *count;
};

static struct calls calls_of(struct res_latency_figures *figures, enum list list)
{
    return list == BY_CALL   ? (struct calls){&figures->by_call, &figures->by_call_count}
           : list == BY_SIZE ? (struct calls){&figures->by_size, &figures->by_size_count}
                             : (struct calls){&figures->by_both, &figures->by_both_count};
}

static bool is_same_group(const struct res_call_figures *one, const struct res_call_figures *other)
{
    const bool same_call = one->call == NULL || other->call == NULL ? one->call == other->call
                                                                    : strcmp(one->call, other->call) == 0;
    return same_call && (one->size_max_bytes == other->size_max_bytes ||
                         (isnan(one->size_max_bytes) && isnan(other->size_max_bytes)));
}

/* The group of a pass that is like one of another; NULL: the pass lacks it. */
static const struct res_call_figures *find(struct res_latency_figures *pass, enum list list,
                                           const struct res_call_figures *like)
{
    if (list == OF_ALL)
        return &pass->all;
    const struct calls calls = calls_of(pass, list);
    const struct res_call_figures *items = *calls.items;
    for (size_t i = 0; i < *calls.count; i++)
        if (is_same_group(&items[i], like))
            return &items[i];
    return NULL;
}

enum of_passes { MEDIAN, LEAST, LARGEST };

/* Over the passes that have the figure at this offset. */
static double over(const struct passes *passes, enum list list, const struct res_call_figures *like,
                   size_t offset, enum of_passes what)
{
    double *values = res_calloc(passes->count + 1, sizeof *values);
    size_t count = 0;
    for (size_t i = 0; i < passes->count; i++) {
        const struct res_call_figures *group = find(&passes->items[i], list, like);
        const double value = group != NULL ? *(const double *)(const void *)((const char *)group + offset)
                                           : NAN;
        if (isfinite(value))
            values[count++] = value;
    }
    double found = count > 0 ? what == MEDIAN ? res_median(values, count) : values[0] : NAN;
    for (size_t i = 1; i < count && what != MEDIAN; i++)
        found = what == LARGEST ? fmax(found, values[i]) : fmin(found, values[i]);
    free(values);
    return found;
}

/* What is left above the floor's; all of it where the floor has none. */
static double net(double value, double floor)
{
    return isfinite(floor) ? fmax(value - floor, 0) : value;
}

#define AT(member) offsetof(struct res_call_figures, member)

static void fill(const struct passes *passes, const struct passes *floors, enum list list,
                 const struct res_call_figures *like, struct res_call_figures *ret_figures)
{
    static const size_t MEDIANS[] = {AT(count),  AT(mean_ns), AT(p50_ns),
                                     AT(p90_ns), AT(p99_ns),  AT(p99_9_ns)};
    for (size_t i = 0; i < sizeof MEDIANS / sizeof MEDIANS[0]; i++)
        *(double *)(void *)((char *)ret_figures + MEDIANS[i]) = over(passes, list, like, MEDIANS[i], MEDIAN);
    ret_figures->max_ns = over(passes, list, like, AT(max_ns), LARGEST);
    ret_figures->typical_ns = net(ret_figures->mean_ns, over(floors, list, like, AT(mean_ns), MEDIAN));
    ret_figures->quiet_ns = net(over(passes, list, like, AT(mean_ns), LEAST),
                                over(floors, list, like, AT(mean_ns), LEAST));
}

/* The groups of the first pass: the ops of all passes are the same. */
static void fill_list(const struct passes *passes, const struct passes *floors, enum list list,
                      struct res_latency_figures *ret_figures)
{
    const struct calls first = calls_of(&passes->items[0], list), made = calls_of(ret_figures, list);
    *made.items = res_calloc(*first.count + 1, sizeof **made.items);
    *made.count = *first.count;
    for (size_t i = 0; i < *first.count; i++) {
        const struct res_call_figures *like = &(*first.items)[i];
        (*made.items)[i] = (struct res_call_figures){
            .call = res_strdup(like->call),
            .size_max_bytes = like->size_max_bytes,
        };
        fill(passes, floors, list, like, &(*made.items)[i]);
    }
}

struct res_latency_figures *res_latency_of(const json_t *array, const char *failed, const json_t *floor)
{
    if (array == NULL)
        return NULL;
    struct res_latency_figures *figures = res_calloc(1, sizeof *figures);
    struct passes passes = passes_of(array), floors = passes_of(floor);
    json_t *runs = failed == NULL ? json_pack("{s:O}", "runs", array) : json_object();
    char *problem = NULL;
    if (!res_described_read(&RES_LATENCY, runs, figures, &problem))
        res_described_init(&RES_LATENCY, figures);
    json_decref(runs);
    free(problem);
    if (failed != NULL) {
        figures->unavailable = res_text_plain(failed);
    } else {
        figures->passes = passes.count;
        figures->floor_subtracted = floors.count > 0;
        fill(&passes, &floors, OF_ALL, NULL, &figures->all);
        for (enum list list = BY_CALL; list <= BY_BOTH && passes.count > 0; list++)
            fill_list(&passes, &floors, list, figures);
    }
    passes_release(&passes);
    passes_release(&floors);
    return figures;
}

/* ---- faults, blow-up ------------------------------------------------------------------------- */

/* What ran before it failed is compared with nothing: a failed one has no other figure either. */
static double faults_of(const struct res_result_entry *entry)
{
    double *samples = res_calloc(entry->run_count + 1, sizeof *samples);
    size_t count = 0;
    for (size_t i = 0; entry->failed == NULL && i < entry->run_count; i++) {
        if (isfinite(entry->runs[i].faults_minor))
            samples[count++] = entry->runs[i].faults_minor;
    }
    const double median = count > 0 ? res_median(samples, count) : NAN;
    free(samples);
    return median;
}

/* Of the processor time of all timed runs together: a short run has few ticks of it. */
static double kernel_share_of(const struct res_result_entry *entry)
{
    double user = 0, kernel = 0;
    for (size_t i = 0; entry->failed == NULL && i < entry->run_count; i++) {
        user += entry->runs[i].user_ns;
        kernel += entry->runs[i].system_ns;
    }
    return user + kernel > 0 ? kernel / (user + kernel) : NAN;
}

static void complete_entry(const struct res_result_workload *workload, struct res_result_entry *entry)
{
    const double live = (double)workload->live_peak_bytes;
    if (isnan(entry->faults_minor))
        entry->faults_minor = faults_of(entry);
    if (isnan(entry->blow_up) && live > 0)
        entry->blow_up = entry->figures.peak_bytes / live;
    if (isnan(entry->kernel_share))
        entry->kernel_share = kernel_share_of(entry);
}

void res_entry_figures_fill(struct res_result_workload *workload)
{
    res_held_fill(workload);
    for (size_t i = 0; i < workload->candidate_count; i++)
        complete_entry(workload, &workload->candidates[i]);
    complete_entry(workload, &workload->control);
    res_beaten_by_fill(workload);
}

void res_entry_figures_complete(struct res_result *result)
{
    for (size_t i = 0; i < result->workload_count; i++)
        res_entry_figures_fill(&result->workloads[i]);
}

/* ---- latency --------------------------------------------------------------------------------- */

static struct res_percentile judged(const struct res_result_workload *workload,
                                    const struct res_result_entry *entry, enum res_metric metric)
{
    const bool is_control = entry == &workload->control;
    struct res_series own = res_series_of(workload, entry, metric);
    struct res_series base = res_series_of(workload, &workload->candidates[0], metric);
    struct res_series noise = res_series_of(workload, &workload->control, metric);
    const struct res_estimate ratio = res_logarithm_estimate(res_series_logarithm(&own, &base));
    const struct res_estimate aa = res_logarithm_estimate(res_series_logarithm(&noise, &base));
    const struct res_comparison comparison = {
        .ratio = ratio.value,
        .interval = ratio.interval,
        .rounds = own.count < base.count ? own.count : base.count,
        .rounds_needed = RES_ROUNDS_OF_PASSES,
        .has_control = !is_control && isfinite(aa.value),
        .control = aa.interval,
    };
    const bool has_noise = is_control || (isfinite(aa.value) && noise.count >= RES_ROUNDS_OF_PASSES);
    res_series_release(&own);
    res_series_release(&base);
    res_series_release(&noise);
    return (struct res_percentile){.ratio = ratio.value,
                                   .low = ratio.interval.low,
                                   .high = ratio.interval.high,
                                   .verdict = (int)(has_noise ? res_judge(&comparison) : RES_UNDECIDED)};
}

static void judge(const struct res_result_workload *workload, struct res_result_entry *entry)
{
    struct res_latency_figures *latency = entry->latency;
    if (latency == NULL || latency->unavailable != NULL)
        return;
    latency->p99 = judged(workload, entry, RES_METRIC_P99);
    latency->p99_9 = judged(workload, entry, RES_METRIC_P99_9);
}

void res_latency_judge(struct res_result_workload *workload)
{
    for (size_t i = 1; i < workload->candidate_count; i++)
        judge(workload, &workload->candidates[i]);
    judge(workload, &workload->control);
}
