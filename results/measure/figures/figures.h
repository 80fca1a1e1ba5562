/* figures.h - figures of a result from its samples, in one pass. No figure of a result changes behind it.
 *
 *   measured  medians over the runs: resident memory of the memory passes where there are some, page faults, latency
 *   held      what an entry held before the first call, less the least that one of the candidates held then, which is the harness' own
 *             (own start). A replay tells it apart from resident memory; the program pays it like any other. It is part of peak, mean, end
 *             and idle, and of what is compared
 *   judged    ratios to the baseline's (metric.c), those of times for all candidates together
 *   verdict   what follows for the program (verdict.c)
 *
 * A figure that cannot be had (the entry or the baseline failed, its runs lack it) is NAN, its verdict undecided.
 * Pure: the same samples, the same figures, whatever the file says. But a workload of which no entry has a run keeps what it says: a result is
 * published without its runs, and has nothing else. */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_FIGURES_H
#define MALLAB_RESULTS_MEASURE_FIGURES_FIGURES_H

#include <math.h>

#include "results/measure/base/figure_words.h"
#include "results/measure/result/result.h"

/* res_result_judge - once where a result has been made, and once where one has been read.
 * res_workload_judge - judge one workload, all but the verdict.
 *
 * Candidates are judged at once: the more there are, the sooner one of them looks different by chance. A verdict of time that does not hold for
 * all of them together (res_holm) is withdrawn, to `same` where the interval leaves out what was to be resolved: of seven equals one was called different
 * in a fifth of the tables without it, in 2 % with it (tests/statistics/gate.c). */
void res_result_judge(struct res_result *result);
void res_workload_judge(struct res_result_workload *workload);

/* ---- growth.c: whether memory grows through the night.
 *
 *   growth  the slope of a straight line through the medians of blocks of equal time, behind a first tenth that is startup, beside the exponential that
 *           fits best: what fills or settles is no growth. Student's interval, of as many blocks as correlated ones are worth. It is shown where
 *           that leaves out a twentieth of `held`, and that of a line through the last half alone leaves out 0.
 *           Source: G. V. Bayley, J. M. Hammersley, "The 'effective' number of independent observations in an autocorrelated time series", Supplement
 *           to the Journal of the Royal Statistical Society 8 (1946)
 *   beyond  what is resident less what is live. A leak grows what is live, and an allocator adds its part to that: less than a quarter of it
 *           is no growth of its own */

/* res_growth_of - the growth of bytes at so many times, which rise. In less than FP_USAGE_LONG_NS nothing is known.
 * res_growth_beyond - the growth of what is resident beyond what is live. bytes: become those beyond.
 * res_growth_measure - both of a run that has all its samples.
 * res_growth_together - the growth of several runs, which have it at offset `at`: the median, and the ends of all ranges. */
struct res_growth res_growth_of(const double *times_ns, const double *bytes, size_t count, double held);
struct res_growth res_growth_beyond(const double *times_ns, double *bytes, const double *live, size_t count,
                                    struct res_growth *ret_live);
void res_growth_measure(struct res_run *run);
struct res_growth res_growth_together(const struct res_run *runs, size_t count, size_t at);

/* ---- metric.c: percentiles of single calls, medians over the latency passes, which have them.
 * Net of the clock's cost, not of the floor's latency: percentiles of two distributions cannot be subtracted. `max_ns` is the largest of all.
 * Against the baseline's they are judged with the others (figures.h). */

/* res_latency_read - the passes of an entry, without figures. To be freed (and released) as part of a result; NULL when there was none.
 * passes  array of what the runs printed; NULL: there was none
 * failed  why a pass failed, one line; NULL: none did */
struct res_latency_figures *res_latency_read(const json_t *passes, const char *failed);

/* res_latency_measure - the figures of an entry that has passes, anew. */
void res_latency_measure(struct res_result_entry *entry);

/* ---- metric.c: the figures of a result (result.h) that can be compared and budgeted, as samples, and the logarithms of their ratios.
 *   metric    a figure that every run of a pass has; less of it is better
 *   series    the samples of a metric of one entry, one for each run, in the order of the rounds
 *   pass      runs that a metric is taken of: the rounds (runs[]); for resident memory the memory passes
 *             (memory_runs[]) where the result has them; for latency the passes in latency.runs[]
 *   paired    samples of the same round are divided: what the machine did to both goes out
 *   unpaired  the samples come from different experiments, or stand alone: nothing goes out
 *
 * Results may come from anywhere: what is no number is no sample, and a series with a hole is none. Nothing prints. */

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
    RES_METRIC_GROWTH, /* bytes an hour beyond what is live (growth.c); 0: none is shown */
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

/* res_run_batches_of - the batches of runs in the order of their rounds. Without rounds when there are none, or when one has no time. Released by res_run_batches_release. */
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

