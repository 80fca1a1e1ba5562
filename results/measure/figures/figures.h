/* figures.h - from the samples of a result to its figures, in one pass. No figure of a result changes behind it.
 *
 *   measured  medians over the runs: resident memory of the memory passes where there are some, page faults, latency
 *   held      what an entry held before the first call, less the least that one of the candidates held then, which is the harness' own
 *             (own start). A replay tells it apart from resident memory; the program pays it like any other. It is part of peak, mean, end
 *             and idle, and of what is compared
 *   judged    ratios to the baseline's (metric.h), those of times for all candidates together
 *   verdict   what follows for the program (verdict.h)
 *
 * A figure that cannot be had (the entry or the baseline failed, its runs lack it) is NAN, its verdict undecided.
 * Pure: the same samples, the same figures, whatever the file says. But a workload of which no entry has a run keeps what it says: a result is
 * published without its runs, and has nothing else. */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_FIGURES_H
#define MALLAB_RESULTS_MEASURE_FIGURES_FIGURES_H

#include <jansson.h>

#include "results/measure/result/result.h"

/* res_result_judge - once where a result has been made, and once where one has been read.
 * res_workload_judge - of one workload, all but the verdict.
 *
 * Candidates are judged at once: the more there are, the sooner one of them looks different by chance. A verdict of time that does not hold for
 * all of them together (res_holm) is withdrawn, to `same` where the interval leaves out what was to be resolved: of seven equals one was called different
 * in a fifth of the tables without it, in 2 % with it (tests/statistics/family.c). */
void res_result_judge(struct res_result *result);
void res_workload_judge(struct res_result_workload *workload);

/* ---- metric.c: percentiles of single calls, medians over the latency passes, which have them.
 *
 * Net of the clock's cost, not of the floor's latency: percentiles of two distributions cannot be subtracted. `max_ns` is the largest of all.
 * Against the baseline's they are judged with the others (figures.h). */

/* res_latency_read - the passes of an entry, without figures. To be freed (and released) as part of a result; NULL when there was none.
 * passes  array of what the runs printed; NULL: there was none
 * failed  why a pass failed, one line; NULL: none did */
struct res_latency_figures *res_latency_read(const json_t *passes, const char *failed);

/* res_latency_measure - the figures of an entry that has passes, anew.
 * floor  what is subtracted of means; NULL: nothing */
void res_latency_measure(struct res_result_entry *entry, const struct res_result_entry *floor);

#endif
