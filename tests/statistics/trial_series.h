/* trial_series.h - what `mallab ab` and `mallab check` make of a trial that was never written. */
#ifndef MALLAB_TESTS_STATISTICS_TRIAL_SERIES_H
#define MALLAB_TESTS_STATISTICS_TRIAL_SERIES_H

#include "results/measure/figures/figures.h"
#include "results/report/beside/beside.h"
#include "statistics/samples.h"

/* trial_workload - the trial as a result has it, judged (figures.h). Its runs are the trial's, which must stay.
 * resolve  the difference that was asked for; 0: none */
void trial_workload(const struct trial *trial, double resolve, struct res_result_workload *ret_workload);
void trial_workload_drop(struct res_result_workload *workload);

/* trial_series - time of an entry. Its batches are the trial's, which must stay.
 * trial_floor_series - of the floor, nothing subtracted. */
struct res_series trial_series(const struct trial *trial, size_t entry);
struct res_series trial_floor_series(const struct trial *trial);

/* trial_outcome - what `mallab check` says of a candidate's time against a limit, 1.03 being +3 % to the baseline.
 * ret_tails  that the test at the limit alone says; may be NULL */
enum res_outcome trial_outcome(const struct trial *trial, size_t candidate, double limit,
                               struct res_tails *ret_tails);

#endif
