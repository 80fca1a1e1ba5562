/* combine.h - settings that promise something alone, put together. */
#ifndef MALLAB_RESULTS_MEASURE_TUNE_COMBINE_H
#define MALLAB_RESULTS_MEASURE_TUNE_COMBINE_H

#include "results/measure/tune/screen.h"

/* res_tune_combine - add combined points to the space, for each base:
 *   all that save time together, all that save memory together, all that save one without costing the other; then pairs of the
 *   best, those first that promise most.
 * A single promises when its estimate is more than one standard error, and more than RES_TUNE_WORTH, below the default's (or,
 * of other bases, below that base's own). Of each setting the fastest and the smallest value take part.
 * Settings that only help together, and not one of them alone, are not found: that would take a try of every pair.
 * Returns  how many were added. */
size_t res_tune_combine(struct res_tune_space *space, const struct res_tune_noise *noise);

#endif
