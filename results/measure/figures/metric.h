/* metric.h - the figures of a result (result.h) that can be compared and budgeted, as samples, and ratios of samples.
 *
 *   metric    a figure that every run of a pass has; less of it is better
 *   series    the samples of a metric of one entry, one for each run, in the order of the rounds
 *   pass      runs that a metric is taken of: the rounds (runs[]); for resident memory the memory passes
 *             (memory_runs[]) where the result has them; for latency the passes in latency.runs[]
 *   paired    samples of the same round are divided: what the machine did to both goes out
 *   unpaired  the samples come from different experiments, or stand alone: nothing goes out
 *
 * Results may come from anywhere: what is no number is no sample, and a series with a hole is none. Nothing prints. */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_METRIC_H
#define MALLAB_RESULTS_MEASURE_FIGURES_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/base/figure_words.h"
#include "results/measure/figures/run_batches.h"
#include "results/measure/result/result.h"
#include "results/measure/statistics/significance.h"
#include "results/measure/statistics/statistics.h"

#define RES_SERIES_MAX       10000u /* runs of an entry; more are no result of ours, and would take minutes */
#define RES_ROUNDS_OF_PASSES 3u     /* least runs of a pass behind the rounds, whose interval is Student's */

enum res_metric {
    RES_METRIC_TIME, /* ns/op, typical: whole run less the floor's median */
    RES_METRIC_P99,  /* ns of a call, of the latency passes */
    RES_METRIC_P99_9,
    RES_METRIC_RSS_PEAK, /* bytes, with what was held from the start (held.h), as those below */
    RES_METRIC_RSS_MEAN,
    RES_METRIC_RSS_END,
    RES_METRIC_RSS_IDLE,
    RES_METRIC_FAULTS, /* minor page faults of a run */
    RES_METRIC_COUNT,
};

enum res_unit { RES_UNIT_NS, RES_UNIT_BYTES, RES_UNIT_COUNT };

struct res_series {
    double *values; /* NULL when count is 0 */
    size_t count;
    bool of_passes; /* of passes behind the rounds: few, and bootstrapping few says too little */
    struct res_run_batches time, floor; /* of time: its batches and the floor's, the result's */
    struct res_run_batches control;     /* of the baseline: those of the control */
    bool is_control;
    double ops; /* that were timed in a run; NAN: not told */
};

/* res_metric_name / _unit / _unit_name / _remedy - "rss-peak"; its dimension; "ns/op", "ns", "bytes", "faults"; how a
 * result gets it, in words behind "run". */
const char *res_metric_name(enum res_metric metric);
enum res_unit res_metric_unit(enum res_metric metric);
const char *res_metric_unit_name(enum res_metric metric);
const char *res_metric_remedy(enum res_metric metric);

/* res_metric_from - by name of `length` bytes. Returns false when there is no such metric. */
bool res_metric_from(const char *name, size_t length, enum res_metric *ret_metric);

/* res_metric_names - "time, p99, ..." for messages. The caller's to free. */
char *res_metric_names(void);

/* RES_METRIC - a figure for people: "13.4 ns", "61.2 MB", "1,204"; "-" when it is none. See figure_words.h. */
#define RES_METRIC(metric, value) res_metric_words((metric), (value), RES_WORDS_ROOM)
const char *res_metric_words(enum res_metric metric, double value, char *room);

/* res_series_of - the samples of an entry (a candidate, or the control; NULL: none) of a workload (NULL: nothing is
 * subtracted), which must stay. Empty when the entry failed, when a run lacks the figure, or when there are more than
 * RES_SERIES_MAX. Release with res_series_release. */
struct res_series res_series_of(const struct res_result_workload *workload,
                                const struct res_result_entry *entry, enum res_metric metric);
void res_series_release(struct res_series *series);

/* res_series_median - the median of that series; NAN where it is empty. */
double res_series_median(const struct res_result_workload *workload, const struct res_result_entry *entry,
                         enum res_metric metric);

