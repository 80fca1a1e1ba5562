/* removal.h - what is saved where some call sites are left out of a workload: the workload as it is, and without the objects of those sites, as
 * two trials whose rounds went on together (trial.h, in_turn).
 *
 *   saved   with less without: resident bytes at the peak, by the medians; CPU time in all calls by steady times (steady.h), each less its own
 *           floor, because the harness' share follows the ops, which are not the same
 *   spread  how far two measurements of the same lie apart: of memory by the control and the rounds' own deviation; of time by the control, which
 *           saves the same as the baseline
 *   shown   more than the spread, and of time with a 95 % interval that leaves out 0 */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_REMOVAL_H
#define MALLAB_RESULTS_MEASURE_FIGURES_REMOVAL_H

#include "results/measure/result/result.h"
#include "results/measure/run/trial.h"

/* res_removal_fill - the removal of a result.
 * trials  two, with and without; borrowed.
 * words   which sites: for people.
 * result  of these two trials, in that order. */
void res_removal_fill(const struct res_trial *trials, const char *words, struct res_result *result);

#endif
