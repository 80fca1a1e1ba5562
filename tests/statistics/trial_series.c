/* trial_series.c - series of a trial's runs. */
#include "statistics/trial_series.h"

#include <stdlib.h>

#include "footprint/base/support.h"

static struct res_series series_of(const struct res_entry *entry)
{
    struct res_series series = {.values = res_calloc(entry->run_count, sizeof *series.values),
                                .count = entry->run_count,
                                .time = res_run_batches_of(entry->runs, entry->run_count),
                                .is_control = entry->is_control,
                                .ops = (double)entry->runs[0].ops};
    for (size_t i = 0; i < entry->run_count; i++)
        series.values[i] = entry->runs[i].ns_per_op;
    return series;
}

struct res_series trial_floor_series(const struct res_trial *trial)
{
    return series_of(res_trial_floor(trial));
}

struct res_series trial_series(const struct res_trial *trial, size_t entry)
{
    const struct res_entry *floor = res_trial_floor(trial), *control = res_trial_control(trial);
    struct res_series series = series_of(&trial->entries[entry]);
    series.floor = res_run_batches_of(floor->runs, floor->run_count);
    if (entry == 0)
        series.control = res_run_batches_of(control->runs, control->run_count);
    return series;
}

enum res_outcome trial_outcome(const struct res_trial *trial, size_t candidate, double limit,
                               struct res_tails *ret_tails)
{
    const struct res_interval no_noise = {1, 1};
    struct res_series own = trial_series(trial, candidate), base = trial_series(trial, 0);
    const struct res_logarithm change = res_series_logarithm(&own, &base);
    const struct res_estimate estimate = res_logarithm_estimate(change);
    const struct res_tails tails = res_logarithm_tails(change, limit);
    const char *why;
    if (ret_tails != NULL)
        *ret_tails = tails;
    res_series_release(&own);
    res_series_release(&base);
    return res_judge_limit(&estimate, limit, no_noise, tails, &why);
}