/* A metric, and where its sample is. */
struct res_metric_row {
    const char *name, *unit_name; /* "rss-peak"; "ns/op", "ns", "bytes", "faults" */
    enum res_unit unit;
    enum { RES_OF_RUNS, RES_OF_MEMORY_RUNS, RES_OF_PASSES } source;
    size_t offset;      /* of a double in struct res_run, or in struct res_latency_pass */
    const char *remedy; /* how a result gets it, in words behind "run" */
};
extern const struct res_metric_row RES_METRICS[RES_METRIC_COUNT]; /* by enum res_metric */

/* res_metric_from - the metric whose name has `length` bytes. Returns false when there is no such metric. */
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

/* res_metric_value - the figure that is shown of an entry: of time the steady ns/op, else the median; NAN where there is none. */
double res_metric_value(const struct res_result_workload *workload, const struct res_result_entry *entry,
                        enum res_metric metric);

/* res_series_has_time - whether it is one of times, whose ratios are of steady times (steady.c). */
bool res_series_has_time(const struct res_series *series);

/* res_series_steady_ns - its own steady time: that less the floor's, per op, NAN where it is not above that. What is shown is ns_per_op. */
double res_series_steady_ns(const struct res_series *series);

/* res_series_logarithm - the logarithm of the ratio to `base`, another series of the same rounds, from which everything follows that is said of it (statistics.h).
 *   time    of steady times (steady.c): to the baseline's and its control's together, unless it is the control that is compared
 *   others  of the pairs of each round or pass (res_trimmed_logarithm, res_ratio_of)
 * base NULL: of the figure itself, in the metric's unit.
 * res_series_across - the logarithm of the ratio of two such figures of two experiments, of which nothing belongs together: res_logarithms_difference.
 * Value NAN where there is no ratio. */
struct res_logarithm res_series_logarithm(const struct res_series *series, const struct res_series *base);
struct res_logarithm res_series_across(const struct res_series *now, const struct res_series *then);

/* res_ratio_of - 0 over 0 is 1; other ratios to 0, and of negative samples, are NAN. */
double res_ratio_of(double other, double base);

/* res_series_rounds_needed - how many samples a verdict takes: RES_ROUNDS_FOR_VERDICT, or RES_ROUNDS_OF_PASSES. */
size_t res_series_rounds_needed(const struct res_series *series);

/* ---- recorded_program.c: what is known of the program that was recorded.
 *   rests     was running or killed when its recording ended; or paused, with as much in memory as at its end: more than a tenth of
 *             its peak, or less of a program that waits. A program that just computes is never at rest
 *   trust     the recorded process is what a replay is held against. More page faults than the whole process had, a larger heap
 *             than all its anonymous memory, more time than all its CPU time: these cannot be, so what is here is not what the program
 *             would see. The other way round the process' own code, stacks and files explain it.
 *             Where calls wait for locks that other threads hold for a twentieth of their time, that is more or less in the program,
 *             as it depends on what runs beside them: such times are no ground, and a candidate's that does so is not advised.
 *             Where threads that are over at once make a fifth of the calls, how many overlap is the scheduler's choice, and
 *             recording makes it more: of such a program memory is no ground either (docs/notes/fidelity.md) */

/* res_baseline_of - the first candidate. NULL: there is none, or it failed. */
const struct res_result_entry *res_baseline_of(const struct res_result_workload *workload);

/* res_whole_process - what the process used that made the workload's calls. NULL: it is not recorded, or more than a hundredth of its calls are
 * not in the workload (lost, or cut off), so that they are no part of that whole. */
const struct res_process *res_whole_process(const struct res_result_workload *workload);

/* res_recorded_entry - the candidate that the program ran on when it was recorded: the baseline where that is not known. NULL: it was not
 * replayed, or failed. What the process used belongs to it. */
const struct res_result_entry *res_recorded_entry(const struct res_result_workload *workload);

/* res_calls_ns - CPU time that an entry takes for all calls of a workload; NAN: not known. */
double res_calls_ns(const struct res_result_workload *workload, const struct res_result_entry *entry);

/* res_process_cpu - processor time of the recorded process: the one reading of its recording, or the median of the baseline's runs of a
 * confirmation, with the least and the most of them. NAN: not known. */
struct res_cpu {
    double ns, least_ns, most_ns;
};
struct res_cpu res_process_cpu(const struct res_result *result, const struct res_result_workload *workload);

/* res_baseline_cpu_ns - the processor time that the program would take on the baseline. NAN: not known. */
double res_baseline_cpu_ns(const struct res_result *result, const struct res_result_workload *workload);

/* res_starts_more_ns - CPU time that the starts of all processes under an entry take more than under the baseline, of those whose calls
 * were replayed: 0 where it is not known, or where the recording began later. */
double res_starts_more_ns(const struct res_result_workload *workload, const struct res_result_entry *entry);

/* res_part_of_time - what part of the program the baseline's time in calls is.
 * res_rss_peak_of - its resident memory at the peak; res_baseline_rss_bytes - the same as it would be on the baseline. NAN: not known. */
