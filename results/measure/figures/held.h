/* held.h - what an allocator holds in all.
 *
 *   own start  what an entry held before the first call, less the least that one of the candidates held then, which is the harness'
 *              own. A replay tells it apart from resident memory; the program pays it like any other
 *   held       resident since the first call, and the own start: what peak, mean, end and idle of an entry are, and what is compared,
 *              budgeted and advised by everywhere. Runs have it apart */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_HELD_H
#define MALLAB_RESULTS_MEASURE_FIGURES_HELD_H

#include "results/measure/result/result.h"

/* res_held_fill - the own start of all entries of a workload, added to their figures, which are compared and judged with it. Once: an entry
 * that has one stays as it is. Where the start is not known, as in older results, nothing is added. */
void res_held_fill(struct res_result_workload *workload);

/* res_held_start - the own start of an entry, in bytes; 0 where it is not known. */
double res_held_start(const struct res_result_entry *entry);

#endif
