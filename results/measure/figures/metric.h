/* metric.h - the figures of a result (result.h) that can be compared and budgeted, as samples, and the logarithms of their ratios.
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

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "results/measure/base/figure_words.h"
#include "results/measure/result/result.h"
#include "results/measure/run/run.h"
#include "results/measure/statistics/statistics.h"

#define RES_SERIES_MAX       10000u /* runs of an entry; more are no result of ours, and would take minutes */
#define RES_ROUNDS_OF_PASSES 3u     /* least runs of a pass behind the rounds, for a verdict */

enum res_metric {
    RES_METRIC_TIME, /* ns/op: the steady time (figures.h); its samples are whole runs, the harness' share included */
    RES_METRIC_P99, /* ns of a call, of the latency passes */
    RES_METRIC_P99_9,
    RES_METRIC_RSS_PEAK, /* bytes, with what was held from the start (figures.h), as those below */
    RES_METRIC_RSS_MEAN,
    RES_METRIC_RSS_END,
    RES_METRIC_RSS_IDLE,
    RES_METRIC_FAULTS, /* minor page faults of a run */
    RES_METRIC_COUNT,
};

enum res_unit { RES_UNIT_NS, RES_UNIT_BYTES, RES_UNIT_COUNT };

/* The times of an entry's runs as steady.c takes them: batch by batch, or each run as a batch where none were timed or not the same ones in
 * all runs. */
struct res_run_batches {
    struct res_batches batches; /* times are the runs', which must stay */
    const uint64_t **rounds;
    uint64_t *whole;
    double ops; /* that its times are of; 0: not told */
};

/* res_run_batches_of - of runs in the order of their rounds. Without rounds when there are none, or when one has no time. Released by res_run_batches_release. */
struct res_run_batches res_run_batches_of(const struct res_run *runs, size_t count);
void res_run_batches_release(struct res_run_batches *batches);

struct res_series {
    double *values; /* NULL when count is 0 */
    size_t count;
    bool of_passes;                     /* of passes behind the rounds, of which few do */
    struct res_run_batches time, floor; /* of time: its batches and the floor's, the result's */
    struct res_run_batches control;     /* of the baseline: those of the control */
    bool is_control;
    double ops;       /* that were timed in a run; NAN: not told */
    double ns_per_op; /* of time: the figure that is shown, net; NAN: none */
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

/* res_linked_entry - the candidate that the program is linked with: under any other it is loaded, too, and keeps what it takes at its
 * start. NULL: there is none. */
const struct res_result_entry *res_linked_entry(const struct res_result_workload *workload);

/* res_held_start - what an entry held from the start (figures.h), in bytes; 0 where it is not known. */
static inline double res_held_start(const struct res_result_entry *entry)
{
    return isfinite(entry->figures.own_start_bytes) ? entry->figures.own_start_bytes : 0;
}

/* res_series_of - the samples of an entry (a candidate, or the control; NULL: none) of a workload (NULL: nothing is
 * subtracted), which must stay. Empty when the entry failed, when a run lacks the figure, or when there are more than
 * RES_SERIES_MAX. Release with res_series_release. */
struct res_series res_series_of(const struct res_result_workload *workload,
                                const struct res_result_entry *entry, enum res_metric metric);
void res_series_release(struct res_series *series);

/* res_series_value - the figure that is shown of it: of time the steady ns/op, else the median; NAN where there is none.
 * res_metric_value - the same of an entry. */
double res_series_value(const struct res_series *series);
double res_metric_value(const struct res_result_workload *workload, const struct res_result_entry *entry,
                        enum res_metric metric);

/* res_series_has_time - whether it is one of times, whose ratios are of steady times (steady.c). */
bool res_series_has_time(const struct res_series *series);

/* res_series_steady_ns - by itself: its steady time less the floor's, per op, NAN where it is not above that. What is shown is ns_per_op. */
double res_series_steady_ns(const struct res_series *series);

/* res_series_logarithm - of the ratio to `base`, another series of the same rounds, from which everything follows that is said of it (statistics.h).
 *   time    of steady times (steady.c): to the baseline's and its control's together, unless it is the control that is compared
 *   others  of the pairs of each round or pass (res_trimmed_logarithm, res_ratio_of)
 * base NULL: of the figure itself, in the metric's unit.
 * res_series_across - of the ratio of two such figures of two experiments, of which nothing belongs together: res_logarithms_difference.
 * Value NAN where there is no ratio. */
struct res_logarithm res_series_logarithm(const struct res_series *series, const struct res_series *base);
struct res_logarithm res_series_across(const struct res_series *now, const struct res_series *then);

/* res_series_rounds - the first, of times, with what each round says of it (res_steady_rounds), for as many rounds as the series has. */
struct res_logarithm res_series_rounds(const struct res_series *series, const struct res_series *base,
                                       double *ret_says);

/* res_ratio_of - 0 over 0 is 1; other ratios to 0, and of negative samples, are NAN. */
double res_ratio_of(double other, double base);

/* res_series_rounds_needed - how many samples a verdict takes: RES_ROUNDS_FOR_VERDICT, or RES_ROUNDS_OF_PASSES. */
size_t res_series_rounds_needed(const struct res_series *series);

#endif