double res_part_of_time(const struct res_result *result, const struct res_result_workload *workload);
double res_rss_peak_of(const struct res_result_workload *workload);
double res_baseline_rss_bytes(const struct res_result_workload *workload);

/* A difference of memory below it, and below RES_SAVING_WORTH of the process where that is known, is no difference to anybody. */
#define RES_LITTLE_BYTES 256e3
bool res_is_little_memory(const struct res_result_workload *workload, double bytes);

/* res_is_service - whether the recorded process did not end by itself.
 * res_waits - whether it paused for long, or computed for less than half of its time. */
bool res_is_service(const struct res_result_workload *workload);
bool res_waits(const struct res_result_workload *workload);

/* res_rests - whether the program is at rest at times, with what a replay holds at its end.
 * res_rest_saved - bytes that an entry holds less at rest than the baseline, below 0 when more; NAN: not shown, or the program is
 * never at rest. */
bool res_rests(const struct res_result_workload *workload);
double res_rest_saved(const struct res_result_workload *workload, const struct res_result_entry *entry);

/* res_blocked_share - how much of its time in calls an entry waited for others' locks, median of its runs; NAN: not known. Above
 * RES_BLOCKED_SHARE its times are no ground. */
#define RES_BLOCKED_SHARE 0.05
double res_blocked_share(const struct res_result_workload *workload, const struct res_result_entry *entry);

/* res_doubt_of_calls, _of_time, _of_pages, _of_memory - why a replay's figures are not the program's; the caller's to free. NULL:
 * nothing is known against them. That of calls, of which more are missing than can be overlooked, is one of time and of memory. */
char *res_doubt_of_calls(const struct res_result_workload *workload);
char *res_doubt_of_time(const struct res_result *result, const struct res_result_workload *workload,
                        const struct res_result_entry *recorded);
char *res_doubt_of_pages(const struct res_machine *here, const struct res_process *process);
char *res_doubt_of_memory(const struct res_result_workload *workload,
                          const struct res_result_entry *recorded);

/* ---- verdict.c: what the figures of a workload mean for the program that was recorded.
 *   share     what part of the whole process a figure is, on the allocator that it was recorded on: time in calls of its CPU time (never of
 *             wall time), heap of its resident memory at the peak. Below RES_SAVING_WORTH nothing can pay, whatever the noise. What
 *             was there before the recording began has no share
 *   saving    the baseline's figure less a candidate's. Of time, in CPU time: the baseline's time in calls by the ratio, less
 *             what the starts of its processes take more. Only what is shown counts: by the verdict on time; on the peak likewise
 *             (figures.h); at rest where each of a candidate's runs held less than each of the baseline's, by a tenth
 *   answer    what time, the peak and rest say: one struct res_answer each, which screen, Markdown, page and JSON only word. What the
 *             program itself showed (a confirmation) outranks what its replays do
 *   good for  the width of the widest interval of time, of the baseline's second run and of each candidate whose difference is not shown */

/* The least saving, as a share of the process, or of time in malloc and of the heap where that is not known: less is told not to be worth it. */
#define RES_SAVING_WORTH 0.01

/* A saving whose price is a larger part of the other figure, time or memory, than so many times what it saves of its own is not advised:
 * nobody buys 1 % of memory for 4 % of time. */
#define RES_PRICE_MOST 3

/* The least saving to promise, as a share of the process' time: where objects lie makes its own code slower by less (docs/notes/fidelity.md). Below it a saving in calls may turn round
 * in the program, so it is undecided until the program was tried. */
#define RES_TIME_PROMISED 0.05

/* res_resolves - the least difference that would have been shown, a share: of one as large as the interval is wide, the whole interval lies
 * beside 1 in 97 of 100 cases, and of equals within as much; nor does less count than the noise, an interval around 1, or than what is worth
 * it. NAN: there is no interval. */
double res_resolves(double ratio, struct res_interval interval, struct res_interval noise, double worth);

/* res_verdicts_fill - share, trust, good_for and verdict of all workloads of a result, and its own: that of its workload where there is one,
 * that of the program itself where nothing was replayed. Those that it had are dropped: they follow from the figures. */
void res_verdicts_fill(struct res_result *result);

/* res_fleet_verdict_fill - fill the verdict of a fleet, likewise. */
void res_fleet_verdict_fill(struct res_fleet *fleet);

/* res_answer_kind - what one figure says: its ratio to the baseline's, with its range and its verdict (enum res_verdict).
 * share    of the whole that the ratio is of; NAN: it is of the whole, or that is not known
 * Returns  does not matter, take, not worth, all worse, or none shown. */
enum res_answer_kind res_answer_kind(double ratio, struct res_interval range, int verdict, double share);

/* res_answer_share - what is saved as a share: of the process where that is known. */
double res_answer_share(const struct res_answer *answer);

/* res_rounds_for_memory - the rounds that a verdict on memory takes. */
unsigned res_rounds_for_memory(const struct res_result_workload *workload);

#endif
