/* figures.c - measured, held, judged. */
#include "results/measure/figures/figures.h"

#include <stdlib.h>

/* The number of a workload's entries: candidates, control, floor. */
static size_t entry_count(const struct res_result_workload *workload)
{
    return workload->candidate_count + 1 + (workload->floor != NULL);
}

static const struct res_difference NO_DIFFERENCE = {
    .ratio = NAN, .interval = {NAN, NAN}, .verdict = RES_UNDECIDED};

/* ---- measured -------------------------------------------------------------------------------- */

/* The runs that memory is of. */
struct runs {
    const struct res_run *items;
    size_t count;
};

static struct runs memory_of(const struct res_result_workload *workload, const struct res_result_entry *entry)
{
    if (entry->failed != NULL || entry->run_count == 0)
        return (struct runs){NULL, 0};
    return workload->memory_rounds > 0 ? (struct runs){entry->memory_runs, entry->memory_count}
                                       : (struct runs){entry->runs, entry->run_count};
}

/* The figures that are medians, and their members in a run. */
static const struct {
    size_t figure, in_run;
} MEDIANS[] = {
#define MEDIAN(name, of)                                                                                     \
    {                                                                                                        \
        offsetof(struct res_figures, name), offsetof(struct res_run, of)                                     \
    }
    MEDIAN(start_bytes, resident_start_bytes),  MEDIAN(start_file_bytes, resident_start_file_bytes),
    MEDIAN(peak_bytes, resident_peak_bytes),    MEDIAN(mean_bytes, resident_mean_bytes),
    MEDIAN(end_bytes, resident_end_bytes),      MEDIAN(idle_bytes, resident_idle_bytes),
    MEDIAN(given_back_share, given_back_share),
};

/* samples: room for them. Returns false where one is not known. */
static bool take(struct runs runs, size_t at, double *samples)
{
    bool known = runs.count > 0;
    for (size_t i = 0; i < runs.count; i++) {
        samples[i] = *(const double *)(const void *)((const char *)&runs.items[i] + at);
        known = known && isfinite(samples[i]);
    }
    return known;
}

static void measure_memory(const struct res_result_workload *workload, struct res_result_entry *entry)
{
    const struct runs runs = memory_of(workload, entry);
    struct res_figures *figures = &entry->figures;
    RES_FREED double *samples = res_calloc(runs.count + 1, sizeof *samples);
    for (size_t i = 0; i < sizeof MEDIANS / sizeof MEDIANS[0]; i++)
        *(double *)(void *)((char *)figures + MEDIANS[i].figure) = take(runs, MEDIANS[i].in_run, samples)
                                                                       ? res_median(samples, runs.count)
                                                                       : NAN;
    entry->resident_clock = workload->memory_rounds > 0 ? RES_CLOCK_RECORDED : RES_CLOCK_REAL;
    entry->resident_rounds = workload->memory_rounds > 0 ? entry->memory_count : entry->run_count;
    figures->growth = res_growth_together(runs.items, runs.count, offsetof(struct res_run, growth));
    figures->live_growth = res_growth_together(runs.items, runs.count, offsetof(struct res_run, live_growth));
}

/* Sets the reason for which memory of an entry is not what the program would have had. */
static void measure_prediction(const struct res_result_workload *workload, struct res_result_entry *entry)
{
    const struct runs runs = memory_of(workload, entry);
    const char *why = NULL;
    for (size_t i = 0; i < runs.count && why == NULL; i++)
        why = runs.items[i].not_predicted_why;
    free(entry->not_predicted_why);
    entry->not_predicted_why = why != NULL ? res_text_plain(why) : NULL;
    entry->predicted = why == NULL;
}

/* Runs before a failure are compared with nothing: a failed entry has no other figure either. The kernel's share is of the processor time of
 * all timed runs together: a short run has few ticks of it. */
