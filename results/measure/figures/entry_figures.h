/* entry_figures.h - figures of a result that follow from others in it. What cannot be had is NAN.
 *
 *   faults_minor  median over the timed runs of the minor page faults of a run
 *   blow_up       peak resident over the workload's live peak: 1.0 would be no byte more than was asked for. The two peaks
 *                 need not be of one moment; `waste` has resident and live bytes of one
 *   beaten_by     pareto.h
 *   percentiles   of single calls against the baseline's, with the control's as noise. Each latency pass holds every entry
 *                 once, so ratios are paired, and the interval is Student's (metric.h). A verdict takes RES_ROUNDS_OF_PASSES
 *                 of both sides and of the control: without noise of its own there is none
 *   limit         of memory: `limit_bytes`, and `limit_by`, the kernel's means (replay/system/run_limit.h). A run is "at it" that
 *                 reached the limit of its group; the kernel took pages back, and it went on. A container of that size is too small by little
 *   drift         a trend of the pace over the rounds, from the first to the last, as a share. Pace of a round: median over the entries
 *                 of how much longer their runs of this round took than their own median
 * Sources         drift: H. B. Mann, "Nonparametric tests against trend", Econometrica 13 (1945), told above 3 sigma; its size by
 *                 P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA 63 (1968) */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_ENTRY_FIGURES_H
#define MALLAB_RESULTS_MEASURE_FIGURES_ENTRY_FIGURES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "results/measure/result/result.h"
#include "results/measure/run/trial.h"

/* res_entry_figures_fill - what is held from the start (held.h), the first two of a workload's entries, where they are not known, and `beaten_by` by the rules of
 * today, as advice and page have it.
 * res_entry_figures_complete - likewise of all workloads: results of before do not have them. */
void res_entry_figures_fill(struct res_result_workload *workload);
void res_entry_figures_complete(struct res_result *result);

/* res_latency_judge - the last of each candidate that has latency passes, but the baseline, and of the control, whose
 * verdict is against no noise. */
void res_latency_judge(struct res_result_workload *workload);

/* res_latency_of - medians of the percentiles over the passes, net of the clock's cost (not of the floor's latency: percentiles of two
 * distributions cannot be subtracted); `max_ns` is the largest. typical_ns is the median of the passes' means less the same of the
 * floor, quiet_ns the least of them likewise; neither below 0, and a group of calls that the floor lacks is not netted. With every pass in them. To be freed (and released) as part of a result; NULL when there was no
 * pass.
 * passes  array of what the runs printed; NULL: there was none
 * failed  why a pass failed, one line; NULL: none did
 * floor   the floor's passes; NULL: nothing is subtracted, as for the floor itself. */
struct res_latency_figures *res_latency_of(const json_t *passes, const char *failed, const json_t *floor);

/* res_limit_by - the JSON's word for the means of an experiment's limit; NULL when there is none.
 * res_limit_entry - `limit` of an entry, over all its runs that tell, to be freed; NULL without a limit. */
const char *res_limit_by(const struct res_options *options);
struct res_limited *res_limit_entry(const struct res_options *options, const struct res_entry *entry);

struct res_drift {
    double share;     /* 0.2: the last rounds took 20 % longer than the first; NAN under 4 rounds */
    bool significant; /* more than chance */
};

/* res_drift_of - of one pace for each round, in their order.
 * res_drift_fill - of a workload. */
struct res_drift res_drift_of(const double *paces, size_t count);
void res_drift_fill(const struct res_trial *trial, struct res_result_workload *ret_workload);

#endif
