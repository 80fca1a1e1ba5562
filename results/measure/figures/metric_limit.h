/* metric_limit.h - whether a metric is above a limit: the test that belongs to how it is estimated (metric.h).
 *
 *   paired, time with batches     the permutation test of steady times, shifted to the limit (steady.h)
 *   passes                        Student's t of the mean logarithm
 *   other series, single or paired  the sign test of the samples, or of each round's ratio
 *   unpaired, rounds              the permutation test of two samples (two_samples.h)
 *   unpaired, others              the estimate's interval, read as Student's; times of two sessions: bridge.h
 * Sources in significance.h, two_samples.h and steady.h. Pure: the same seed, the same p-values. */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_METRIC_LIMIT_H
#define MALLAB_RESULTS_MEASURE_FIGURES_METRIC_LIMIT_H

#include "results/measure/figures/metric.h"
#include "results/measure/statistics/significance.h"

/* res_limit_value / _paired / _unpaired - one-sided p-values of the estimate of the same name; {1, 1} where there is no figure.
 * limit     of the figure, or of the ratio; >= 0
 * estimate  what res_estimate_unpaired said of the same series */
struct res_tails res_limit_value(const struct res_series *series, double limit);
struct res_tails res_limit_paired(const struct res_series *other, const struct res_series *base, double limit,
                                  uint64_t seed);
struct res_tails res_limit_unpaired(const struct res_series *other, const struct res_series *base,
                                    const struct res_estimate *estimate, double limit, uint64_t seed);

#endif
