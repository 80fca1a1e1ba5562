/* recordings.c - the memory passes of further recordings. */
#include "results/measure/validate/recordings.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/base/random.h"

/* ---- courses -------------------------------------------------------------------------------- */

struct res_course res_course_of_run(const struct res_run *run, const json_t *shared)
{
    const json_t *own = json_object_get(run->json, "samples");
    const json_t *resident = json_object_get(own, "resident_bytes"), *time = json_object_get(own, "time_ns");
    if (time == NULL)
        time = json_object_get(shared, "time_ns");
    const size_t count = json_array_size(time);
    if (count == 0 || json_array_size(resident) != count)
        return (struct res_course){0};
    double *at = res_calloc(count, sizeof *at), *bytes = res_calloc(count, sizeof *bytes);
    for (size_t i = 0; i < count; i++) {
        at[i] = json_number_value(json_array_get(time, i));
        bytes[i] = json_number_value(json_array_get(resident, i));
    }
    return (struct res_course){at, bytes, count};
}

void res_course_release(struct res_course *course)
{
    free((void *)(uintptr_t)course->at); /* ours; const for the others */
    free((void *)(uintptr_t)course->bytes);
    *course = (struct res_course){0};
}

/* ---- one recording -------------------------------------------------------------------------- */

static void drop_passes(struct res_recording_entry *entry)
{
    res_course_release(&entry->course);
    free(entry->digest);
    entry->digest = NULL;
    entry->run_count = 0;
}

/* Its passes count no more: the median of fewer is another figure. */
static void fail(struct res_recording_entry *entry, char *reason)
{
    drop_passes(entry);
    free(entry->failed);
    entry->failed = reason;
}

static void drop_entries(struct res_recording *recording)
{
    for (size_t i = 0; i < recording->entry_count; i++) {
        drop_passes(&recording->entries[i]);
        free(recording->entries[i].failed);
    }
    free(recording->entries);
    recording->entries = NULL;
    recording->entry_count = 0;
}

void res_recording_leave_out(struct res_recording *recording, char *why)
{
    drop_entries(recording);
    free(recording->left_out);
    recording->left_out = why;
}

static void keep(struct res_recording_entry *entry, struct res_run *run)
{
    if (entry->digest != NULL && strcmp(entry->digest, run->digest) != 0) {
        fail(entry, res_strdup("its passes executed different ops"));
        return;
    }
    if (entry->digest == NULL) {
        entry->digest = res_strdup(run->digest);
        entry->course = res_course_of_run(run, NULL);
    }
    assert(entry->run_count < RES_MEMORY_PASSES);
    entry->runs[entry->run_count++] = (struct res_levels){run->resident_peak_bytes, run->resident_mean_bytes,
                                                          run->resident_end_bytes};
}

/* Returns false when it was stopped. */
static bool run_entry(const struct res_recording_options *options, const struct res_entry *first,
                      struct res_recording_entry *entry)
{
    const uint64_t like_ns = first->warmup_ns != 0 ? first->warmup_ns : options->trial->entries[0].warmup_ns;
    const struct res_run_request request = {
        .candidate = first->candidate,
        .workload = options->workload->path,
        .touch = options->touch,
        .timeout_ns = options->timeout_ns != 0 ? options->timeout_ns : res_experiment_patience_ns(like_ns),
        .timeout_asked = options->timeout_ns != 0,
        .recorded_clock = options->workload->duration_ns > 0,
        .stop = options->stop,
    };
    struct res_run run = {0};
    char *reason = NULL;
    const enum res_run_state outcome = res_run_once(&request, &run, &reason);
    if (outcome == RES_RUN_FAILED)
        fail(entry, reason);
    if (outcome == RES_RUN_OK)
        keep(entry, &run);
    res_run_release(&run);
    return outcome != RES_RUN_STOPPED;
}

static void check_digests(struct res_recording *recording)
{
    const char **digests = res_calloc(recording->entry_count, sizeof *digests);
    for (size_t i = 0; i < recording->entry_count; i++)
        digests[i] = recording->entries[i].digest;
    const char *agreed = res_digest_agreed(digests, recording->entry_count);
    char *kept = agreed != NULL ? res_strdup(agreed) : NULL; /* it goes with an entry's passes */
    for (size_t i = 0; i < recording->entry_count; i++)
        if (digests[i] != NULL && strcmp(recording->entries[i].digest, kept) != 0)
            fail(&recording->entries[i], res_strdup("it executed other ops than the others"));
    free(kept);
    free(digests);
}

static void leave_out_if_unreplayed(struct res_recording *recording)
{
    const char *why = NULL;
    for (size_t i = 0; i < recording->entry_count; i++) {
        if (recording->entries[i].run_count > 0)
            return;
        why = why == NULL ? recording->entries[i].failed : why;
    }
    res_recording_leave_out(recording, res_printf("no candidate replayed it: %s", why));
}

