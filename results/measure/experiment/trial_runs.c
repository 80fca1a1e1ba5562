/* trial_runs.c - runs become a trial's samples. */
#include "results/measure/experiment/experiment.h"

#include <stdlib.h>
#include <string.h>

#include "results/measure/base/random.h"
#include "results/measure/figures/figures.h"

#define BATCHES_MAX 2048u /* of a run */

size_t res_trial_entries(const struct res_options *options)
{
    return options->candidate_count + 1 + (options->floor != NULL ? 1 : 0);
}

void res_entry_fail(struct res_entry *entry, const char *reason, const json_t *failure)
{
    free(entry->told->failed);
    entry->told->failed = res_text_plain(reason);
    if (failure == NULL || entry->told->failure != NULL)
        return;
    RES_FREED char *problem = NULL;
    struct res_failure read;
    if (res_described_read(&RES_FAILURE, failure, &read, &problem)) {
        entry->told->failure = res_calloc(1, sizeof read);
        *entry->told->failure = read;
    }
}

static void check_digest(struct res_trial *trial, struct res_entry *entry, const struct res_run *run)
{
    if (strcmp(run->digest, trial->told->digest) == 0)
        return;
    RES_FREED char *reason = res_printf(
        "it executed other ops than the others: digest %.32s instead of %.32s", run->digest,
        trial->told->digest);
    res_entry_fail(entry, reason, NULL);
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
    res_growth_measure(run);
    share_samples(&trial->told->memory_samples, run);
    merge_batches(run);
    entry->told->memory_runs[entry->told->memory_count++] = *run;
}

static void keep_time(struct res_trial *trial, struct res_entry *entry, struct res_run *run)
{
    struct res_result_entry *told = entry->told;
    share_samples(&trial->told->samples, run);
    merge_batches(run);
    if (trial->told->memory_rounds > 0) /* whose samples are shown */
        json_object_set_new(json_object_get(run->json, "samples"), "resident_bytes", json_array());
    if (told->run_count > 0 && run->batch_count != told->runs[0].batch_count)
        res_entry_fail(entry, "its runs were cut in different numbers of batches", NULL);
    told->runs[told->run_count++] = *run;
}

void res_trial_keep(struct res_trial *trial, const size_t *order, struct res_run *runs, enum res_keep what)
{
    const bool memory = what == RES_KEEP_MEMORY;
    uint64_t *rounds = memory ? &trial->told->memory_rounds : &trial->told->rounds;
    for (size_t i = 0; i < trial->entry_count; i++) {
        struct res_entry *entry = &trial->entries[order[i]];
        struct res_run *run = &runs[order[i]];
        if (run->json == NULL)
            continue;
        check_digest(trial, entry, run);
        free(run->said);
        run->said = NULL;
        run->round = *rounds + 1;
        json_object_set_new(run->json, "round", json_integer((json_int_t)run->round));
        json_object_set_new(run->json, "position", json_integer((json_int_t)i + 1));
        if (memory && !entry->is_floor)
            keep_memory(trial, entry, run);
        else if (what == RES_KEEP_TIME)
            keep_time(trial, entry, run);
        else
            res_run_release(run);
    }
    *rounds += what != RES_KEEP_NOTHING;
}

void res_trial_learn(struct res_trial *trial, struct res_run *runs)
{
    for (size_t i = 0; i < trial->entry_count; i++) {
        struct res_result_entry *told = trial->entries[i].told;
        told->said = runs[i].said;
        runs[i].said = NULL;
        told->waste = json_incref(json_object_get(runs[i].json, "waste"));
        if (trial->told->digest == NULL)
            trial->told->digest = res_strdup(runs[i].digest);
    }
}

/* ---- behind the rounds: runs that watch ---- */

/* The page shows one pass of a candidate: the cells of the others' maps, and the histograms by call, would be most of a result. */
static void thin(const struct res_entry *entry, json_t *latency)
{
    size_t i;
    json_t *call;
    if (entry->is_control || entry->told->failed != NULL || entry->is_floor ||
        json_array_size(entry->latency) > 0)
        json_object_set_new(json_object_get(latency, "map"), "cells", json_array());
    json_array_foreach(json_object_get(latency, "by_call"), i, call)
        json_object_set_new(call, "histogram", json_pack("{s:[], s:[], s:[]}", "low_ns", "high_ns", "count"));
}

/* Returns false when the experiment was stopped. */
static bool one_latency(struct res_entry *entry, const struct res_passes_runner *runner)
{
    char *reason = NULL;
    if (entry->latency_failed != NULL)
        return true;
    const json_t *run = runner->run(runner->context, entry, &reason);
    if (run == NULL && reason == NULL)
        return false;
    json_t *latency = json_object_get(run, "latency");
    if (reason == NULL && !json_is_object(latency))
        reason = res_strdup("its result has no 'latency'");
    if (entry->latency == NULL)
        entry->latency = json_array();
    if (reason == NULL) {
        thin(entry, latency);
        json_array_append(entry->latency, latency);
    }
    entry->latency_failed = reason;
    return true;
}

