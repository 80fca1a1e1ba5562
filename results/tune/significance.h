/* significance.h - how often chance alone would show a difference as large: two-sided p-values of paired ratios.
 *
 * The result of a search is many comparisons at once, so each is asked for more than 95 %: with m of them, p below 0.05 / m
 * (Bonferroni) leaves 5 % for all together. Pure; ratios are positive. */
#ifndef MALLAB_RESULTS_TUNE_SIGNIFICANCE_H
#define MALLAB_RESULTS_TUNE_SIGNIFICANCE_H

#include <stddef.h>

#define RES_SIGNED_RANK_MAX 60u /* ratios; more are cut off */

/* res_signed_rank_p - Wilcoxon's signed-rank test of the logarithms against 0, exact: no shape of the noise is supposed but that it
 * is as likely up as down, which shuffled rounds see to. Outliers, of which shared machines have many, count by rank only.
 * Returns   1 when there is nothing but zeros. The least possible is 2^(1 - count): 10 ratios reach 0.002.
 * Source    F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945); zeros left out, middle ranks
 *           for ties, and the distribution counted over all signs of the ranks that there are. */
double res_signed_rank_p(const double *ratios, size_t count);

/* res_student_p - Student's test of the mean logarithm against 0: for memory, of which there are few samples with little noise.
 * Returns   1 under 2 ratios; 0 or 1 when all are the same, and not or exactly 1.
 * Source    "Student", Biometrika 6 (1908); the probability by the finite sums for whole degrees of freedom in M. Abramowitz,
 *           I. Stegun, "Handbook of Mathematical Functions" (1964), 26.7.3 and 26.7.4. */
double res_student_p(const double *ratios, size_t count);

#endif
