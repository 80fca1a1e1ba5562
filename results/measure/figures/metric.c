/* metric.c - samples out of a result, and intervals of their ratios. Sources stand in the header. */
#include "results/measure/figures/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/base/random.h"
#include "results/measure/figures/held.h"
#include "results/measure/statistics/significance.h"

/* Runs that a metric is taken of, and where its sample is in each. */
enum source { OF_ROUNDS, OF_MEMORY, OF_LATENCY };

#define REMEDY_RUN      "'mallab ab' again: each run has it"
#define REMEDY_LATENCY  "'mallab ab --latency'"
#define REMEDY_IDLE     "'mallab ab' with a rest at the end of its memory passes ('mallab help ab')"
#define IN_RUN(member)  offsetof(struct res_run, member)
#define IN_PASS(member) offsetof(struct res_latency_pass, member)

static const struct {
    const char *name, *unit_name;
    enum res_unit unit;
    enum source source;
    size_t offset; /* of a double in struct res_run, or in struct res_latency_pass */
    const char *remedy;
} METRICS[RES_METRIC_COUNT] = {
    [RES_METRIC_TIME] = {"time", "ns/op", RES_UNIT_NS, OF_ROUNDS, IN_RUN(ns_per_op), REMEDY_RUN},
    [RES_METRIC_P99] = {"p99", "ns", RES_UNIT_NS, OF_LATENCY, IN_PASS(p99_ns), REMEDY_LATENCY},
    [RES_METRIC_P99_9] = {"p99.9", "ns", RES_UNIT_NS, OF_LATENCY, IN_PASS(p99_9_ns), REMEDY_LATENCY},
    [RES_METRIC_RSS_PEAK] = {"rss-peak", "bytes", RES_UNIT_BYTES, OF_MEMORY, IN_RUN(resident_peak_bytes),
                             REMEDY_RUN},
    [RES_METRIC_RSS_MEAN] = {"rss-mean", "bytes", RES_UNIT_BYTES, OF_MEMORY, IN_RUN(resident_mean_bytes),
                             REMEDY_RUN},
    [RES_METRIC_RSS_END] = {"rss-end", "bytes", RES_UNIT_BYTES, OF_MEMORY, IN_RUN(resident_end_bytes),
                            REMEDY_RUN},
    [RES_METRIC_RSS_IDLE] = {"rss-idle", "bytes", RES_UNIT_BYTES, OF_MEMORY, IN_RUN(resident_idle_bytes),
                             REMEDY_IDLE},
    [RES_METRIC_FAULTS] = {"faults", "faults", RES_UNIT_COUNT, OF_ROUNDS, IN_RUN(faults_minor), REMEDY_RUN},
};

const char *res_metric_name(enum res_metric metric)
{
    return METRICS[metric].name;
}

enum res_unit res_metric_unit(enum res_metric metric)
{
    return METRICS[metric].unit;
}

const char *res_metric_unit_name(enum res_metric metric)
{
    return METRICS[metric].unit_name;
}

const char *res_metric_remedy(enum res_metric metric)
{
    return METRICS[metric].remedy;
}

bool res_metric_from(const char *name, size_t length, enum res_metric *ret_metric)
{
    for (int metric = 0; metric < RES_METRIC_COUNT; metric++) {
        if (strlen(METRICS[metric].name) == length && strncmp(METRICS[metric].name, name, length) == 0) {
            *ret_metric = (enum res_metric)metric;
            return true;
        }
    }
    return false;
}

char *res_metric_names(void)
{
    struct res_text names = {0};
    for (int metric = 0; metric < RES_METRIC_COUNT; metric++)
        res_text_printf(&names, "%s%s", metric > 0 ? ", " : "", METRICS[metric].name);
    return names.text;
}

const char *res_metric_words(enum res_metric metric, double value, char *room)
{
    if (isfinite(value) && METRICS[metric].unit == RES_UNIT_BYTES)
        return fp_text_bytes(value, room);
    if (METRICS[metric].unit == RES_UNIT_COUNT && fabs(value) < 1e15)
        return res_number_words(fmax(value, 0), room);
    (void)res_ns_words(value, room);
    return isfinite(value) ? strcat(room, " ns") : room;
}

/* ---- samples -------------------------------------------------------------------------------- */

