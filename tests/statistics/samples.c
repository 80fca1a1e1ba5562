/* samples.c - trials cut out of a result. */
#include "statistics/samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/result/result.h"

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void read_run(const json_t *json, struct res_run *run)
{
    const json_t *batches = json_object_get(json, "batch_ns"), *resident = json_object_get(json, "resident");
    *run = (struct res_run){
        .ns_per_op = number_of(json, "whole_ns_per_op"),
        .ops = (uint64_t)json_integer_value(json_object_get(json, "ops")),
        .batch_count = json_array_size(batches),
        .resident_peak_bytes = number_of(resident, "peak_bytes"),
        .resident_mean_bytes = number_of(resident, "mean_bytes"),
        .resident_end_bytes = number_of(resident, "end_bytes"),
        .resident_idle_bytes = number_of(resident, "idle_bytes"),
        .given_back_share = NAN,
    };
    run->batch_ns = res_calloc(run->batch_count, sizeof *run->batch_ns);
    for (size_t i = 0; i < run->batch_count; i++)
        run->batch_ns[i] = (uint64_t)json_integer_value(json_array_get(batches, i));
}

static struct res_run *read_runs(const json_t *runs, size_t *ret_count)
{
    struct res_run *read = res_calloc(json_array_size(runs), sizeof *read);
    *ret_count = json_array_size(runs);
    for (size_t i = 0; i < *ret_count; i++)
        read_run(json_array_get(runs, i), &read[i]);
    return read;
}

static void read_entry(const json_t *json, struct res_candidate *candidate, struct trial_entry *entry)
{
    const char *name = json_string_value(json_object_get(json, "name"));
    candidate->name = res_strdup(name);
    entry->candidate = candidate;
    entry->runs = read_runs(json_object_get(json, "runs"), &entry->run_count);
    entry->memory_runs = read_runs(json_object_get(json, "memory_runs"), &entry->memory_count);
}

void samples_load(const char *path, struct samples *ret_samples)
{
    json_error_t error;
    json_t *result = json_load_file(path, 0, &error);
    const json_t *workload = json_array_get(json_object_get(result, "workloads"), 0);
    if (workload == NULL) {
        fprintf(stderr, "verdicts: cannot read '%s': %s\n", path,
                result == NULL ? error.text : "no workload");
        exit(EXIT_FAILURE);
    }
    const json_t *candidates = json_object_get(workload, "candidates");
    const json_t *floor = json_object_get(workload, "floor");
    struct samples samples = {.trial = {.candidate_count = json_array_size(candidates)}};
    struct trial *trial = &samples.trial;
    trial->entry_count = trial->candidate_count + (json_is_null(floor) ? 1 : 2);
    trial->entries = res_calloc(trial->entry_count, sizeof *trial->entries);
    samples.candidates = res_calloc(trial->entry_count, sizeof *samples.candidates);
    for (size_t i = 0; i < trial->entry_count; i++) {
        struct trial_entry *entry = &trial->entries[i];
        entry->is_control = i == trial->candidate_count;
        entry->is_floor = i > trial->candidate_count;
        read_entry(entry->is_floor     ? floor
                   : entry->is_control ? json_object_get(workload, "control")
                                       : json_array_get(candidates, i),
                   &samples.candidates[i], entry);
    }
    trial->rounds = (unsigned)json_integer_value(json_object_get(workload, "rounds"));
    trial->memory_rounds = (unsigned)json_integer_value(json_object_get(workload, "memory_rounds"));
    *ret_samples = samples;
    json_decref(result);
}

static void release_runs(struct res_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(runs[i].batch_ns);
    free(runs);
}

void samples_release(struct samples *samples)
{
    for (size_t i = 0; i < samples->trial.entry_count; i++) {
        release_runs(samples->trial.entries[i].runs, samples->trial.entries[i].run_count);
        release_runs(samples->trial.entries[i].memory_runs, samples->trial.entries[i].memory_count);
        free(samples->candidates[i].name);
    }
    free(samples->trial.entries);
    free(samples->candidates);
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