/* res_series_has_time - whether it is one of times, whose ratios are of steady times (steady.h).
 * res_series_steady_ns - its steady time less the floor's, per op. NAN where it has none, or is not above the floor.
 * res_series_logarithm - of the ratio of its steady time to base's (the baseline: to its control's too, unless it is the control that is compared), or
 * of its own where base is NULL. */
bool res_series_has_time(const struct res_series *series);
double res_series_steady_ns(const struct res_series *series);
struct res_logarithm res_series_logarithm(const struct res_series *series, const struct res_series *base);

/* res_series_rounds - the same with what each round says of it (res_steady_rounds), for as many rounds as the series has. */
struct res_logarithm res_series_rounds(const struct res_series *series, const struct res_series *base,
                                       double *ret_says);

/* res_ratio_of - 0 over 0 is 1; other ratios to 0, and of negative samples, are NAN. */
double res_ratio_of(double other, double base);

/* res_series_rounds_needed - how many samples a verdict takes: RES_ROUNDS_FOR_VERDICT, or RES_ROUNDS_OF_PASSES. */
size_t res_series_rounds_needed(const struct res_series *series);

/* res_estimate_value - median of one series and its interval: bootstrap.
 * res_estimate_paired - median of the ratios of each round; bootstrap, as for the table (figures.h).
 * res_estimate_unpaired - ratio of the medians; both series are resampled, each for itself, RES_RESAMPLES times, and the
 *   2.5 % and 97.5 % quantiles of the ratios of the medians taken.
 * Times: ratios are of steady times (steady.h), as in the table; a single series is of whole runs.
 * Series of passes: Student's interval of the mean of the logarithms (res_student_ratio), paired around the median as in the
 *   table; unpaired with pooled variance, around the ratio of the geometric means.
 * All: 0 over 0 is 1; other ratios to 0, and negative samples, make the estimate NAN.
 * seed     the same seed gives the same interval.
 * Source   B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 8 (two samples) and 13;
 *          Student's t: W. S. Gosset, "The probable error of a mean", Biometrika 6 (1908). */
struct res_estimate res_estimate_value(const struct res_series *series, uint64_t seed);
struct res_estimate res_estimate_paired(const struct res_series *other, const struct res_series *base,
                                        uint64_t seed);
struct res_estimate res_estimate_unpaired(const struct res_series *other, const struct res_series *base,
                                          uint64_t seed);

/* res_estimate_noise - what two measurements of the same differ by: an interval around 1 that holds `aa` (A/A ratio
 * with interval) in both directions, since noise of +3 % would as well have been -3 %. {1, 1} when there is none. */
struct res_interval res_estimate_noise(const struct res_estimate *aa);

/* res_interval_wider - from the lower low to the higher high. */
struct res_interval res_interval_wider(struct res_interval one, struct res_interval other);

/* res_limit_value / _paired / _unpaired - whether a metric is above a limit: one-sided p-values of the estimate of the same name, by the
 * test that belongs to how it is estimated; {1, 1} where there is no figure. The same seed gives the same p-values.
 *
 *   time, paired or unpaired        Student's t of the logarithm (steady.h)
 *   passes                          Student's t of the mean logarithm
 *   other series, single or paired  the sign test of the samples, or of each round's ratio
 *   unpaired, rounds                the permutation test of two samples (significance.h)
 *   unpaired, passes                the estimate's interval, read as Student's
 *
 * limit     of the figure, or of the ratio; >= 0
 * estimate  what res_estimate_unpaired said of the same series */
struct res_tails res_limit_value(const struct res_series *series, double limit);
struct res_tails res_limit_paired(const struct res_series *other, const struct res_series *base,
                                  double limit);
struct res_tails res_limit_unpaired(const struct res_series *other, const struct res_series *base,
                                    const struct res_estimate *estimate, double limit, uint64_t seed);

#endif
