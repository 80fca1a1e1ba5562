/* figures.c - net times, paired ratios, medians of resident memory. */
#include "results/measure/figures/figures.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "results/measure/figures/metric.h"
#include "results/measure/figures/run_batches.h"
#include "results/measure/statistics/significance.h"
#include "results/measure/statistics/steady.h"

/* Where in a run a figure lies. */
#define AT(member) offsetof(struct res_run, member)

static double figure_of(const struct res_run *run, size_t at)
{
    return *(const double *)(const void *)((const char *)run + at);
}

static bool has_figures(const struct res_entry *entry)
{
    return entry != NULL && entry->failed == NULL && entry->run_count > 0;
}

/* The runs of one pass of an entry; none when it failed. */
struct series {
    const struct res_run *runs;
    size_t count;
};

static struct series times_of(const struct res_entry *entry)
{
    return has_figures(entry) ? (struct series){entry->runs, entry->run_count} : (struct series){NULL, 0};
}

static struct series memory_of(const struct res_trial *trial, const struct res_entry *entry)
{
    if (!res_trial_has_memory(trial))
        return times_of(entry);
    return has_figures(entry) ? (struct series){entry->memory_runs, entry->memory_count}
                              : (struct series){NULL, 0};
}

/* The samples of a pass. To be freed. */
static double *samples_of(struct series series, size_t at)
{
    double *samples = res_calloc(series.count, sizeof *samples);
    for (size_t i = 0; i < series.count; i++)
        samples[i] = figure_of(&series.runs[i], at);
    return samples;
}

static double median_of(struct series series, size_t at)
{
    if (series.count == 0)
        return NAN;
    for (size_t i = 0; i < series.count; i++) {
        if (!isfinite(figure_of(&series.runs[i], at)))
            return NAN;
    }
    double *samples = samples_of(series, at);
    const double median = res_median(samples, series.count);
    free(samples);
    return median;
}

static double deviation_of(struct series series, size_t at)
{
    if (series.count == 0)
        return NAN;
    double *samples = samples_of(series, at);
    const double deviation = res_median_deviation(samples, series.count);
    free(samples);
    return deviation;
}

static struct res_run_batches timed_of(const struct res_entry *entry)
{
    return has_figures(entry) ? res_run_batches_of(entry->runs, entry->run_count)
                              : (struct res_run_batches){0};
}

/* Net steady time per op. */
static double steady_of(const struct res_trial *trial, const struct res_entry *entry)
{
    const struct res_entry *floor = res_trial_floor(trial);
    if (!has_figures(entry) || entry->runs[0].ops == entry->runs[0].inherited_ops)
        return NAN;
    struct res_run_batches own = timed_of(entry), harness = timed_of(entry != floor ? floor : NULL);
    const double ns = res_steady_net_ns(&own.batches, &harness.batches);
    res_run_batches_release(&own);
    res_run_batches_release(&harness);
    return ns / (double)(entry->runs[0].ops - entry->runs[0].inherited_ops);
}

static const struct res_difference NO_DIFFERENCE = {
    .ratio = NAN, .interval = {NAN, NAN}, .verdict = RES_UNDECIDED};

/* The baseline's own figure, that of the control being it once more. */
static double baseline_ns(const struct res_trial *trial, const struct res_entry *entry)
{
    const double base = steady_of(trial, &trial->entries[0]);
    const double control = steady_of(trial, res_trial_control(trial));
    return entry->is_control || isnan(control) ? base : sqrt(base * control);
}

/* The control is the baseline once more, unless it is compared itself. */
struct res_difference res_figures_between(const struct res_trial *trial, const struct res_entry *other,
                                          const struct res_entry *base)
{
    const bool controlled = base == &trial->entries[0] && other != base && !other->is_control;
    struct res_run_batches sides[] = {timed_of(other), timed_of(base),
                                      timed_of(controlled ? res_trial_control(trial) : NULL),
                                      timed_of(res_trial_floor(trial))};
    const struct res_steady_sides of = {&sides[0].batches, &sides[1].batches, &sides[2].batches,
                                        &sides[3].batches};
    const struct res_estimate found = res_logarithm_estimate(res_steady_logarithm(&of));
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++)
        res_run_batches_release(&sides[i]);
    return (struct res_difference){
        .ratio = found.value, .interval = found.interval, .p_value = found.p_value};
}

/* Of memory to the baseline's, paired. ratio is NAN where one side has no samples or is not positive. */
static struct res_difference memory_difference(const struct res_trial *trial, const struct res_entry *entry,
                                               size_t at)
{
    const struct series own = memory_of(trial, entry), base = memory_of(trial, &trial->entries[0]);
    const size_t count = own.count < base.count ? own.count : base.count;
    double *ratios = res_calloc(count + 1, sizeof *ratios);
    for (size_t i = 0; i < count; i++)
        ratios[i] = res_ratio_of(figure_of(&own.runs[i], at), figure_of(&base.runs[i], at));
    const struct res_estimate found = res_logarithm_estimate(res_trimmed_logarithm(ratios, count));
    free(ratios);
    return (struct res_difference){.ratio = found.value, .interval = found.interval};
}

struct res_difference res_figures_time(const struct res_trial *trial, const struct res_entry *entry)
{
    return res_figures_between(trial, entry, &trial->entries[0]);
}

