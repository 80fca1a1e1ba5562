/* steady.h - the time of a workload with what disturbs the machine left out, and how sure a ratio of two such times is.
 *
 *   batch    a fixed piece of the op sequence, some hundred microseconds long: the same ops in every run. A run without batches is one
 *   part     of the rounds, the fastest: a quarter; of a ratio a half, quarter, eighth or sixteenth, the one whose interval is the
 *            narrowest (parts of less than 4 rounds are not tried, but for the quarter). A machine that is fast now and then is met in its fast
 *            state by few rounds; one that drifts wants many
 *   steady   for each batch the mean of the fastest part of the rounds, added up over the batches
 *   floor    what the harness takes itself, in the same sum: subtracted of all sides of a ratio
 *   share    of a round in a steady time: over the batches the sum of q - (q - t)+ / part, t being the round's time and q the slowest of
 *            the part. Their mean over the rounds is the steady time, so that each round gives one number
 *
 * A ratio is that of other to base, or to the geometric mean of base and control, which are the same allocator: half of the baseline's own
 * error goes out. The logarithm's error is that of the mean of what the rounds say of it: (share of other - mean) / time, less the same of base
 * and control. So what a round did to all of them goes out, and nothing inside a round is taken for independent. Degrees of freedom: one less
 * than the rounds that the fastest parts really rest on (Kish's effective number); the variance is divided by the rounds less 1 / part, as that of a
 * trimmed mean is (Yuen). One test: Student's, for verdicts and limits alike.
 *
 * Why parts: what disturbs a run (another process, a neighbour on the host) comes for milliseconds to seconds and makes it slower only. A robust
 * mean of paired ratios has to be skewed then, and was: 1.4 % with control (docs/notes/statistics.md).
 * Sources: expectation of a tail by its quantile: R. T. Rockafellar, S. Uryasev, "Optimization of conditional value-at-risk", Journal of Risk 2
 * (2000); errors by each sample's influence: F. R. Hampel, "The influence curve and its role in robust estimation", JASA 69 (1974); effective
 * number: L. Kish, "Survey sampling" (1965), section 11.7; trimmed means: K. K. Yuen, Biometrika 61 (1974).
 *
 * All functions are pure. Times are in ns. */
#ifndef MALLAB_RESULTS_MEASURE_STATISTICS_STEADY_H
#define MALLAB_RESULTS_MEASURE_STATISTICS_STEADY_H

#include <stddef.h>
#include <stdint.h>

#include "results/measure/statistics/statistics.h"

/* The batch times of one entry. rounds[r] points at batch_count times. */
struct res_batches {
    const uint64_t *const *rounds;
    size_t round_count, batch_count;
};

/* What a ratio is made of. Base's rounds belong to other's, those of as many as all have; NULL or without rounds: there is none. */
struct res_steady_sides {
    const struct res_batches *other, *base;
    const struct res_batches *control; /* the base once more; may be NULL */
    const struct res_batches *floor;   /* its rounds are as many as it has; may be NULL */
};

/* res_steady_net_ns - the steady time of the whole less the floor's, where that has the same batches; NAN where nothing is left, or there are no rounds.
 * floor may be NULL. */
double res_steady_net_ns(const struct res_batches *batches, const struct res_batches *floor);

/* res_steady_logarithm - of the net ratio, or of other's own net time where base is NULL; with its error. Value NAN where a side has no rounds, batches differ, or
 * a time is not above its floor. Intervals, p-values and tests at a limit follow from it: significance.h. */
struct res_logarithm res_steady_logarithm(const struct res_steady_sides *sides);

/* res_steady_rounds - the same.
 * ret_says  of each round that all sides have, by how much the logarithm would be another if all were like it; NULL: not asked. */
struct res_logarithm res_steady_rounds(const struct res_steady_sides *sides, double *ret_says);

#endif
