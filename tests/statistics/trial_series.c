/* trial_series.c - series of a trial's runs. */
#include "statistics/trial_series.h"

#include <stdlib.h>

#include "footprint/base/support.h"

static struct res_series series_of(const struct res_entry *entry)
{
    struct res_series series = {.values = res_calloc(entry->run_count, sizeof *series.values),
                                .count = entry->run_count,
                                .batches = res_calloc(entry->run_count, sizeof *series.batches),
                                .batch_count = entry->runs[0].batch_count,
                                .ops = (double)entry->runs[0].ops};
    for (size_t i = 0; i < entry->run_count; i++) {
        series.values[i] = entry->runs[i].ns_per_op;
        series.batches[i] = entry->runs[i].batch_ns;
    }
    return series;
}

struct res_series trial_floor_series(const struct res_trial *trial)
{
    return series_of(res_trial_floor(trial));
}

struct res_series trial_series(const struct res_trial *trial, size_t entry)
{
    struct res_series series = series_of(&trial->entries[entry]), floor = trial_floor_series(trial);
    const struct res_batches batches = res_series_batches(&floor);
    series.floor_ns = res_steady_ns(&batches);
    trial_series_drop(&floor);
    return series;
}

void trial_series_drop(struct res_series *series)
{
    free(series->values);
    free(series->batches);
    *series = (struct res_series){0};
}