static struct res_difference judged_time(const struct res_trial *trial, const struct res_entry *entry)
{
    struct res_difference time = res_figures_time(trial, entry);
    const struct res_comparison comparison = {.ratio = time.ratio,
                                              .interval = time.interval,
                                              .rounds = times_of(entry).count,
                                              .least = RES_TIME_LEAST,
                                              .excluded = res_resolve(trial->resolve)};
    time.verdict = res_judge(&comparison);
    if (comparison.rounds <
        RES_ROUNDS_FOR_INTERVAL) /* for people: what a search looks at in between (tune) may be rough */
        time.interval = NO_DIFFERENCE.interval;
    return time;
}

static struct res_difference judged_memory(const struct res_trial *trial, const struct res_entry *entry,
                                           size_t at)
{
    const struct res_entry *control = res_trial_control(trial);
    const struct res_difference noise = memory_difference(trial, control, at);
    struct res_difference difference = memory_difference(trial, entry, at);
    const struct res_comparison comparison = {
        .ratio = difference.ratio,
        .interval = difference.interval,
        .rounds = memory_of(trial, entry).count,
        .rounds_needed = res_trial_has_memory(trial) ? RES_ROUNDS_FOR_MEMORY : 0,
        .worth = RES_MEMORY_WORTH,
        .has_control = entry != control && isfinite(noise.ratio),
        .control = noise.interval,
    };
    difference.verdict = res_judge(&comparison);
    return difference;
}

/* Why memory of an entry is not what the program would have had; NULL when it is, or when nothing was measured. */
static const char *doubt_of(const struct res_trial *trial, const struct res_entry *entry)
{
    const struct series series = memory_of(trial, entry);
    for (size_t i = 0; i < series.count; i++) {
        if (series.runs[i].not_predicted_why != NULL)
            return series.runs[i].not_predicted_why;
    }
    return NULL;
}

/* A prediction that was not made, of either side, is no ground for a verdict. Without a memory pass all stand on the same footing, and
 * the notes say what that is. */
static void doubt(struct res_figures *figures, const struct res_trial *trial)
{
    if (!res_trial_has_memory(trial))
        return;
    if (figures->not_predicted_why != NULL || doubt_of(trial, &trial->entries[0]) != NULL)
        figures->peak.verdict = figures->end.verdict = RES_UNDECIDED;
}

struct res_figures res_figures_of(const struct res_trial *trial, const struct res_entry *entry)
{
    const struct series memory = memory_of(trial, entry);
    struct res_figures figures = {
        .steady_ns_per_op = steady_of(trial, entry),
        .time = NO_DIFFERENCE,
        .peak = NO_DIFFERENCE,
        .end = NO_DIFFERENCE,
        .start_bytes = median_of(memory, AT(resident_start_bytes)),
        .start_file_bytes = median_of(memory, AT(resident_start_file_bytes)),
        .own_start_bytes = NAN, /* of all entries together: held.h */
        .peak_bytes = median_of(memory, AT(resident_peak_bytes)),
        .peak_deviation = deviation_of(memory, AT(resident_peak_bytes)),
        .mean_bytes = median_of(memory, AT(resident_mean_bytes)),
        .end_bytes = median_of(memory, AT(resident_end_bytes)),
        .idle_bytes = median_of(memory, AT(resident_idle_bytes)),
        .given_back_share = median_of(memory, AT(given_back_share)),
        .not_predicted_why = doubt_of(trial, entry),
    };
    if (entry == res_trial_floor(trial))
        return figures;
    figures.time = judged_time(trial, entry);
    figures.peak = judged_memory(trial, entry, AT(resident_peak_bytes));
    figures.end = judged_memory(trial, entry, AT(resident_end_bytes));
    doubt(&figures, trial);
    /* So that what is shown is what is judged. */
    if (isfinite(figures.time.ratio))
        figures.steady_ns_per_op = figures.time.ratio * baseline_ns(trial, entry);
    return figures;
}

double res_figures_slower_ns(const struct res_figures *figures, const struct res_figures *baseline)
{
    return figures->steady_ns_per_op - baseline->steady_ns_per_op;
}

/* A difference that the number of candidates makes likely is none. */
static void withdraw(struct res_difference *time, double p_corrected, double excluded)
{
    const bool is_shown = time->verdict == RES_LESS || time->verdict == RES_MORE;
    const bool is_narrow = time->interval.low >= 1 / (1 + excluded) && time->interval.high <= 1 + excluded;
    time->p_corrected = p_corrected;
    if (is_shown && p_corrected > RES_P_VALUE_MOST)
        time->verdict = is_narrow ? RES_SAME : RES_UNDECIDED;
}

void res_figures_family(const struct res_trial *trial, struct res_figures *figures)
{
    const size_t count = trial->candidate_count - 1;
    double *p_values = res_calloc(count + 1, sizeof *p_values);
    for (size_t i = 0; i < count; i++)
        p_values[i] = figures[i].time.p_value > 0 ? figures[i].time.p_value : NAN;
    res_holm(p_values, count);
    for (size_t i = 0; i < count; i++)
        withdraw(&figures[i].time, isnan(p_values[i]) ? 0 : p_values[i], res_resolve(trial->resolve));
    free(p_values);
}
