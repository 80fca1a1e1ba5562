/* entry_figures.c - what follows from other figures of a workload. */
#include "results/measure/figures/entry_figures.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "results/measure/figures/metric.h"
#include "results/measure/figures/pareto.h"

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
                                    const struct res_result_entry *entry, enum res_metric metric,
                                    uint64_t seed)
{
    const bool is_control = entry == &workload->control;
    struct res_series own = res_series_of(workload, entry, metric);
    struct res_series base = res_series_of(workload, &workload->candidates[0], metric);
    struct res_series noise = res_series_of(workload, &workload->control, metric);
    const struct res_estimate ratio = res_estimate_paired(&own, &base, seed);
    const struct res_estimate aa = res_estimate_paired(&noise, &base, seed);
    const struct res_comparison comparison = {
        .ratio = ratio.value,
        .interval = ratio.interval,
        .quiet_ratio = NAN,
        .typical = {NAN, NAN},
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

static void judge(const struct res_result_workload *workload, struct res_result_entry *entry, uint64_t seed)
{
    struct res_latency_figures *latency = entry->latency;
    if (latency == NULL || latency->unavailable != NULL)
        return;
    latency->p99 = judged(workload, entry, RES_METRIC_P99, seed);
    latency->p99_9 = judged(workload, entry, RES_METRIC_P99_9, seed);
}

void res_latency_judge(struct res_result_workload *workload, uint64_t seed)
{
    for (size_t i = 1; i < workload->candidate_count; i++)
        judge(workload, &workload->candidates[i], seed);
    judge(workload, &workload->control, seed);
}
