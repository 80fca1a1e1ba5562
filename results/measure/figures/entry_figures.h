/* entry_figures.h - figures of one entry of a result (result_json.h) that follow from others in it, so that results of before
 * have them too. What cannot be had is NAN. */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_ENTRY_FIGURES_H
#define MALLAB_RESULTS_MEASURE_FIGURES_ENTRY_FIGURES_H

#include <jansson.h>

#include "results/measure/result/result.h"

/* res_entry_faults - median over the timed runs of the minor page faults of a run. */
double res_entry_faults(const json_t *entry);

/* res_entry_blow_up - peak resident over the workload's live peak: 1.0 would be no byte more than was asked for. The two
 * peaks need not be of one moment; `waste` has resident and live bytes of one. */
double res_entry_blow_up(const json_t *workload, const json_t *entry);

/* res_entry_figures_complete - fill these members where a result of before has none, and `beaten_by` by the rules of today
 * (pareto.h), as advice and page have it. */
void res_entry_figures_complete(struct res_result *result);

/* res_entry_figures_add - put both into each candidate of a workload, as `faults_minor` and `blow_up`, and `beaten_by`
 * (pareto.h). The workload is complete but for these. */
void res_entry_figures_add(json_t *workload);

#endif
