/* trial_series.h - the series that `mallab check` reads from a result, of a trial that was never written. */
#ifndef MALLAB_TESTS_STATISTICS_TRIAL_SERIES_H
#define MALLAB_TESTS_STATISTICS_TRIAL_SERIES_H

#include "results/measure/experiment/experiment.h"
#include "results/measure/figures/metric.h"

/* trial_series - time of an entry. Its batches are the trial's, which must stay. */
struct res_series trial_series(const struct res_trial *trial, size_t entry);
/* trial_floor_series - of the floor, nothing subtracted. */
struct res_series trial_floor_series(const struct res_trial *trial);

#endif
