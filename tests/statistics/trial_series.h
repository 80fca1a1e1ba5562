/* trial_series.h - the series that `mallab check` reads from a result, of a trial that was never written. */
#ifndef MALLAB_TESTS_STATISTICS_TRIAL_SERIES_H
#define MALLAB_TESTS_STATISTICS_TRIAL_SERIES_H

#include "results/measure/experiment/experiment.h"
#include "results/measure/figures/metric.h"
#include "results/report/gate/budget_check.h"

/* trial_series - time of an entry. Its batches are the trial's, which must stay. */
struct res_series trial_series(const struct res_trial *trial, size_t entry);
/* trial_floor_series - of the floor, nothing subtracted. */
struct res_series trial_floor_series(const struct res_trial *trial);

/* trial_outcome - what `mallab check` says of a candidate's time against a limit, 1.03 being +3 % to the baseline.
 * ret_tails  that the test at the limit alone says; may be NULL */
enum res_outcome trial_outcome(const struct res_trial *trial, size_t candidate, double limit,
                               struct res_tails *ret_tails);

#endif