/* The runs of an entry that a metric is of: `count` structs of `size` bytes each. */
struct samples {
    const char *first;
    size_t count, size;
    bool of_passes;
};

static struct samples samples_of(const struct res_result_entry *entry, enum res_metric metric)
{
    const struct res_latency_figures *latency = entry->latency;
    if (METRICS[metric].source == OF_LATENCY)
        return (struct samples){latency != NULL ? (const char *)latency->runs : NULL,
                                latency != NULL ? latency->run_count : 0, sizeof *latency->runs, true};
    if (METRICS[metric].source == OF_MEMORY && entry->memory_count > 0)
        return (struct samples){(const char *)entry->memory_runs, entry->memory_count,
                                sizeof *entry->memory_runs, true};
    return (struct samples){(const char *)entry->runs, entry->run_count, sizeof *entry->runs, false};
}

static struct res_series series_from(const struct res_result_entry *entry, enum res_metric metric,
                                     double less)
{
    struct res_series series = {0};
    if (entry == NULL)
        return series;
    const struct samples samples = samples_of(entry, metric);
    series.of_passes = samples.of_passes;
    if (samples.count == 0 || samples.count > RES_SERIES_MAX || entry->failed != NULL)
        return series;
    series.values = res_calloc(samples.count, sizeof *series.values);
    series.count = samples.count;
    for (size_t i = 0; i < samples.count; i++) {
        const char *run = samples.first + i * samples.size;
        series.values[i] = *(const double *)(const void *)(run + METRICS[metric].offset) - less;
        if (!isfinite(series.values[i])) {
            res_series_release(&series);
            break;
        }
    }
    return series;
}

bool res_series_has_time(const struct res_series *series)
{
    return series->time.batches.round_count > 0;
}

double res_series_steady_ns(const struct res_series *series)
{
    return series->ops > 0 ? res_steady_net_ns(&series->time.batches, &series->floor.batches) / series->ops
                           : NAN;
}

struct res_logarithm res_series_logarithm(const struct res_series *series, const struct res_series *base)
{
    return res_series_rounds(series, base, NULL);
}

struct res_logarithm res_series_rounds(const struct res_series *series, const struct res_series *base,
                                       double *ret_says)
{
    const bool is_baseline = series->control.batches.round_count > 0;
    const struct res_steady_sides sides = {
        .other = &series->time.batches,
        .base = base != NULL ? &base->time.batches : NULL,
        .control = base != NULL && !series->is_control && !is_baseline ? &base->control.batches : NULL,
        .floor = &series->floor.batches,
    };
    return res_steady_rounds(&sides, ret_says);
}

struct res_series res_series_of(const struct res_result_workload *workload,
                                const struct res_result_entry *entry, enum res_metric metric)
{
    const struct res_result_entry *floor = workload != NULL ? workload->floor : NULL;
    const bool is_resident = METRICS[metric].source == OF_MEMORY;
    double less = is_resident && entry != NULL ? -res_held_start(entry) : 0;
    if (metric == RES_METRIC_TIME) {
        struct res_series whole = series_from(floor, metric, 0);
        if (whole.count > 0)
            less = res_median(whole.values, whole.count);
        res_series_release(&whole);
    }
    struct res_series series = series_from(entry, metric, less);
    if (metric == RES_METRIC_TIME && series.count > 0) {
        series.time = res_run_batches_of(entry->runs, entry->run_count);
        series.ops = workload != NULL ? (double)workload->ops - (double)workload->inherited_ops : NAN;
        if (floor != NULL && floor->failed == NULL)
            series.floor = res_run_batches_of(floor->runs, floor->run_count);
        series.is_control = workload != NULL && entry == &workload->control;
        if (workload != NULL && workload->candidate_count > 0 && entry == &workload->candidates[0] &&
            workload->control.failed == NULL)
            series.control = res_run_batches_of(workload->control.runs, workload->control.run_count);
    }
    return series;
}

double res_series_median(const struct res_result_workload *workload, const struct res_result_entry *entry,
                         enum res_metric metric)
{
    struct res_series series = res_series_of(workload, entry, metric);
    const double median = series.count > 0 ? res_median(series.values, series.count) : NAN;
    res_series_release(&series);
    return median;
}

