/* figures.c - net times, paired ratios, medians of resident memory. */
#include "results/measure/figures/figures.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "footprint/base/support.h"
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

/* The samples of a pass, each less `less`. To be freed. */
static double *samples_of(struct series series, size_t at, double less)
{
    double *samples = res_calloc(series.count, sizeof *samples);
    for (size_t i = 0; i < series.count; i++)
        samples[i] = figure_of(&series.runs[i], at) - less;
    return samples;
}

static double median_of(struct series series, size_t at, double less)
{
    if (series.count == 0)
        return NAN;
    for (size_t i = 0; i < series.count; i++) {
        if (!isfinite(figure_of(&series.runs[i], at)))
            return NAN;
    }
    double *samples = samples_of(series, at, less);
    const double median = res_median(samples, series.count);
    free(samples);
    return median;
}

static double deviation_of(struct series series, size_t at)
{
    if (series.count == 0)
        return NAN;
    double *samples = samples_of(series, at, 0);
    const double deviation = res_median_deviation(samples, series.count);
    free(samples);
    return deviation;
}

static double quiet_of(const struct res_entry *entry)
{
    const uint64_t **rounds = res_calloc(entry->run_count, sizeof *rounds);
    for (size_t i = 0; i < entry->run_count; i++)
        rounds[i] = entry->runs[i].batch_ns;
    const double quiet = res_quiet_ns(rounds, entry->run_count, entry->runs[0].batch_count);
    free(rounds);
    return quiet;
}

/* The batch times of an entry; rounds is the caller's to free. Empty when it has none, or not the same batches in all runs. */
static struct res_batches batches_of(const struct res_entry *entry, const uint64_t ***ret_rounds)
{
    struct res_batches batches = {0};
    *ret_rounds = NULL;
    if (!has_figures(entry) || entry->runs[0].batch_count == 0)
        return batches;
    const uint64_t **rounds = res_calloc(entry->run_count, sizeof *rounds);
    batches = (struct res_batches){
        .rounds = rounds, .round_count = entry->run_count, .batch_count = entry->runs[0].batch_count};
    for (size_t i = 0; i < entry->run_count; i++) {
        rounds[i] = entry->runs[i].batch_ns;
        if (entry->runs[i].batch_count != batches.batch_count)
            batches.round_count = 0;
    }
    *ret_rounds = rounds;
    return batches;
}

static double steady_of(const struct res_entry *entry)
{
    const uint64_t **rounds;
    const struct res_batches batches = batches_of(entry, &rounds);
    const double ns = batches.round_count > 0 ? res_steady_ns(&batches) : NAN;
    free(rounds);
    return ns;
}

/* What is subtracted of an entry's steady time: 0 for the floor itself, and where there is none. */
static double steady_floor_of(const struct res_trial *trial, const struct res_entry *entry)
{
    const struct res_entry *floor = res_trial_floor(trial);
    return has_figures(floor) && floor != entry ? steady_of(floor) : 0;
}

static double net_steady_per_op(const struct res_trial *trial, const struct res_entry *entry)
{
    const double ns = steady_of(entry) - steady_floor_of(trial, entry);
    if (!has_figures(entry) || entry->runs[0].ops == entry->runs[0].inherited_ops)
        return NAN;
    return fmax(ns, 0) / (double)(entry->runs[0].ops - entry->runs[0].inherited_ops);
}

/* Ratio of steady times to the yardstick's; NAN where it cannot be had. */
static struct res_estimate steady_ratio_of(const struct res_trial *trial, const struct res_entry *entry,
                                           const struct res_entry *yardstick, uint64_t seed)
{
    const uint64_t **others, **bases;
    const struct res_batches other = batches_of(entry, &others);
    const struct res_batches base = batches_of(yardstick, &bases);
    const struct res_estimate ratio = res_steady_paired(&other, &base, steady_floor_of(trial, entry), seed);
    free(others);
    free(bases);
    return ratio;
}