static void measure_runs(struct res_result_entry *entry)
{
    const size_t runs = entry->failed == NULL ? entry->run_count : 0;
    double *faults = res_calloc(runs + 1, sizeof *faults), user = 0, kernel = 0;
    size_t count = 0;
    for (size_t i = 0; i < runs; i++) {
        if (isfinite(entry->runs[i].faults_minor))
            faults[count++] = entry->runs[i].faults_minor;
        user += entry->runs[i].user_ns;
        kernel += entry->runs[i].system_ns;
    }
    entry->faults_minor = count > 0 ? res_median(faults, count) : NAN;
    entry->kernel_share = user + kernel > 0 ? kernel / (user + kernel) : NAN;
    free(faults);
}

/* ---- held ------------------------------------------------------------------------------------ */

static void hold(const struct res_result_workload *workload, double own, struct res_result_entry *entry)
{
    struct res_figures *figures = &entry->figures;
    double *const held[] = {&figures->peak_bytes, &figures->mean_bytes, &figures->end_bytes,
                            &figures->idle_bytes};
    figures->own_start_bytes = own;
    for (size_t i = 0; isfinite(own) && i < sizeof held / sizeof held[0]; i++)
        *held[i] += own;
    entry->blow_up = workload->live_peak_bytes > 0 ? figures->peak_bytes / (double)workload->live_peak_bytes
                                                   : NAN;
}

/* The control is the baseline, whatever pages were there in its starts. A library that the program is linked with stays loaded. */
static void hold_starts(struct res_result_workload *workload)
{
    const struct res_result_entry *linked = res_linked_entry(workload);
    double least = INFINITY;
    for (size_t i = 0; i < workload->candidate_count; i++)
        least = fmin(least, workload->candidates[i].figures.start_bytes); /* NAN counts for nothing */
    for (size_t i = 0; i < workload->candidate_count; i++) {
        struct res_result_entry *entry = &workload->candidates[i];
        const double stays = linked != NULL && linked != entry ? linked->figures.start_bytes - least : 0;
        hold(workload,
             isfinite(least) ? entry->figures.start_bytes - least + (isfinite(stays) ? stays : 0) : NAN,
             entry);
    }
    if (workload->candidate_count > 0)
        hold(workload, workload->candidates[0].figures.own_start_bytes, &workload->control);
}

/* ---- judged: time ---------------------------------------------------------------------------- */

static double resolved(const struct res_result_workload *workload)
{
    return res_resolve(workload->stopped_until_width);
}

/* Judges a ratio by its logarithm. comparison: all but the ratio and its interval. */
static struct res_difference judged(struct res_logarithm logarithm, struct res_comparison comparison)
{
    const struct res_estimate found = res_logarithm_estimate(logarithm);
    comparison.ratio = found.value;
    comparison.interval = found.interval;
    return (struct res_difference){.ratio = found.value,
                                   .interval = found.interval,
                                   .p_value = found.p_value,
                                   .verdict = res_judge(&comparison),
                                   .logarithm = logarithm};
}

static struct res_difference judged_time(const struct res_result_workload *workload,
                                         const struct res_series *own, const struct res_series *base)
{
    if (!res_series_has_time(own) || !res_series_has_time(base))
        return NO_DIFFERENCE;
    struct res_difference time = judged(res_series_logarithm(own, base),
                                        (struct res_comparison){.rounds = own->count,
                                                                .least = RES_TIME_LEAST,
                                                                .excluded = resolved(workload)});
    if (own->count < RES_ROUNDS_FOR_INTERVAL)
        time.interval = NO_DIFFERENCE.interval;
    return time;
}

/* The least difference that is no noise: a neighbour that takes a processor for a while makes less of whole runs, all of which lie on one side. */
#define FEW_LEAST 0.1

/* Judges fewer rounds than a verdict takes: whole runs are pairs, as those for memory are: a difference by a factor of which each run is on
 * one side of all of the baseline's is told. What is not so is left as it is. */
