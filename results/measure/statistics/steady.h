/* steady.h - the time of a workload with what disturbs the machine left out, from batches that were timed one by one.
 *
 *   batch    a fixed piece of the op sequence, some hundred microseconds long: the same ops in every run
 *   steady   for each batch the mean of the fastest quarter of the rounds, added up over the batches
 *   floor    what the harness takes itself, in the same sum: subtracted of both sides of a ratio
 *
 * Why: what disturbs a run (another process, a neighbour on the host, an interrupt) comes for some milliseconds to seconds, so that
 * in some rounds each batch is undisturbed, while hardly a whole run is. On two processors shared with other work the ratio of
 * whole-run medians of 10 rounds strayed by 8-15 %, that of steady times by 1-2 % (docs/notes/statistics.md). The least over the rounds
 * (res_quiet_ns) is a record: more rounds do not steady it, and no resampling tells its spread. What an allocator does itself in a fixed
 * place of the op sequence, however rare, is in every round and so in the figure.
 *
 * All functions are pure. Times are in ns. */
#ifndef MALLAB_RESULTS_MEASURE_STATISTICS_STEADY_H
#define MALLAB_RESULTS_MEASURE_STATISTICS_STEADY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/statistics/statistics.h"

/* Cells that are looked at in every resample; where rounds times batches are more, neighbouring batches are put together, so that an
 * interval takes some seconds at most. */
#define RES_STEADY_CELLS 524288u

#define RES_STEADY_PART 4u /* of the rounds, the fastest one in so many: a quarter */

/* The batch times of one entry. rounds[r] points at batch_count times. */
struct res_batches {
    const uint64_t *const *rounds;
    size_t round_count, batch_count;
};

/* res_steady_ns - the steady time of the whole. round_count > 0. */
double res_steady_ns(const struct res_batches *batches);

/* res_steady_paired - the ratio of steady time to base's, rounds of both belonging together; with a permutation interval.
 * res_steady_unpaired - the same of rounds that do not belong together: each side is resampled for itself.
 * other, base  of the same batches. Where their rounds are not the same number, pairs are as many as both have.
 * floors       a floor for each side (paired: the same). Not resampled: it spreads far less than what it is subtracted of.
 * Permutation  other's times are scaled to base's level. Then, were the two the same, it would not matter which run of a round is called
 *              whose: names are swapped at random in each round, RES_RESAMPLES times, and how far the ratio of steady times then
 *              strays from 1 (95 % quantile of the logarithm's distance) is how far it strays by chance, widened as Student's t is for
 *              the number of rounds that the ratio really rests on. Unlike a bootstrap, each set
 *              holds every round once: with 8 rounds a resample often has none in which a batch was undisturbed, and the interval
 *              of such a ratio came out ten times as wide as it strayed.
 * p_value      the same swaps of the times as they are: how many stray as far as the ratio did. Since the order within each round was
 *              drawn, this test is exact: it calls equals different in 5 % of the cases, whatever the machine does, where an interval
 *              of few rounds relies on their being alike.
 * Resampling   the expanded percentile interval: as wide as Student's t makes that of a mean of so few rounds, since the plain
 *              percentile interval of 8 or 10 is too narrow. Both: the same seed gives the same interval.
 * Returns      value and interval; all NAN where a side has no rounds or batches, theirs differ, or a time is not above its floor.
 * Sources      effective number: L. Kish, "Survey sampling" (1965), section 11.7. Permutation: E. J. G. Pitman, "Significance tests which may be applied to samples from any populations", Supplement to the
 *              Journal of the Royal Statistical Society 4 (1937). Expanded percentiles: T. C. Hesterberg, "What teachers should know
 *              about the bootstrap", The American Statistician 69 (2015), section 5.3. */
struct res_estimate res_steady_paired(const struct res_batches *other, const struct res_batches *base,
                                      double floor_ns, uint64_t seed);
/* res_steady_tails - the test of res_steady_paired at a limit other than 1: other's times are scaled so that both sides were alike if the net
 * ratio were `limit`, and names are swapped as there. So what lies at the limit is put above it in 5 % of the cases, and below it in 5 %.
 * Where no swap strays as far, p is not left at 1 of RES_RESAMPLES: it is Hoeffding's bound for sums of random signs, but never below
 * one of all swaps that there are. Families of many tests need that (significance.h).
 * Returns   {1, 1} where there is no ratio.
 * Source    W. Hoeffding, "Probability inequalities for sums of bounded random variables", JASA 58 (1963), theorem 2. */
struct res_tails res_steady_tails(const struct res_batches *other, const struct res_batches *base,
                                  double floor_ns, double limit, uint64_t seed);

/* res_steady_logarithm - of the ratio of res_steady_paired, for what compares ratios of two experiments (bridge.h): its error is how far swaps make it
 * stray once both sides are at one level, with one degree of freedom less than the rounds that it really rests on. */
struct res_logarithm res_steady_logarithm(const struct res_batches *other, const struct res_batches *base,
                                          double floor_ns, uint64_t seed);

struct res_estimate res_steady_unpaired(const struct res_batches *other, double other_floor_ns,
                                        const struct res_batches *base, double base_floor_ns, uint64_t seed);

#endif
