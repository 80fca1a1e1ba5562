/* start_costs.h - what a process pays for its allocator before it has called it: true(1), started under each candidate as
 * a program would be, interleaved. Every process image pays it, so a make of 500 compilers pays it 500 times.
 *
 * Loading, relocating and initialising the library is in it, and the pages that this touches: processor time as the kernel
 * counts it. What replays measure begins behind all that. */
#ifndef MALLAB_RESULTS_MEASURE_EXPERIMENT_START_COSTS_H
#define MALLAB_RESULTS_MEASURE_EXPERIMENT_START_COSTS_H

#include "results/measure/run/trial.h"

/* res_start_costs - start it options->starts times under each, round by round, but for RES_STARTS_NS in all at most.
 * ret_costs  one for each candidate; all unknown where true(1) is not there, or ends otherwise under it. */
void res_start_costs(const struct res_options *options, struct res_start_cost *ret_costs);

/* res_start_costs_of - the medians of what was taken; rounds of both belong together. For tests.
 * cpu_ns  of each start. base: the baseline's, in the same rounds. */
struct res_start_samples {
    double *cpu_ns;
    size_t count;
};
struct res_start_cost res_start_costs_of(const struct res_start_samples *own,
                                         const struct res_start_samples *base);

#endif