void res_series_release(struct res_series *series)
{
    res_run_batches_release(&series->time);
    res_run_batches_release(&series->floor);
    res_run_batches_release(&series->control);
    free(series->values);
    *series = (struct res_series){.of_passes = series->of_passes};
}

size_t res_series_rounds_needed(const struct res_series *series)
{
    return series->of_passes ? RES_ROUNDS_OF_PASSES : RES_ROUNDS_FOR_VERDICT;
}

/* ---- estimates ------------------------------------------------------------------------------ */

static const struct res_estimate NO_ESTIMATE = {.value = NAN, .interval = {NAN, NAN}};

static struct res_estimate checked(struct res_estimate estimate)
{
    return isfinite(estimate.value) && isfinite(estimate.interval.low) && isfinite(estimate.interval.high)
               ? estimate
               : NO_ESTIMATE;
}

double res_ratio_of(double other, double base)
{
    if (other < 0 || base < 0)
        return NAN;
    if (base > 0)
        return other / base;
    return other > 0 ? NAN : 1;
}

struct moments {
    double mean, squares; /* sum of squared distances from the mean */
};

static struct moments logarithms_of(const double *values, size_t count)
{
    struct moments moments = {0, 0};
    for (size_t i = 0; i < count; i++)
        moments.mean += log(values[i]) / (double)count;
    for (size_t i = 0; i < count; i++)
        moments.squares += pow(log(values[i]) - moments.mean, 2);
    return moments;
}

static struct res_estimate around(double logarithm, double half_width)
{
    return checked((struct res_estimate){
        .value = exp(logarithm), .interval = {exp(logarithm - half_width), exp(logarithm + half_width)}});
}

/* Of few samples or ratios: the median with Student's interval, as the table has it. */
static struct res_estimate student_of(const double *values, size_t count)
{
    return checked((struct res_estimate){.value = res_median(values, count),
                                         .interval = res_student_ratio(values, count)});
}

static bool all_positive(const struct res_series *series)
{
    for (size_t i = 0; i < series->count; i++)
        if (!(series->values[i] > 0))
            return false;
    return series->count > 0;
}

struct res_estimate res_estimate_value(const struct res_series *series, uint64_t seed)
{
    if (series->count == 0)
        return NO_ESTIMATE;
    if (series->of_passes && all_positive(series))
        return student_of(series->values, series->count);
    return checked(
        (struct res_estimate){.value = res_median(series->values, series->count),
                              .interval = res_bootstrap_median(series->values, series->count, seed)});
}

struct res_estimate res_estimate_paired(const struct res_series *other, const struct res_series *base,
                                        uint64_t seed)
{
    const size_t count = other->count < base->count ? other->count : base->count;
    struct res_estimate estimate = NO_ESTIMATE;
    if (res_series_has_time(other) && res_series_has_time(base))
        return checked(res_logarithm_estimate(res_series_logarithm(other, base)));
    bool usable = count > 0;
    if (!usable)
        return estimate;
    double *ratios = res_calloc(count, sizeof *ratios);
    for (size_t i = 0; i < count; i++) {
        ratios[i] = res_ratio_of(other->values[i], base->values[i]);
        usable = usable && isfinite(ratios[i]);
    }
    if (usable && other->of_passes && all_positive(other))
        estimate = student_of(ratios, count);
    else if (usable)
        estimate = (struct res_estimate){.value = res_median(ratios, count),
                                         .interval = res_bootstrap_median(ratios, count, seed)};
    free(ratios);
    return checked(estimate);
}

static struct res_estimate pooled(const struct res_series *other, const struct res_series *base)
{
    if (other->count + base->count < 3)
        return NO_ESTIMATE;
    const struct moments one = logarithms_of(other->values, other->count);
    const struct moments two = logarithms_of(base->values, base->count);
    const size_t freedom = other->count + base->count - 2;
    const double variance = (one.squares + two.squares) / (double)freedom;
    const double error = sqrt(variance * (1 / (double)other->count + 1 / (double)base->count));
    return around(one.mean - two.mean, res_student_quantile(freedom) * error);
}

static double drawn_median(const struct res_series *series, double *room, struct res_random *random)
{
    for (size_t i = 0; i < series->count; i++)
        room[i] = series->values[res_random_below(random, series->count)];
    return res_median(room, series->count);
}

