/* removal.h - what is saved where call sites are left out of a workload: the workload as it is, twice, and one without the objects of each
 * choice of sites, as trials whose rounds went on together (trial.h, in_turn).
 *
 *   saved   with less without: resident bytes at the peak, by the medians; CPU time in all calls by steady times (steady.h), each less its own
 *           floor, because the harness' share follows the ops, which are not the same
 *   spread  how far two measurements of the same lie apart: of memory by the control and the rounds' own deviation; of time by the workload as it is,
 *           which is replayed twice in each round: leaving out nothing
 *   shown   more than the spread, and time with a 95 % interval that leaves out 0
 *
 * Each is what the rest of the program saves without those sites alone, so they do not add up. */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_REMOVAL_H
#define MALLAB_RESULTS_MEASURE_FIGURES_REMOVAL_H

#include "results/measure/result/result.h"
#include "results/measure/run/trial.h"

/* What is left out. */
struct res_removal_of {
    const char *words; /* for people; borrowed */
    uint64_t allocations;
};

#define RES_REMOVAL_WHOLE 2u /* trials of the workload as it is */

/* res_removals_fill - the removals of a result's first workload, of which one is left then.
 * trials  those with all, and those without, in the order of the result's workloads; memory is told of memory passes alone, where there can be any.
 * of      of each of the latter. */
void res_removals_fill(const struct res_trial *trials, const struct res_removal_of *of,
                       struct res_result *result);

/* res_removals_sort - what saves most time under the baseline first. */
void res_removals_sort(struct res_result_workload *workload);

#endif
