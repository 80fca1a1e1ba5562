/* samples.c - trials cut out of a result, and a workload of a result around a trial's runs. */
#include "statistics/samples.h"

#include <stdio.h>
#include <stdlib.h>

#include "footprint/base/support.h"

void samples_load(const char *path, struct samples *ret_samples)
{
    char *problem = NULL;
    struct samples samples = {0};
    if (!res_result_load(path, &samples.result, &problem) || samples.result.workload_count == 0) {
        fprintf(stderr, "verdicts: cannot read '%s': %s\n", path, problem != NULL ? problem : "no workload");
        exit(EXIT_FAILURE);
    }
    const struct res_result_workload *workload = samples.result.workloads;
    const size_t count = workload->candidate_count;
    struct trial *trial = &samples.trial;
    *trial = (struct trial){.candidate_count = count,
                            .entry_count = count + (workload->floor == NULL ? 1 : 2),
                            .rounds = (unsigned)workload->rounds,
                            .memory_rounds = (unsigned)workload->memory_rounds};
    trial->entries = res_calloc(trial->entry_count, sizeof *trial->entries);
    for (size_t i = 0; i < trial->entry_count; i++) {
        const struct res_result_entry *entry = i < count    ? &workload->candidates[i]
                                               : i == count ? &workload->control
                                                            : workload->floor;
        trial->entries[i] = (struct trial_entry){.is_floor = i > count,
                                                 .runs = entry->runs,
                                                 .run_count = entry->run_count,
                                                 .memory_runs = entry->memory_runs,
                                                 .memory_count = entry->memory_count};
    }
    *ret_samples = samples;
}

void samples_release(struct samples *samples)
{
    free(samples->trial.entries);
    res_result_release(&samples->result);
}

void samples_cut(const struct samples *samples, size_t first, size_t count, size_t first_memory,
                 struct trial *ret_trial)
{
    const struct trial *whole = &samples->trial;
    struct trial trial = *whole;
    trial.entries = res_calloc(whole->entry_count, sizeof *trial.entries);
    trial.rounds = (unsigned)count;
    trial.memory_rounds = first_memory + MEMORY_ROUNDS <= whole->memory_rounds ? MEMORY_ROUNDS : 0;
    for (size_t i = 0; i < whole->entry_count; i++) {
        trial.entries[i] = whole->entries[i];
        trial.entries[i].runs += first;
        trial.entries[i].run_count = count;
        trial.entries[i].memory_count = whole->entries[i].is_floor ? 0 : trial.memory_rounds;
        if (trial.entries[i].memory_count > 0)
            trial.entries[i].memory_runs += first_memory;
    }
    *ret_trial = trial;
}

static void borrow(const struct trial_entry *entry, struct res_result_entry *ret_entry)
{
    res_described_init(&RES_RESULT_ENTRY, ret_entry);
    ret_entry->runs = entry->runs;
    ret_entry->run_count = entry->run_count;
    ret_entry->memory_runs = entry->memory_runs;
    ret_entry->memory_count = entry->memory_count;
}

void trial_workload(const struct trial *trial, double resolve, struct res_result_workload *ret_workload)
{
    const struct trial_entry *floor = trial->entry_count > trial->candidate_count + 1
                                          ? &trial->entries[trial->candidate_count + 1]
                                          : NULL;
    struct res_result_workload *workload = ret_workload;
    res_described_init(&RES_RESULT_WORKLOAD, workload);
    workload->rounds = trial->rounds;
    workload->memory_rounds = trial->memory_rounds;
    workload->stopped_until_width = resolve;
    workload->candidate_count = trial->candidate_count;
    workload->candidates = res_calloc(trial->candidate_count, sizeof *workload->candidates);
    for (size_t i = 0; i < trial->candidate_count; i++)
        borrow(&trial->entries[i], &workload->candidates[i]);
    borrow(&trial->entries[trial->candidate_count], &workload->control);
    if (floor != NULL) {
        workload->floor = res_calloc(1, sizeof *workload->floor);
        borrow(floor, workload->floor);
    }
    res_workload_judge(workload);
}

/* What was borrowed is given back. */
static void part(struct res_result_entry *entry)
{
    entry->runs = entry->memory_runs = NULL;
    entry->run_count = entry->memory_count = 0;
}

void trial_workload_drop(struct res_result_workload *workload)
{
    for (size_t i = 0; i < workload->candidate_count; i++)
        part(&workload->candidates[i]);
    part(&workload->control);
    if (workload->floor != NULL)
        part(workload->floor);
    res_described_release(&RES_RESULT_WORKLOAD, workload);
}

struct res_series trial_series(const struct trial *trial, size_t entry)
{
    struct res_result_workload workload;
    trial_workload(trial, 0, &workload);
    const struct res_result_entry *of = entry < workload.candidate_count    ? &workload.candidates[entry]
                                        : entry == workload.candidate_count ? &workload.control
                                                                            : workload.floor;
    const struct res_series series = res_series_of(of == workload.floor ? NULL : &workload, of,
                                                   RES_METRIC_TIME);
    trial_workload_drop(&workload);
    return series;
}

enum res_outcome trial_outcome(const struct trial *trial, size_t candidate, double limit,
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
