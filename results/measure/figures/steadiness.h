/* steadiness.h - whether the machine stayed the same while an experiment ran. Nothing is dropped for it: it is told.
 *
 *   pace     of a round: median over the entries of how much longer their runs of this round took than their own median
 *   drift    a trend of the pace over the rounds: from the first to the last, as a share
 *   outlier  a run that is further from its entry's median than RES_OUTLIER_DEVIATIONS times 1.4826 median absolute deviations (that is
 *            so many sigma, where times are normally distributed), and by RES_OUTLIER_LEAST of the median at least
 * Sources  drift: H. B. Mann, "Nonparametric tests against trend", Econometrica 13 (1945), told above 3 sigma; its size by P. K. Sen,
 *          "Estimates of the regression coefficient based on Kendall's tau", JASA 63 (1968). Outliers: F. R. Hampel, JASA 69 (1974). */
#ifndef MALLAB_RESULTS_MEASURE_FIGURES_STEADINESS_H
#define MALLAB_RESULTS_MEASURE_FIGURES_STEADINESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "results/measure/result/result.h"
#include "results/measure/trial/trial.h"

#define RES_OUTLIER_DEVIATIONS 5.0
#define RES_OUTLIER_LEAST      0.05

struct res_drift {
    double share;     /* 0.2: the last rounds took 20 % longer than the first; NAN under 4 rounds */
    bool significant; /* more than chance */
};

/* res_drift_of - of one pace for each round, in their order. */
struct res_drift res_drift_of(const double *paces, size_t count);

/* res_outliers_of - how many of the samples are outliers; ret_worst is the index of the one furthest off, set only where there is one. */
size_t res_outliers_of(const double *samples, size_t count, size_t *ret_worst);

/* res_steadiness_fill - `steadiness` of a workload: drift and outliers. */
void res_steadiness_fill(const struct res_trial *trial, struct res_result_workload *ret_workload);

#endif
