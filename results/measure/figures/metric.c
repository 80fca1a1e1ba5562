/* metric.c - samples out of a result, and intervals of their ratios. Sources stand in the header. */
#include "results/measure/figures/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/base/random.h"
#include "results/measure/base/support.h"
#include "results/measure/statistics/steady.h"
#include "results/report/grid/cells.h"

static const struct {
    const char *name, *unit_name, *key; /* of the run, or of the object named in `inside` */
    const char *inside;
    enum res_unit unit;
    const char *remedy;
} METRICS[RES_METRIC_COUNT] = {
    [RES_METRIC_TIME] = {"time", "ns/op", "ns_per_op", NULL, RES_UNIT_NS,
                         "'mallab ab' again: each run has it"},
    [RES_METRIC_P99] = {"p99", "ns", "p99_ns", "latency", RES_UNIT_NS, "'mallab ab --latency'"},
    [RES_METRIC_P99_9] = {"p99.9", "ns", "p99_9_ns", "latency", RES_UNIT_NS, "'mallab ab --latency'"},
    [RES_METRIC_RSS_PEAK] = {"rss-peak", "bytes", "peak_bytes", "resident", RES_UNIT_BYTES,
                             "'mallab ab' again: each run has it"},
    [RES_METRIC_RSS_MEAN] = {"rss-mean", "bytes", "mean_bytes", "resident", RES_UNIT_BYTES,
                             "'mallab ab' again: each run has it"},
    [RES_METRIC_RSS_END] = {"rss-end", "bytes", "end_bytes", "resident", RES_UNIT_BYTES,
                            "'mallab ab' again: each run has it"},
    [RES_METRIC_RSS_IDLE] = {"rss-idle", "bytes", "idle_bytes", "resident", RES_UNIT_BYTES,
                             "'mallab ab' with a rest at the end of its memory passes ('mallab help ab')"},
    [RES_METRIC_FAULTS] = {"faults", "faults", "faults_minor", NULL, RES_UNIT_COUNT,
                           "'mallab ab' again: each run has it"},
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

static bool is_latency(enum res_metric metric)
{
    const char *inside = METRICS[metric].inside;
    return inside != NULL && strcmp(inside, "latency") == 0;
}

/* The runs of latency.runs[] are the passes' `latency` objects themselves. */
static double sample_of(const json_t *run, enum res_metric metric)
{
    const char *inside = METRICS[metric].inside;
    const bool nested = inside != NULL && !is_latency(metric);
    return res_cell_number(nested ? json_object_get(run, inside) : run, METRICS[metric].key);
}

static const json_t *runs_of(const json_t *entry, enum res_metric metric, bool *ret_of_passes)
{
    const json_t *passes = NULL;
    if (is_latency(metric))
        passes = json_object_get(json_object_get(entry, "latency"), "runs");
    else if (METRICS[metric].unit == RES_UNIT_BYTES)
        passes = json_object_get(entry, "memory_runs");
    *ret_of_passes = is_latency(metric) || json_array_size(passes) > 0;
    return *ret_of_passes ? passes : json_object_get(entry, "runs");
}

static void drop_batches(struct res_series *series)
{
    for (size_t i = 0; series->batches != NULL && i < series->count; i++)
        free(series->batches[i]);
    free(series->batches);
    series->batches = NULL;
    series->batch_count = 0;
}

static struct res_series series_from(const json_t *entry, enum res_metric metric, double less)
{
    struct res_series series = {0};
    const json_t *runs = runs_of(entry, metric, &series.of_passes);
    const size_t count = json_array_size(runs);
    if (count == 0 || count > RES_SERIES_MAX || json_is_string(json_object_get(entry, "failed")))
        return series;
    series.values = res_calloc(count, sizeof *series.values);
    series.count = count;
    for (size_t i = 0; i < count; i++) {
        series.values[i] = sample_of(json_array_get(runs, i), metric) - less;
        if (!isfinite(series.values[i])) {
            res_series_release(&series);
            break;
        }
    }
    return series;
}

/* One run's batch times; NULL where there are none, or anything else stands there. */
static uint64_t *batches_of(const json_t *run, size_t *ret_count)
{
    const json_t *array = json_object_get(run, "batch_ns");
    *ret_count = json_array_size(array);
    uint64_t *times = *ret_count > 0 ? res_calloc(*ret_count, sizeof *times) : NULL;
    for (size_t i = 0; i < *ret_count; i++) {
        const json_t *value = json_array_get(array, i);
        if (!json_is_integer(value) || json_integer_value(value) < 0) {
            free(times);
            return NULL;
        }
        times[i] = (uint64_t)json_integer_value(value);
    }
    return times;
}

/* Only where every run has the same number of batches. */
static void add_batches(struct res_series *series, const json_t *entry)
{
    const json_t *runs = json_object_get(entry, "runs");
    bool usable = true;
    series->batches = res_calloc(series->count, sizeof *series->batches);
    for (size_t i = 0; i < series->count && usable; i++) {
        size_t count;
        series->batches[i] = batches_of(json_array_get(runs, i), &count);
        usable = series->batches[i] != NULL && (i == 0 || count == series->batch_count);
        series->batch_count = count;
    }
    if (!usable)
        drop_batches(series);
}

struct res_batches res_series_batches(const struct res_series *series)
{
    return (struct res_batches){.rounds = (const uint64_t *const *)series->batches,
                                .round_count = series->count,
                                .batch_count = series->batch_count};
}

double res_series_steady_ns(const struct res_series *series)
{
    const struct res_batches batches = res_series_batches(series);
    if (series->batches == NULL || !(series->ops > 0))
        return NAN;
    const double ns = (res_steady_ns(&batches) - series->floor_ns) / series->ops;
    return ns > 0 ? ns : NAN;
}

/* The floor has to be cut in the same batches, or there is none. */
static double steady_floor(const json_t *floor, const struct res_series *series)
{
    struct res_series own = series_from(floor, RES_METRIC_TIME, 0);
    double ns = 0;
    if (own.count > 0)
        add_batches(&own, floor);
    if (own.batches != NULL && own.batch_count == series->batch_count) {
        const struct res_batches batches = res_series_batches(&own);
        ns = res_steady_ns(&batches);
    }
    res_series_release(&own);
    return ns;
}

struct res_series res_series_of(const json_t *workload, const json_t *entry, enum res_metric metric)
{
    double less = 0;
    if (metric == RES_METRIC_TIME) {
        struct res_series floor = series_from(json_object_get(workload, "floor"), metric, 0);
        if (floor.count > 0)
            less = res_median(floor.values, floor.count);
        res_series_release(&floor);
    }
    struct res_series series = series_from(entry, metric, less);
    if (metric == RES_METRIC_TIME && series.count > 0) {
        add_batches(&series, entry);
        series.ops = res_cell_number(workload, "ops") - fmax(res_cell_number(workload, "inherited_ops"), 0);
        if (series.batches != NULL)
            series.floor_ns = steady_floor(json_object_get(workload, "floor"), &series);
    }
    return series;
}

void res_series_release(struct res_series *series)
{
    drop_batches(series);
    free(series->values);
    series->values = NULL;
    series->count = 0;
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
    if (other->batches != NULL && base->batches != NULL) {
        const struct res_batches one = res_series_batches(other), two = res_series_batches(base);
        estimate = res_steady_paired(&one, &two, base->floor_ns, seed);
        if (isfinite(estimate.value))
            return checked(estimate);
    }
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

struct res_estimate res_estimate_unpaired(const struct res_series *other, const struct res_series *base,
                                          uint64_t seed)
{
    struct res_random random = res_random_from(seed);
    if (other->count == 0 || base->count == 0)
        return NO_ESTIMATE;
    if (other->of_passes && base->of_passes && all_positive(other) && all_positive(base))
        return pooled(other, base);
    if (other->batches != NULL && base->batches != NULL) {
        const struct res_batches one = res_series_batches(other), two = res_series_batches(base);
        const struct res_estimate steady = res_steady_unpaired(&one, other->floor_ns, &two, base->floor_ns,
                                                               seed);
        if (isfinite(steady.value))
            return checked(steady);
    }
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
