/* entry_figures.h - figures of a result that follow from others in it. What cannot be had is NAN.
 *
 *   faults_minor  median over the timed runs of the minor page faults of a run
 *   blow_up       peak resident over the workload's live peak: 1.0 would be no byte more than was asked for. The two peaks
 *                 need not be of one moment; `waste` has resident and live bytes of one
 *   beaten_by     pareto.h
 *   percentiles   of single calls against the baseline's, with the control's as noise. Each latency pass holds every entry
 *                 once, so ratios are paired, and the interval is Student's (metric.h). A verdict takes RES_ROUNDS_OF_PASSES
 *                 of both sides and of the control: without noise of its own there is none */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_ENTRY_FIGURES_H
#define MALLAB_RESULTS_MEASURE_FIGURES_ENTRY_FIGURES_H

#include "results/measure/result/result.h"

/* res_entry_figures_fill - the first two of a workload's entries, where they are not known, and `beaten_by` by the rules of
 * today, as advice and page have it.
 * res_entry_figures_complete - likewise of all workloads: results of before do not have them. */
void res_entry_figures_fill(struct res_result_workload *workload);
void res_entry_figures_complete(struct res_result *result);

/* res_latency_judge - the last of each candidate that has latency passes, but the baseline, and of the control, whose
 * verdict is against no noise. */
void res_latency_judge(struct res_result_workload *workload, uint64_t seed);

#endif
