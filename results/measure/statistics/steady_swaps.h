/* steady_swaps.h - chance between two sides whose rounds belong together: names swapped within the rounds (steady.h); steady*.c only. */
#ifndef MALLAB_RESULTS_MEASURE_STATISTICS_STEADY_SWAPS_H
#define MALLAB_RESULTS_MEASURE_STATISTICS_STEADY_SWAPS_H

#include "results/measure/statistics/steady_cells.h"

/* steady_strays - logarithms of the ratio of net steady times over RES_RESAMPLES random swaps; the caller's to free. NULL where a swap leaves nothing
 * above the floor (base's, of both).
 * scale, base_scale  other's times are divided by the one, base's multiplied by the other: so that only chance is left between the sides.
 * Both have the same number of rounds and batches. */
double *steady_strays(const struct steady_side *other, const struct steady_side *base, double scale,
                      double base_scale, uint64_t seed);

/* steady_effective_rounds - how many rounds a steady time rests on: Kish's effective number, of the shares that the rounds have in its fastest
 * quarters. All of them where each batch has other fastest rounds; a quarter where the same ones are fastest throughout, as when a machine becomes
 * slower. */
double steady_effective_rounds(const struct steady_side *other, const struct steady_side *base);

#endif