static void judge_few(struct res_result_workload *workload, const struct res_series *series, size_t at,
                      struct res_difference *time)
{
    const struct res_series *own = &series[at], *base = &series[0],
                            *control = &series[workload->candidate_count];
    const size_t rounds = own->count < base->count ? own->count : base->count;
    const struct res_result_entry *floor = workload->floor;
    const bool has_floor = floor != NULL && floor->failed == NULL, has_control = control->count >= rounds;
    double ratios[RES_ROUNDS_FOR_VERDICT], least[2] = {NAN, NAN},
                                           most[2] = {NAN, NAN}; /* its own, the baseline's */
    if (rounds >= RES_ROUNDS_FOR_VERDICT || (has_floor && floor->run_count < rounds))
        return;
    for (size_t i = 0; i < rounds; i++) {
        const double less = has_floor ? floor->runs[i].ns_per_op : 0;
        const double net[] = {own->values[i] - less, base->values[i] - less,
                              (has_control ? control : base)->values[i] - less};
        for (size_t side = 0; side < 3; side++) {
            least[side > 0] = fmin(least[side > 0], net[side]);
            most[side > 0] = fmax(most[side > 0], net[side]);
        }
        ratios[i] = net[0] / sqrt(net[1] * net[2]);
    }
    struct res_difference found = judged(res_trimmed_logarithm(ratios, rounds),
                                         (struct res_comparison){.rounds = rounds,
                                                                 .rounds_needed = RES_ROUNDS_FOR_MEMORY,
                                                                 .least = FEW_LEAST});
    found.logarithm = time->logarithm;
    if ((found.verdict == RES_LESS && most[0] < least[1]) ||
        (found.verdict == RES_MORE && least[0] > most[1]))
        *time = found;
}

static void judge_family(struct res_result_workload *workload)
{
    const size_t count = workload->candidate_count;
    RES_FREED double *p_values = res_calloc(count + 1, sizeof *p_values);
    for (size_t i = 1; i < count; i++) {
        const double p_value = workload->candidates[i].figures.time.p_value;
        p_values[i] = p_value > 0 ? p_value : NAN;
    }
    p_values[0] = NAN; /* the baseline against itself is no test */
    res_holm(p_values, count);
    for (size_t i = 1; i < count; i++) {
        struct res_difference *time = &workload->candidates[i].figures.time;
        time->p_corrected = isnan(p_values[i]) ? 0 : p_values[i];
        time->verdict = res_judge_many(time->verdict, time->interval, resolved(workload), time->p_corrected);
    }
}

/* The figures shown are the ones judged: of the baseline and its control together, which are the same, and of a candidate that times its ratio. */
static void judge_times(struct res_result_workload *workload)
{
    const size_t count = entry_count(workload);
    RES_FREED struct res_series *series = res_calloc(count, sizeof *series);
    struct res_steady **steady = res_calloc(count, sizeof *steady);
    for (size_t i = 0; i < count; i++) {
        series[i] = res_series_of(workload, res_result_entry_at(workload, i), RES_METRIC_TIME);
        series[i].time.batches.steady = steady[i] = res_steady_of(&series[i].time.batches);
    }
    for (size_t i = 0; i < count; i++) {
        series[i].floor.batches.steady = workload->floor != NULL ? steady[count - 1] : NULL;
        series[i].control.batches.steady = steady[workload->candidate_count];
    }
    const double base = res_series_steady_ns(&series[0]);
    const double control = res_series_steady_ns(&series[workload->candidate_count]);
    const double both = isnan(control) ? base : sqrt(base * control);
    for (size_t i = 0; i < count; i++) {
        struct res_result_entry *entry = res_result_entry_at(workload, i);
        struct res_figures *figures = &entry->figures;
        figures->time = entry != workload->floor ? judged_time(workload, &series[i], &series[0])
                                                 : NO_DIFFERENCE;
        if (i > 0 && i < workload->candidate_count)
            judge_few(workload, series, i, &figures->time);
        figures->steady_ns_per_op = !isfinite(figures->time.ratio) ? res_series_steady_ns(&series[i])
                                    : entry == &workload->control  ? base * figures->time.ratio
                                                                   : both * figures->time.ratio;
    }
    judge_family(workload);
    for (size_t i = 0; i < count; i++) {
        res_series_release(&series[i]);
        res_steady_free(steady[i]);
    }
    free(steady);
}

