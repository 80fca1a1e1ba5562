/* two_samples.h - whether one of two independent samples is more than a limit above the other: rounds of two experiments, which belong to no pairs.
 *
 *   test  of the mean logarithms, once the one sample is divided by the limit: t with each side's own variance, held against the same figure of
 *         random divisions of all samples into two sets of those sizes. Where both are alike but for the limit that is exact; where one sample
 *         spreads more than the other, the figure's own variances see to it that it is right with many samples, and nearly so with few
 * Pure; the same seed, the same p-values.
 * Source  E. J. G. Pitman, "Significance tests which may be applied to samples from any populations", Supplement to the Journal of the Royal
 *         Statistical Society 4 (1937); A. Janssen, "Studentized permutation tests for non-i.i.d. hypotheses and the generalized
 *         Behrens-Fisher problem", Statistics and Probability Letters 36 (1997); counting the division that was seen as one of them: B. Phipson,
 *         G. K. Smyth, "Permutation p-values should never be zero", Statistical Applications in Genetics and Molecular Biology 9 (2010) */
#ifndef MALLAB_RESULTS_MEASURE_STATISTICS_TWO_SAMPLES_H
#define MALLAB_RESULTS_MEASURE_STATISTICS_TWO_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "results/measure/statistics/statistics.h"

/* res_two_sample_tails - one-sided p-values of the ratio of `other` to `base`. Samples that are all the same on each side leave no doubt. Where no
 * division strays as far, p is Student's, since families of many tests need less than one of RES_RESAMPLES (significance.h).
 * Returns  {1, 1} where a sample or the limit is not positive, or a side has less than two. */
struct res_tails res_two_sample_tails(const double *other, size_t other_count, const double *base,
                                      size_t base_count, double limit, uint64_t seed);

/* res_logarithms_difference - of two logarithms that were measured apart: freedom by Welch and Satterthwaite.
 * Source  B. L. Welch, "The generalization of 'Student's' problem when several different population variances are involved", Biometrika 34 (1947) */
struct res_logarithm res_logarithms_difference(struct res_logarithm one, struct res_logarithm two);

/* res_logarithm_estimate - the ratio with Student's interval; p_value is of whether it is 1. All NAN where there is none.
 * res_logarithm_tails - Student's one-sided p-values at a limit of the ratio; {1, 1} where there is none. */
struct res_estimate res_logarithm_estimate(struct res_logarithm logarithm);
struct res_tails res_logarithm_tails(struct res_logarithm logarithm, double limit);

#endif
