/* figures.c - net times, paired ratios, medians of resident memory. */
#include "results/figures.h"

#include <math.h>
#include <stdlib.h>

#include "results/support.h"

typedef double sample_fn(const struct res_run *run);

static double time_of(const struct res_run *run)
{
    return run->ns_per_op;
}

static double peak_of(const struct res_run *run)
{
    return run->resident_peak_bytes;
}

static double mean_of(const struct res_run *run)
{
    return run->resident_mean_bytes;
}

static double end_of(const struct res_run *run)
{
    return run->resident_end_bytes;
}

static double idle_of(const struct res_run *run)
{
    return run->resident_idle_bytes;
}

static bool has_figures(const struct res_entry *entry)
{
    return entry != NULL && entry->failed == NULL && entry->run_count > 0;
}

/* The entry's samples, each less `less`. To be freed. */
static double *samples_of(const struct res_entry *entry, sample_fn *sample, double less)
{
    double *samples = res_calloc(entry->run_count, sizeof *samples);
    for (size_t i = 0; i < entry->run_count; i++)
        samples[i] = sample(&entry->runs[i]) - less;
    return samples;
}

static double median_of(const struct res_entry *entry, sample_fn *sample, double less)
{
    if (!has_figures(entry))
        return NAN;
    for (size_t i = 0; i < entry->run_count; i++) {
        if (!isfinite(sample(&entry->runs[i])))
            return NAN;
    }
    double *samples = samples_of(entry, sample, less);
    const double median = res_median(samples, entry->run_count);
    free(samples);
    return median;
}

static double deviation_of(const struct res_entry *entry, sample_fn *sample)
{
    if (!has_figures(entry))
        return NAN;
    double *samples = samples_of(entry, sample, 0);
    const double deviation = res_median_deviation(samples, entry->run_count);
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

/* Paired ratios to the baseline, bootstrapped. ratio is NAN where one side has no samples or is not positive. */
static struct res_difference difference_of(const struct res_entry *entry, const struct res_entry *baseline,
                                           sample_fn *sample, double less, uint64_t seed)
{
    struct res_difference difference = {.ratio = NAN, .interval = {NAN, NAN}, .verdict = RES_UNDECIDED};
    if (!has_figures(entry) || !has_figures(baseline))
        return difference;
    const size_t count = entry->run_count < baseline->run_count ? entry->run_count : baseline->run_count;
    double *ratios = res_calloc(count, sizeof *ratios);
    bool usable = true;
    for (size_t i = 0; i < count; i++) {
        const double base = sample(&baseline->runs[i]) - less;
        const double other = sample(&entry->runs[i]) - less;
        usable = usable && base > 0 && other >= 0 && isfinite(base) && isfinite(other);
        ratios[i] = other / base;
    }
    if (usable) {
        difference.ratio = res_median(ratios, count);
        difference.interval = res_bootstrap_median(ratios, count, seed);
    }
    free(ratios);
    return difference;
}

static void judge(struct res_difference *difference, const struct res_difference *control, double quiet_ratio,
                  size_t rounds)
{
    const struct res_comparison comparison = {
        .ratio = difference->ratio,
        .interval = difference->interval,
        .quiet_ratio = quiet_ratio,
        .rounds = rounds,
        .has_control = control != NULL && isfinite(control->ratio),
        .control = control != NULL ? control->interval : (struct res_interval){0, 0},
    };
    difference->verdict = res_judge(&comparison);
}

/* One figure against the baseline, and its verdict against the control. */
static struct res_difference compare(const struct res_trial *trial, const struct res_entry *entry,
                                     sample_fn *sample, double less, double quiet_ratio, uint64_t seed)
{
    const struct res_entry *baseline = &trial->entries[0];
    const struct res_entry *control = res_trial_control(trial);
    struct res_difference noise = difference_of(control, baseline, sample, less, seed);
    struct res_difference difference = difference_of(entry, baseline, sample, less, seed);
    judge(&difference, entry == control ? NULL : &noise, quiet_ratio, entry->run_count);
    return difference;
}

struct res_figures res_figures_of(const struct res_trial *trial, const struct res_entry *entry, uint64_t seed)
{
    const struct res_entry *baseline = &trial->entries[0];
    const struct res_entry *floor = res_trial_floor(trial);
    const double floor_ns = has_figures(floor) ? median_of(floor, time_of, 0) : 0;
    const double less = entry == floor ? 0 : floor_ns;
    struct res_figures figures = {
        .quiet_ns_per_op = net_quiet_per_op(trial, entry),
        .typical_ns_per_op = median_of(entry, time_of, less),
        .typical_deviation = deviation_of(entry, time_of),
        .peak_bytes = median_of(entry, peak_of, 0),
        .peak_deviation = deviation_of(entry, peak_of),
        .mean_bytes = median_of(entry, mean_of, 0),
        .end_bytes = median_of(entry, end_of, 0),
        .idle_bytes = median_of(entry, idle_of, 0),
    };
    figures.quiet_ratio = figures.quiet_ns_per_op / net_quiet_per_op(trial, baseline);
    if (entry != floor) {
        figures.time = compare(trial, entry, time_of, less, figures.quiet_ratio, seed);
        /* Resident memory has no quiet figure to agree with. */
        figures.peak = compare(trial, entry, peak_of, 0, NAN, seed);
        figures.end = compare(trial, entry, end_of, 0, NAN, seed);
    } else {
        const struct res_difference none = {.ratio = NAN, .interval = {NAN, NAN}, .verdict = RES_UNDECIDED};
        figures.time = figures.peak = figures.end = none;
    }
    return figures;
}