static struct res_logarithm unpaired_times(const struct res_series *other, const struct res_series *base)
{
    return res_logarithms_difference(res_series_logarithm(other, NULL), res_series_logarithm(base, NULL));
}

struct res_estimate res_estimate_unpaired(const struct res_series *other, const struct res_series *base,
                                          uint64_t seed)
{
    struct res_random random = res_random_from(seed);
    if (other->count == 0 || base->count == 0)
        return NO_ESTIMATE;
    if (other->of_passes && base->of_passes && all_positive(other) && all_positive(base))
        return pooled(other, base);
    if (res_series_has_time(other) && res_series_has_time(base))
        return checked(res_logarithm_estimate(unpaired_times(other, base)));
    double *room = res_calloc(other->count > base->count ? other->count : base->count, sizeof *room);
    double *ratios = res_calloc(RES_RESAMPLES, sizeof *ratios);
    bool usable = true;
    for (size_t i = 0; i < RES_RESAMPLES && usable; i++) {
        const double drawn = drawn_median(other, room, &random);
        ratios[i] = res_ratio_of(drawn, drawn_median(base, room, &random));
        usable = isfinite(ratios[i]);
    }
    struct res_estimate estimate = NO_ESTIMATE;
    if (usable) {
        estimate.value = res_ratio_of(res_median(other->values, other->count),
                                      res_median(base->values, base->count));
        estimate.interval.low = res_quantile(ratios, RES_RESAMPLES, 0.025);
        estimate.interval.high = res_quantile(ratios, RES_RESAMPLES, 0.975);
    }
    free(ratios);
    free(room);
    return checked(estimate);
}

struct res_interval res_estimate_noise(const struct res_estimate *aa)
{
    const double low = aa->interval.low, high = aa->interval.high;
    if (!(low > 0) || !isfinite(high))
        return (struct res_interval){1, 1};
    return (struct res_interval){fmin(fmin(low, 1 / high), 1), fmax(fmax(high, 1 / low), 1)};
}

struct res_interval res_interval_wider(struct res_interval one, struct res_interval other)
{
    return (struct res_interval){fmin(one.low, other.low), fmax(one.high, other.high)};
}

/* ---- at a limit ----------------------------------------------------------------------------- */

static const struct res_tails NO_TAILS = {1, 1};

static struct res_tails tails_of(const double *samples, size_t count, bool of_passes, double limit)
{
    bool positive = limit > 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(samples[i]))
            return NO_TAILS;
        positive = positive && samples[i] > 0;
    }
    if (count == 0)
        return NO_TAILS;
    return of_passes && positive ? res_student_tails(samples, count, limit)
                                 : res_sign_tails(samples, count, limit);
}

struct res_tails res_limit_value(const struct res_series *series, double limit)
{
    return tails_of(series->values, series->count, series->of_passes, limit);
}

struct res_tails res_limit_paired(const struct res_series *other, const struct res_series *base, double limit)
{
    const size_t count = other->count < base->count ? other->count : base->count;
    if (res_series_has_time(other) && res_series_has_time(base))
        return res_logarithm_tails(res_series_logarithm(other, base), limit);
    double *ratios = res_calloc(count + 1, sizeof *ratios);
    for (size_t i = 0; i < count; i++)
        ratios[i] = res_ratio_of(other->values[i], base->values[i]);
    const struct res_tails tails = tails_of(ratios, count, other->of_passes, limit);
    free(ratios);
    return tails;
}

struct res_tails res_limit_unpaired(const struct res_series *other, const struct res_series *base,
                                    const struct res_estimate *estimate, double limit, uint64_t seed)
{
    const size_t few = other->count < base->count ? other->count : base->count;
    const size_t all = other->count + base->count;
    const bool of_passes = other->of_passes && base->of_passes;
    if (res_series_has_time(other) && res_series_has_time(base))
        return res_logarithm_tails(unpaired_times(other, base), limit);
    if (!of_passes && few > 1 && isfinite(estimate->value) && all_positive(other) && all_positive(base))
        return res_two_sample_tails(other->values, other->count, base->values, base->count, limit, seed);
    const size_t freedom = of_passes ? (all > 2 ? all - 2 : 0) : few - 1;
    return few > 0 && freedom > 0 ? res_interval_tails(estimate, freedom, limit) : NO_TAILS;
}
