/* many.h - what many workloads say together: means over them, their spread, and which of them stand out.
 *
 *   y       the logarithm of a workload's ratio; v the square of its standard error
 *   w       its share, not negative; shares need not add up to 1
 *   n_eff   how many workloads of equal share say as much: (sum w)^2 / sum w^2
 *   tau^2   variance of what is true of the workloads, without the noise of their figures
 *
 * The mean is weighted by share, not by precision: a host does not count more because its node was quiet. Its interval comes from the spread
 * between workloads, which holds the noise of each already. Below some 30 workloads it does not cover a rare class of
 * others: none may be among them (docs/notes/statistics.md has the coverage).
 *
 * All functions are pure: arrays are of `count` finite numbers, and the order of sums is that of the arrays.
 * Sources  n_eff: L. Kish, "Survey sampling" (1965), section 11.7; tau^2: R. C. Paule, J. Mandel, "Consensus values and weighting factors",
 *          Journal of Research of the National Bureau of Standards 87 (1982), that the equation has one root: R. DerSimonian, R. Kacker,
 *          "Random-effects model for meta-analysis of clinical trials: an update", Contemporary Clinical Trials 28 (2007); another workload:
 *          J. Higgins, S. Thompson, D. Spiegelhalter, "A re-evaluation of random-effects meta-analysis", Journal of the Royal Statistical
 *          Society A 172 (2009); jackknife: J. Tukey, "Bias and confidence in not-quite large samples", Annals of
 *          Mathematical Statistics 29 (1958); bound of a quantile: S. Wilks, "Determination of sample sizes for setting tolerance limits",
 *          Annals of Mathematical Statistics 12 (1941); shrinking: B. Efron, C. Morris, "Stein's estimation rule and its competitors", JASA 68 (1973) */
#ifndef MALLAB_RESULTS_MEASURE_STATISTICS_MANY_H
#define MALLAB_RESULTS_MEASURE_STATISTICS_MANY_H

#include <stddef.h>

#include "results/measure/statistics/statistics.h"

/* res_many_effective - n_eff; 0 where no share is above 0. */
double res_many_effective(const double *shares, size_t count);

/* res_many_mean - the share-weighted mean; its squared error is n_eff / (n_eff - 1) * sum w^2 (y - mean)^2, w adding up to 1, with n_eff - 1
 * degrees of freedom. Of equal shares that is Student's. Error NAN with n_eff of 1, value NAN without shares. */
struct res_logarithm res_many_mean(const double *values, const double *shares, size_t count);

/* res_many_these - the same mean where these workloads are all that there are: nothing but the noise of each is uncertain, sum w^2 v. Its freedom
 * stands for the normal distribution. */
struct res_logarithm res_many_these(const double *values, const double *variances, const double *shares,
                                    size_t count);

/* What a random-effects model says. */
struct res_many_spread {
    double tau2;  /* Paule and Mandel; NAN under 2 workloads */
    double mean;  /* weighted by 1 / (v + tau^2) */
    double error; /* of it: 1 / sqrt(sum of these) */
};

/* res_many_spread - variances below rounding count as rounding, so that no workload weighs endlessly. */
struct res_many_spread res_many_spread(const double *values, const double *variances, size_t count);

/* res_many_new - the interval that another workload's y typically falls into: mean -+ t(count - 2) sqrt(tau^2 + error^2). NAN under 3 workloads. */
struct res_interval res_many_new(struct res_logarithm mean, double tau2, size_t count);

/* res_many_total - the logarithm of the ratio of two sums, sum a r / sum a, with the error of the jackknife that leaves out one
 * workload at a time; the freedom is n_eff - 1 of `shares`. Error NAN under 2 workloads.
 * amounts  a: what each workload takes under the baseline, positive
 * ratios   r: positive */
struct res_logarithm res_many_total(const double *amounts, const double *ratios, const double *shares,
                                    size_t count);

/* res_many_total_these - the same ratio where these workloads are all that there are: the noise of each alone, v being of ln r. */
struct res_logarithm res_many_total_these(const double *amounts, const double *ratios,
                                          const double *variances, size_t count);

#endif