bool res_passes_latency(struct res_trial *trial, unsigned passes, struct res_random *random,
                        const struct res_passes_runner *runner)
{
    bool whole = true;
    for (unsigned pass = 0; pass < passes && whole; pass++) {
        RES_FREED size_t *order = res_shuffled(random, trial->entry_count);
        for (size_t i = 0; i < trial->entry_count && whole; i++)
            if (trial->entries[order[i]].told->failed == NULL)
                whole = one_latency(&trial->entries[order[i]], runner);
    }
    for (size_t i = 0; i < trial->entry_count && !whole; i++) {
        json_decref(trial->entries[i].latency);
        free(trial->entries[i].latency_failed);
        trial->entries[i].latency = NULL;
        trial->entries[i].latency_failed = NULL;
    }
    return whole;
}

void res_passes_leave_out_latency(struct res_trial *trial, const struct res_options *options, const char *why)
{
    for (size_t i = 0; i < trial->entry_count && options->latency_passes > 0; i++) {
        trial->entries[i].latency = json_array();
        trial->entries[i].latency_failed = res_strdup(why);
    }
}

/* ---- when the rounds are enough ---- */

#define LARGE_WIDER 2 /* 95 % become about 99.98 of 30 rounds */

/* The time of a candidate that is looked at, by number; the control counts where the baseline is alone. NULL: it is not, or it failed. */
static const struct res_difference *looked_at(const struct res_result_workload *workload, size_t i)
{
    const struct res_result_entry *entry = i < workload->candidate_count ? &workload->candidates[i]
                                                                         : &workload->control;
    const bool is_asked = i < workload->candidate_count || workload->candidate_count == 1;
    return is_asked && entry->failed == NULL ? &entry->figures.time : NULL;
}

double res_until_width(const struct res_result_workload *workload)
{
    double widest = NAN;
    for (size_t i = 1; i <= workload->candidate_count; i++) {
        const struct res_difference *time = looked_at(workload, i);
        if (time != NULL)
            widest = fmax(widest, (time->interval.high - time->interval.low) / time->ratio);
    }
    return widest;
}

/* Tells whether an interval LARGE_WIDER times as wide would lie beyond twice the difference: then limits near it are decided, too. Wider, because this
 * is looked at many times, and one look that noise decides ends it. */
static bool is_large(const struct res_difference *time, double difference)
{
    const double middle = log(time->ratio), beyond = log(1 + 2 * difference);
    return middle - LARGE_WIDER * (middle - log(time->interval.low)) > beyond ||
           middle + LARGE_WIDER * (log(time->interval.high) - middle) < -beyond;
}

/* Narrow enough to show or exclude such a difference, or surely larger. */
static bool is_resolved(const struct res_result_workload *workload, double difference)
{
    size_t told = 0, all = 0;
    for (size_t i = 1; i <= workload->candidate_count; i++) {
        const struct res_difference *time = looked_at(workload, i);
        if (time == NULL)
            continue;
        told += time->interval.high - time->interval.low < difference * time->ratio ||
                is_large(time, difference);
        all++;
    }
    return told == all && all > 0;
}

static bool is_enough(struct res_trial *trial, const struct res_options *options)
{
    if (options->decided == NULL) {
        res_workload_judge(trial->told);
        return is_resolved(trial->told, options->until);
    }
    trial->need = options->decided(options->context, trial->told);
    return trial->need == RES_NEED_NOTHING;
}

static bool is_time_to_look(uint64_t rounds)
{
    unsigned next = RES_UNTIL_ROUNDS_LEAST;
    while (next < rounds)
        next += next / 8;
    return next == rounds;
}

static unsigned fewest_of(const struct res_options *options)
{
    return options->rounds_least > 0 ? options->rounds_least : RES_ROUNDS_FOR_VERDICT;
}

struct res_until_plan res_until_plan(const struct res_options *options, uint64_t share_ns, double round_ns)
{
    const double fewest = fmin(fewest_of(options), options->rounds), fit = floor((double)share_ns / round_ns);
    double least = options->until > 0 ? RES_UNTIL_ROUNDS_LEAST : fewest, most = options->rounds;
    if (share_ns > 0)
        most = fmin(most, fmax(fewest, fit));
    else if (!(options->until > 0))
        least = most;
    least = fmin(least, most);
    return (struct res_until_plan){(unsigned)least, least * round_ns, most * round_ns};
}

bool res_until_ended(struct res_trial *trial, const struct res_options *options, uint64_t share_ns,
                     uint64_t elapsed_ns, uint64_t next_ns)
{
    const unsigned fewest = fewest_of(options);
    const bool adaptive = options->until > 0 || share_ns > 0;
    trial->told->stopped_by = adaptive ? RES_ENDED_MAXIMUM : RES_ENDED_ROUNDS;
    if (trial->told->rounds >= options->rounds)
        return true;
    if (!adaptive || trial->told->rounds < fewest)
        return false;
    if (options->until > 0 && is_time_to_look(trial->told->rounds) && is_enough(trial, options)) {
        trial->told->stopped_by = options->decided != NULL ? RES_ENDED_DECIDED : RES_ENDED_UNTIL;
        return true;
    }
    /* One more round must still fit. */
    if (share_ns > 0 && elapsed_ns + next_ns > share_ns) {
        trial->told->stopped_by = RES_ENDED_TIME_BUDGET;
        return true;
    }
    return false;
}