/* One pass of each candidate that is still in. Returns false when it was stopped. */
static bool replay_pass(const struct res_recording_options *options, struct res_recording *recording,
                        struct res_random *random, unsigned pass)
{
    const size_t count = recording->entry_count;
    size_t *order = res_shuffled(random, count);
    bool goes_on = true;
    for (size_t i = 0; i < count && goes_on; i++) {
        const struct res_entry *first = &options->trial->entries[order[i]];
        struct res_recording_entry *entry = &recording->entries[order[i]];
        if (entry->failed != NULL)
            continue;
        if (options->progress != NULL)
            options->progress(options->context, first->candidate->name, pass * count + i,
                              count * options->passes);
        goes_on = run_entry(options, first, entry);
    }
    free(order);
    return goes_on;
}

bool res_recording_replay(const struct res_recording_options *options, struct res_recording *recording)
{
    const size_t count = options->trial->candidate_count;
    struct res_random random = res_random_from(options->seed + recording->number);
    assert(options->passes > 0 && options->passes <= RES_MEMORY_PASSES);
    recording->entries = res_calloc(count, sizeof *recording->entries);
    recording->entry_count = count;
    for (size_t i = 0; i < count; i++)
        if (options->trial->entries[i].failed != NULL)
            fail(&recording->entries[i], res_strdup(options->trial->entries[i].failed));
    for (unsigned pass = 0; pass < options->passes; pass++) {
        if (!replay_pass(options, recording, &random, pass)) {
            drop_entries(recording);
            return false;
        }
    }
    check_digests(recording);
    leave_out_if_unreplayed(recording);
    return true;
}

struct res_levels res_recording_levels(const struct res_recording_entry *entry)
{
    struct res_levels levels = {NAN, NAN, NAN};
    double samples[3][RES_MEMORY_PASSES];
    for (size_t i = 0; i < entry->run_count; i++) {
        samples[0][i] = entry->runs[i].peak_bytes;
        samples[1][i] = entry->runs[i].mean_bytes;
        samples[2][i] = entry->runs[i].end_bytes;
    }
    if (entry->run_count > 0)
        levels = (struct res_levels){res_median(samples[0], entry->run_count),
                                     res_median(samples[1], entry->run_count),
                                     res_median(samples[2], entry->run_count)};
    return levels;
}

void res_recording_tell(const struct res_recording *recording, size_t place,
                        struct res_recording_prediction *ret)
{
    const struct res_recording_entry *entry = &recording->entries[place];
    ret->number = recording->number;
    ret->failed = entry->failed != NULL ? res_strdup(entry->failed) : NULL;
    ret->replays = res_calloc(entry->run_count + 1, sizeof *ret->replays);
    ret->replay_count = entry->run_count;
    memcpy(ret->replays, entry->runs, entry->run_count * sizeof *ret->replays);
}

/* ---- all of them ---------------------------------------------------------------------------- */

struct res_recording *res_recordings_add(struct res_recordings *recordings, unsigned number)
{
    assert(recordings->count < RES_RECORDINGS_MAX - 1 && number > 1);
    struct res_recording *recording = &recordings->all[recordings->count++];
    *recording = (struct res_recording){.number = number};
    return recording;
}

size_t res_recordings_used(const struct res_recordings *recordings)
{
    size_t used = 1;
    for (size_t i = 0; i < recordings->count; i++)
        used += recordings->all[i].left_out == NULL;
    return used;
}

void res_recordings_tell(const struct res_recordings *recordings, const struct res_workload *first,
                         struct res_validated *ret)
{
    ret->recordings = res_recordings_used(recordings);
    ret->recordings_asked = recordings->asked > 0 ? recordings->asked : 1;
    ret->recordings_left_out = recordings->count + 1 - ret->recordings;
    ret->recordings_stopped = recordings->stopped;
    ret->recording_count = recordings->count + 1;
    ret->recording_list = res_calloc(ret->recording_count, sizeof *ret->recording_list);
    ret->recording_list[0] = (struct res_validated_recording){1, first->ops, first->duration_ns,
                                                              first->live_peak_bytes, NULL};
    for (size_t i = 0; i < recordings->count; i++) {
        const struct res_recording *one = &recordings->all[i];
        const uint64_t differs = one->ops > first->ops ? one->ops - first->ops : first->ops - one->ops;
        if (one->left_out == NULL && differs > ret->ops_difference_max)
            ret->ops_difference_max = differs;
        ret->recording_list[i + 1] = (struct res_validated_recording){
            one->number, one->ops, one->duration_ns, one->live_peak_bytes,
            one->left_out != NULL ? res_strdup(one->left_out) : NULL};
    }
}

void res_recordings_drop_last(struct res_recordings *recordings)
{
    assert(recordings->count > 0);
    struct res_recording *last = &recordings->all[--recordings->count];
    drop_entries(last);
    free(last->left_out);
    *last = (struct res_recording){0};
}

void res_recordings_release(struct res_recordings *recordings)
{
    while (recordings->count > 0)
        res_recordings_drop_last(recordings);
}
