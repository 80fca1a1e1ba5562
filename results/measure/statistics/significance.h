/* significance.h - how often chance alone would show a difference as large: p-values, of one comparison and of many.
 *
 *   two-sided  whether there is a difference at all
 *   tails      one-sided, at a limit (struct res_tails): whether a figure is above it, and whether it is not
 *   many       of m comparisons with nothing to find one in 20 would show something: the smallest p has to be below 0.05 / m. For a
 *              search that is asked of all of them (Bonferroni), else of one after the other (res_holm)
 * Pure; ratios and limits are positive where logarithms are taken. */
#ifndef MALLAB_RESULTS_MEASURE_STATISTICS_SIGNIFICANCE_H
#define MALLAB_RESULTS_MEASURE_STATISTICS_SIGNIFICANCE_H

#include <stdint.h>

#include <stddef.h>

#include "results/measure/statistics/statistics.h"

/* res_student_tails - whether the mean logarithm is above that of the limit: for passes, of which there are few with little noise. Samples that are
 * all the same leave no doubt. Both 1 under 2 samples. */
struct res_tails res_student_tails(const double *samples, size_t count, double limit);

/* res_sign_tails - whether the median is above the limit: the sign test, exact whatever the samples' distribution. A sample at the limit is not
 * above it. The least p of 8 samples is 0.004.
 * Source  J. Arbuthnot, "An argument for divine providence", Philosophical Transactions 27 (1710); W. J. Conover, "Practical
 *         nonparametric statistics" (1971), chapter 3. */
struct res_tails res_sign_tails(const double *samples, size_t count, double limit);

/* res_interval_tails - tails from an estimate whose 95 % interval is Student's, with so much freedom: where nothing but the interval is there.
 * An interval that is one point leaves no doubt. Both 1 where the estimate is not finite or not positive. */
struct res_tails res_interval_tails(const struct res_estimate *estimate, size_t freedom, double limit);

/* res_holm - p-values of `count` comparisons that are made at once, in place: each as large as it has to be so that those below a
 * level are all chance in no more than that share of the families, whatever depends on what. NAN and what is above 1 are left out.
 * Source  S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979). */
void res_holm(double *p_values, size_t count);

/* res_discoveries - likewise, but of those below a level at most that share is chance, on average.
 * Source  Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57 (1995). */
void res_discoveries(double *p_values, size_t count);

/* res_two_sample_tails - one-sided p-values of the ratio of `other` to `base`, two independent samples: rounds of two experiments, which belong
 * to no pairs. Pure; the same seed, the same p-values.
 * Test     of the mean logarithms, once the one sample is divided by the limit: t with each side's own variance, held against the same figure of
 *          random divisions of all samples into two sets of those sizes. Where both are alike but for the limit that is exact; where one sample
 *          spreads more than the other, the figure's own variances see to it that it is right with many samples, and nearly so with few.
 *          Samples that are all the same on each side leave no doubt. Where no division strays as far, p is Student's, since families of
 *          many tests need less than one of RES_RESAMPLES
 * Returns  {1, 1} where a sample or the limit is not positive, or a side has less than two.
 * Source   E. J. G. Pitman, "Significance tests which may be applied to samples from any populations", Supplement to the Journal of the Royal
 *          Statistical Society 4 (1937); A. Janssen, "Studentized permutation tests for non-i.i.d. hypotheses and the generalized
 *          Behrens-Fisher problem", Statistics and Probability Letters 36 (1997); counting the division that was seen as one of them: B. Phipson,
 *          G. K. Smyth, "Permutation p-values should never be zero", Statistical Applications in Genetics and Molecular Biology 9 (2010) */
struct res_tails res_two_sample_tails(const double *other, size_t other_count, const double *base,
                                      size_t base_count, double limit, uint64_t seed);

/* res_logarithms_difference - of two logarithms that were measured apart: freedom by Welch and Satterthwaite.
 * Source  B. L. Welch, "The generalization of 'Student's' problem when several different population variances are involved", Biometrika 34 (1947) */
struct res_logarithm res_logarithms_difference(struct res_logarithm one, struct res_logarithm two);

/* res_logarithm_estimate - the ratio with Student's interval; p_value is of whether it is 1. The interval is NAN where there is no error.
 * res_logarithm_tails - Student's one-sided p-values at a limit of the ratio; {1, 1} where there is none. */
struct res_estimate res_logarithm_estimate(struct res_logarithm logarithm);
struct res_tails res_logarithm_tails(struct res_logarithm logarithm, double limit);

#endif