static double net_quiet_per_op(const struct res_trial *trial, const struct res_entry *entry)
{
    const struct res_entry *floor = res_trial_floor(trial);
    if (!has_figures(entry) || entry->runs[0].ops == entry->runs[0].inherited_ops)
        return NAN;
    double quiet = quiet_of(entry);
    if (has_figures(floor) && entry != floor) {
        if (floor->runs[0].batch_count != entry->runs[0].batch_count)
            return NAN;
        quiet -= quiet_of(floor);
    }
    return fmax(quiet, 0) / (double)(entry->runs[0].ops - entry->runs[0].inherited_ops);
}

/* How a figure is compared. */
struct method {
    size_t at;
    double less; /* taken off each sample */
    bool memory; /* of the memory pass, where there is one */
    bool steady; /* of steady times instead of samples, where batches were timed */
    uint64_t seed;
};

static struct series series_of(const struct res_trial *trial, const struct res_entry *entry,
                               const struct method *method)
{
    return method->memory ? memory_of(trial, entry) : times_of(entry);
}

/* Paired ratios to the yardstick and their interval. ratio is NAN where one side has no samples or is not positive. */
static struct res_difference difference_to(const struct res_trial *trial, const struct res_entry *entry,
                                           const struct res_entry *yardstick, const struct method *method)
{
    const struct series own = series_of(trial, entry, method);
    const struct series base = series_of(trial, yardstick, method);
    struct res_difference difference = {.ratio = NAN, .interval = {NAN, NAN}, .verdict = RES_UNDECIDED};
    const size_t count = own.count < base.count ? own.count : base.count;
    if (count == 0)
        return difference;
    if (method->steady) {
        const struct res_estimate steady = steady_ratio_of(trial, entry, yardstick, method->seed);
        if (isfinite(steady.value)) {
            difference.ratio = steady.value;
            difference.interval = steady.interval;
            difference.p_value = steady.p_value;
            return difference;
        }
    }
    double *others = samples_of(own, method->at, method->less);
    double *bases = samples_of(base, method->at, method->less);
    double *ratios = res_calloc(count, sizeof *ratios);
    bool usable = true, positive = true;
    for (size_t i = 0; i < count; i++) {
        usable = usable && bases[i] > 0 && others[i] >= 0 && isfinite(bases[i]) && isfinite(others[i]);
        positive = positive && others[i] > 0;
        ratios[i] = others[i] / bases[i];
    }
    if (usable) {
        difference.ratio = res_median(ratios, count);
        if (!method->memory || !res_trial_has_memory(trial))
            difference.interval = res_bootstrap_median(ratios, count, method->seed);
        else if (positive)
            difference.interval = res_student_ratio(ratios, count);
    }
    free(ratios);
    free(others);
    free(bases);
    return difference;
}

/* For people: what a search looks at in between (tune) may be rough. */
static void forget_rough_interval(struct res_difference *difference, size_t rounds)
{
    if (rounds < RES_ROUNDS_FOR_INTERVAL)
        difference->interval = (struct res_interval){NAN, NAN};
}

static struct res_difference difference_of(const struct res_trial *trial, const struct res_entry *entry,
                                           const struct method *method)
{
    return difference_to(trial, entry, &trial->entries[0], method);
}

static double floor_median(const struct res_trial *trial)
{
    const struct res_entry *floor = res_trial_floor(trial);
    return has_figures(floor) ? median_of(times_of(floor), AT(ns_per_op), 0) : 0;
}

struct res_difference res_figures_between(const struct res_trial *trial, const struct res_entry *other,
                                          const struct res_entry *base, uint64_t seed)
{
    const struct method by_steady = {
        .at = AT(ns_per_op), .less = floor_median(trial), .steady = true, .seed = seed};
    return difference_to(trial, other, base, &by_steady);
}

struct res_difference res_figures_time(const struct res_trial *trial, const struct res_entry *entry,
                                       uint64_t seed)
{
    return res_figures_between(trial, entry, &trial->entries[0], seed);
}

