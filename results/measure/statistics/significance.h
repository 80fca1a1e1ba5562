/* significance.h - what follows from a logarithm and its error: interval, p-values at a limit; and of many comparisons.
 *
 *   logarithm  of a ratio, made by one of four procedures: steady.h (time), res_trimmed_logarithm (pairs of passes or rounds),
 *              res_logarithms_difference (two experiments), many.h (hosts). Everything else follows from it here
 *   tails      one-sided, at a limit (struct res_tails): whether the ratio is above it, and whether it is not
 *   many       of m comparisons with nothing to find one in 20 would show something: res_holm
 *
 * A logarithm without error leaves no doubt; -INFINITY is the ratio 0. Pure. */
#ifndef MALLAB_RESULTS_MEASURE_STATISTICS_SIGNIFICANCE_H
#define MALLAB_RESULTS_MEASURE_STATISTICS_SIGNIFICANCE_H

#include <stddef.h>

#include "results/measure/statistics/statistics.h"

/* res_holm - p-values of `count` comparisons that are made at once, in place: each as large as it has to be so that those below a
 * level are all chance in no more than that share of the families, whatever depends on what. NAN and what is above 1 are left out.
 * Source  S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979). */
void res_holm(double *p_values, size_t count);

/* res_logarithms_difference - of two logarithms that were measured apart: freedom by Welch and Satterthwaite.
 * Source  B. L. Welch, "The generalization of 'Student's' problem when several different population variances are involved", Biometrika 34 (1947) */
struct res_logarithm res_logarithms_difference(struct res_logarithm one, struct res_logarithm two);

/* res_logarithm_estimate - the ratio with Student's interval; p_value is of whether it is 1. The interval is NAN where there is no error.
 * res_logarithm_tails - Student's one-sided p-values at a limit of the ratio, which is 0 or more; {1, 1} where there is no error. */
struct res_estimate res_logarithm_estimate(struct res_logarithm logarithm);
struct res_tails res_logarithm_tails(struct res_logarithm logarithm, double limit);

#endif
