/* trial_runs.c - runs become a trial's samples. */
#include "results/measure/experiment/trial_runs.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/experiment/passes.h"

#define BATCHES_MAX 2048u /* of a run */

size_t res_trial_entries(const struct res_options *options)
{
    return options->candidate_count + 1 + (options->floor != NULL ? 1 : 0);
}

void res_trial_begin(struct res_trial *ret_trial, const struct res_options *options,
                     const struct res_workload *workload)
{
    *ret_trial = (struct res_trial){
        .workload = workload,
        .entry_count = res_trial_entries(options),
        .candidate_count = options->candidate_count,
        .entries = res_calloc(res_trial_entries(options), sizeof *ret_trial->entries),
    };
    for (size_t i = 0; i < ret_trial->entry_count; i++) {
        struct res_entry *entry = &ret_trial->entries[i];
        entry->is_control = i == options->candidate_count;
        entry->is_floor = i > options->candidate_count;
        entry->candidate = entry->is_floor     ? options->floor
                           : entry->is_control ? options->candidates[0]
                                               : options->candidates[i];
        entry->runs = res_calloc(options->rounds, sizeof *entry->runs);
        entry->memory_runs = res_calloc(options->rounds, sizeof *entry->memory_runs);
    }
}

void res_entry_fail(struct res_entry *entry, char *reason)
{
    free(entry->failed);
    entry->failed = reason;
}

const char *res_digest_agreed(const char *const *digests, size_t count)
{
    const char *agreed = NULL;
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t votes = 0;
        for (size_t k = 0; digests[i] != NULL && k < count; k++)
            votes += digests[k] != NULL && strcmp(digests[i], digests[k]) == 0;
        if (votes > most) {
            most = votes;
            agreed = digests[i];
        }
    }
    return agreed;
}

static void check_digest(struct res_trial *trial, struct res_entry *entry, const struct res_run *run)
{
    if (strcmp(run->digest, trial->digest) != 0)
        res_entry_fail(entry,
                       res_printf("it executed other ops than the others: digest %.32s instead of %.32s",
                                  run->digest, trial->digest));
}

/* The recorded times and the live bytes at samples are the workload's: every run of a kind repeats them. They are kept
 * once for the trial, and a run keeps only what it measured, or what is different. */
static void share_samples(json_t **shared, const struct res_run *run)
{
    static const char *const keys[] = {"time_ns", "live_bytes"};
    json_t *samples = json_object_get(run->json, "samples");
    for (size_t i = 0; json_is_object(samples) && i < sizeof keys / sizeof keys[0]; i++) {
        json_t *own = json_object_get(samples, keys[i]);
        if (own == NULL)
            continue;
        if (*shared == NULL)
            *shared = json_object();
        if (json_object_get(*shared, keys[i]) == NULL)
            json_object_set(*shared, keys[i], own);
        if (json_equal(json_object_get(*shared, keys[i]), own))
            json_object_del(samples, keys[i]);
    }
}

/* Neither memory nor results grow with a workload's length: batches of long runs are merged, in all runs alike. Fewer would filter worse
 * what disturbs a moment: merging by 2 moved times by 0.9 % where 14 programs ran on two processors, by 15 3 %. */
static void merge_batches(struct res_run *run)
{
    const size_t part = (run->batch_count + BATCHES_MAX - 1) / BATCHES_MAX;
    size_t count = 0;
    for (size_t i = 0; i < run->batch_count; i++) {
        if (i % part == 0)
            run->batch_ns[count++] = run->batch_ns[i];
        else
            run->batch_ns[count - 1] += run->batch_ns[i];
    }
    run->batch_count = count;
}

static void keep_memory(struct res_trial *trial, struct res_entry *entry, struct res_run *run)
{
    json_object_set_new(run->json, "waste", json_null()); /* is the entry's */
    share_samples(&trial->memory_samples, run);
    merge_batches(run);
    entry->memory_runs[entry->memory_count++] = *run;
}

static void keep_time(struct res_trial *trial, struct res_entry *entry, struct res_run *run)
{
    share_samples(&trial->samples, run);
    merge_batches(run);
    if (trial->memory_rounds > 0) /* whose samples are shown */
        json_object_set_new(json_object_get(run->json, "samples"), "resident_bytes", json_array());
    if (entry->run_count > 0 && run->batch_count != entry->runs[0].batch_count)
        res_entry_fail(entry, res_strdup("its runs were cut in different numbers of batches"));
    entry->runs[entry->run_count++] = *run;
}

void res_trial_keep(struct res_trial *trial, const size_t *order, struct res_run *runs, enum res_keep what)
{
    const bool memory = what == RES_KEEP_MEMORY;
    const unsigned round = memory ? trial->memory_rounds : trial->rounds;
    for (size_t i = 0; i < trial->entry_count; i++) {
        struct res_entry *entry = &trial->entries[order[i]];
        struct res_run *run = &runs[order[i]];
        if (run->json == NULL)
            continue;
        check_digest(trial, entry, run);
        json_object_set_new(run->json, "round", json_integer((json_int_t)round + 1));
        json_object_set_new(run->json, "position", json_integer((json_int_t)i + 1));
        if (memory && !entry->is_floor)
            keep_memory(trial, entry, run);
        else if (what == RES_KEEP_TIME)
            keep_time(trial, entry, run);
        else
            res_run_release(run);
    }
    *(memory ? &trial->memory_rounds : &trial->rounds) += what != RES_KEEP_NOTHING;
}

void res_trial_learn(struct res_trial *trial, struct res_run *runs)
{
    const char **digests = res_calloc(trial->entry_count, sizeof *digests);
    for (size_t i = 0; i < trial->entry_count; i++) {
        struct res_entry *entry = &trial->entries[i];
        entry->said = runs[i].said;
        runs[i].said = NULL;
        entry->waste = json_incref(json_object_get(runs[i].json, "waste"));
        digests[i] = runs[i].digest;
    }
    const char *agreed = res_digest_agreed(digests, trial->entry_count);
    if (agreed != NULL)
        trial->digest = res_strdup(agreed);
    free(digests);
}

void res_trial_release(struct res_trial *trial)
{
    for (size_t k = 0; k < trial->entry_count; k++) {
        for (size_t run = 0; run < trial->entries[k].run_count; run++)
            res_run_release(&trial->entries[k].runs[run]);
        for (size_t run = 0; run < trial->entries[k].memory_count; run++)
            res_run_release(&trial->entries[k].memory_runs[run]);
        free(trial->entries[k].runs);
        free(trial->entries[k].memory_runs);
        free(trial->entries[k].failed);
        free(trial->entries[k].said);
        json_decref(trial->entries[k].failure);
        json_decref(trial->entries[k].check);
        json_decref(trial->entries[k].waste);
        res_passes_release(&trial->entries[k].passes);
    }
    free(trial->entries);
    free(trial->digest);
    json_decref(trial->samples);
    json_decref(trial->memory_samples);
}