/* One figure against the baseline, and its verdict against the control. */
static struct res_difference compare(const struct res_trial *trial, const struct res_entry *entry,
                                     const struct method *method, double quiet_ratio,
                                     struct res_interval typical)
{
    const struct res_entry *control = res_trial_control(trial);
    const struct res_difference noise = difference_of(trial, control, method);
    struct res_difference difference = difference_of(trial, entry, method);
    const struct res_comparison comparison = {
        .ratio = difference.ratio,
        .interval = difference.interval,
        .p_value = difference.p_value,
        .quiet_ratio = quiet_ratio,
        .typical = typical,
        .rounds = series_of(trial, entry, method).count,
        .rounds_needed = method->memory && res_trial_has_memory(trial) ? RES_ROUNDS_FOR_MEMORY : 0,
        .worth = method->memory ? RES_MEMORY_WORTH : 0,
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

struct res_figures res_figures_of(const struct res_trial *trial, const struct res_entry *entry, uint64_t seed)
{
    const struct res_entry *floor = res_trial_floor(trial);
    const double less = entry == floor ? 0 : floor_median(trial);
    const struct series times = times_of(entry), memory = memory_of(trial, entry);
    const struct method by_steady = {.at = AT(ns_per_op), .less = less, .steady = true, .seed = seed};
    const struct method by_typical = {.at = AT(ns_per_op), .less = less, .seed = seed};
    const struct method by_peak = {.at = AT(resident_peak_bytes), .memory = true, .seed = seed};
    const struct method by_end = {.at = AT(resident_end_bytes), .memory = true, .seed = seed};
    struct res_figures figures = {
        .quiet_ns_per_op = net_quiet_per_op(trial, entry),
        .steady_ns_per_op = net_steady_per_op(trial, entry),
        .typical_ns_per_op = median_of(times, AT(ns_per_op), less),
        .typical_deviation = deviation_of(times, AT(ns_per_op)),
        .start_bytes = median_of(memory, AT(resident_start_bytes), 0),
        .own_start_bytes = NAN, /* of all entries together: held.h */
        .peak_bytes = median_of(memory, AT(resident_peak_bytes), 0),
        .peak_deviation = deviation_of(memory, AT(resident_peak_bytes)),
        .mean_bytes = median_of(memory, AT(resident_mean_bytes), 0),
        .end_bytes = median_of(memory, AT(resident_end_bytes), 0),
        .idle_bytes = median_of(memory, AT(resident_idle_bytes), 0),
        .given_back_share = median_of(memory, AT(given_back_share), 0),
        .not_predicted_why = doubt_of(trial, entry),
    };
    figures.quiet_ratio = figures.quiet_ns_per_op / net_quiet_per_op(trial, &trial->entries[0]);
    const struct res_interval no_interval = {NAN, NAN};
    if (entry != floor) {
        figures.typical = difference_of(trial, entry, &by_typical);
        /* Steady time is the quiet figure made firm: its record need not agree too. */
        figures.time = compare(trial, entry, &by_steady,
                               isfinite(figures.steady_ns_per_op) ? NAN : figures.quiet_ratio,
                               figures.typical.interval);
        /* Resident memory has no other figures to agree with. */
        figures.peak = compare(trial, entry, &by_peak, NAN, no_interval);
        figures.end = compare(trial, entry, &by_end, NAN, no_interval);
        doubt(&figures, trial);
        forget_rough_interval(&figures.time, times.count);
        forget_rough_interval(&figures.typical, times.count);
        if (!res_trial_has_memory(trial)) {
            forget_rough_interval(&figures.peak, times.count);
            forget_rough_interval(&figures.end, times.count);
        }
    } else {
        const struct res_difference none = {.ratio = NAN, .interval = no_interval, .verdict = RES_UNDECIDED};
        figures.time = figures.typical = figures.peak = figures.end = none;
    }
    return figures;
}

double res_figures_slower_ns(const struct res_figures *figures, const struct res_figures *baseline)
{
    const double steady_ns = figures->steady_ns_per_op - baseline->steady_ns_per_op;
    return isfinite(steady_ns) ? steady_ns : figures->typical_ns_per_op - baseline->typical_ns_per_op;
}

void res_figures_family(struct res_figures *figures, size_t count)
{
    double *p_values = res_calloc(count + 1, sizeof *p_values);
    for (size_t i = 0; i < count; i++)
        p_values[i] = figures[i].time.p_value > 0 ? figures[i].time.p_value : NAN;
    res_holm(p_values, count);
    for (size_t i = 0; i < count; i++)
        figures[i].time.p_corrected = isnan(p_values[i]) ? 0 : p_values[i];
    free(p_values);
}