/* ---- judged: memory and single calls --------------------------------------------------------- */

/* A prediction that was not made, of either side, is no ground for a verdict. Without a memory pass all stand on the same footing, and
 * the notes say what that is. */
static bool is_doubted(const struct res_result_workload *workload, const struct res_result_entry *entry)
{
    return workload->memory_rounds > 0 && (!entry->predicted || !workload->candidates[0].predicted);
}

/* The difference of an entry that is judged; NULL: it has none. A baseline has none of single calls. */
static struct res_difference *place_of(struct res_result_entry *entry, enum res_metric metric,
                                       bool is_baseline)
{
    struct res_latency_figures *latency = entry->latency;
    return metric == RES_METRIC_RSS_PEAK                                    ? &entry->figures.peak
           : is_baseline || latency == NULL || latency->unavailable != NULL ? NULL
           : metric == RES_METRIC_P99                                       ? &latency->p99
                                                                            : &latency->p99_9;
}

/* The control's difference from the baseline is the noise, but for the control itself. That of single calls takes as many passes. */
static void judge_pairs(struct res_result_workload *workload, enum res_metric metric)
{
    const bool memory = metric == RES_METRIC_RSS_PEAK;
    struct res_series base = res_series_of(workload, &workload->candidates[0], metric);
    struct res_series control = res_series_of(workload, &workload->control, metric);
    for (size_t i = 0; i <= workload->candidate_count; i++) {
        struct res_result_entry *entry = res_result_entry_at(workload, i);
        struct res_difference *difference = place_of(entry, metric, i == 0);
        if (difference == NULL)
            continue;
        struct res_series own = res_series_of(workload, entry, metric);
        const bool is_control = entry == &workload->control;
        const struct res_logarithm noise = is_control ? RES_NO_LOGARITHM
                                                      : res_series_logarithm(&control, &base);
        *difference = judged(
            res_series_logarithm(&own, &base),
            (struct res_comparison){.rounds = own.count < base.count ? own.count : base.count,
                                    .rounds_needed = memory ? res_rounds_for_memory(workload)
                                                            : RES_ROUNDS_OF_PASSES,
                                    .worth = memory ? RES_MEMORY_WORTH : 0,
                                    .has_control = isfinite(noise.value),
                                    .control = res_logarithm_estimate(noise).interval});
        if (memory ? is_doubted(workload, entry) : !is_control && control.count < RES_ROUNDS_OF_PASSES)
            difference->verdict = RES_UNDECIDED;
        res_series_release(&own);
    }
    res_series_release(&base);
    res_series_release(&control);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool has_samples(struct res_result_workload *workload)
{
    size_t runs = 0;
    for (size_t i = 0; i < entry_count(workload); i++)
        runs += res_result_entry_at(workload, i)->run_count;
    return runs > 0 && workload->candidate_count > 0;
}

void res_workload_judge(struct res_result_workload *workload)
{
    if (!has_samples(workload))
        return;
    for (size_t i = 0; i <= workload->candidate_count; i++) {
        measure_memory(workload, res_result_entry_at(workload, i));
        measure_prediction(workload, res_result_entry_at(workload, i));
        measure_runs(res_result_entry_at(workload, i));
    }
    for (size_t i = 0; i < entry_count(workload); i++)
        res_latency_measure(res_result_entry_at(workload, i));
    hold_starts(workload);
    judge_times(workload);
    judge_pairs(workload, RES_METRIC_RSS_PEAK);
    judge_pairs(workload, RES_METRIC_P99);
    judge_pairs(workload, RES_METRIC_P99_9);
}

void res_result_judge(struct res_result *result)
{
    for (size_t i = 0; i < result->workload_count; i++)
        res_workload_judge(&result->workloads[i]);
    res_verdicts_fill(result);
}
