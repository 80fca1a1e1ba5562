/* result_making.c - options, machine, recording and candidates into a result, whose runs are the experiment's to add. */
#include "results/measure/experiment/experiment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "results/measure/figures/figures.h"
#include "results/measure/machine/disturbances.h"

/* Words that may come from anywhere; NULL: none. */
static char *plain(const char *words)
{
    return words != NULL ? res_text_plain(words) : NULL;
}

static char *plain_unless_empty(const char *words)
{
    return *words != '\0' ? res_text_plain(words) : NULL;
}

/* ---- a memory limit -------------------------------------------------------------------------- */

static const char *limit_by(const struct res_options *options)
{
    if (options->limit_bytes == 0)
        return NULL;
    return options->group_place == NULL         ? "RLIMIT_DATA"
           : options->group_place->version == 1 ? "cgroup v1"
                                                : "cgroup v2";
}

static void add_limited(struct res_limited *limited, const struct res_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *limit = json_object_get(runs[i].json, "limit");
        const uint64_t times = (uint64_t)json_integer_value(json_object_get(limit, "at_limit_count"));
        const uint64_t peak = (uint64_t)json_integer_value(json_object_get(limit, "peak_bytes"));
        limited->runs += json_is_object(limit);
        limited->runs_at_limit += times > 0;
        if (times > limited->at_limit_count_max)
            limited->at_limit_count_max = times;
        if (peak > limited->peak_bytes_max)
            limited->peak_bytes_max = peak;
    }
}

static struct res_limited *limited_of(const struct res_options *options, const struct res_entry *entry)
{
    if (options->limit_bytes == 0 || options->group_place == NULL || entry->is_floor)
        return NULL;
    struct res_limited *limited = res_calloc(1, sizeof *limited);
    add_limited(limited, entry->told->runs, entry->told->run_count);
    add_limited(limited, entry->told->memory_runs, entry->told->memory_count);
    return limited;
}

/* ---- a workload ------------------------------------------------------------------------------ */

static double known(uint64_t figure)
{
    return figure > 0 ? (double)figure : NAN;
}

static void take_process(const struct res_workload *from, struct res_result_workload *ret_workload)
{
    const struct res_process_facts *process = &from->process;
    ret_workload->unseen_frees = from->unseen_frees > 0 ? from->unseen_frees : RES_COUNT_ABSENT;
    if (process->cpu_user_ns + process->cpu_system_ns + process->rss_peak_bytes > 0) {
        ret_workload->process = res_calloc(1, sizeof *ret_workload->process);
        *ret_workload->process = (struct res_process){
            .cpu_user_ns = (double)process->cpu_user_ns,
            .cpu_system_ns = (double)process->cpu_system_ns,
            .faults_minor = known(process->faults_minor),
            .faults_major = (double)process->faults_major,
            .rss_peak_bytes = known(process->rss_peak_bytes),
            .rss_anon_peak_bytes = known(process->rss_anon_peak_bytes),
            .ran_ns = known(process->ran_ns),
            .ended = plain_unless_empty(process->ended),
            .brief_calls = known(process->brief_calls),
            .growth = process->growth.bytes > 0 ? process->growth : (struct res_growth){NAN, NAN, NAN},
            .machine = process->machine,
            .kernel = plain_unless_empty(process->machine.kernel),
        };
    }
    if (from->runs_on.name[0] != '\0') {
        ret_workload->runs_on = res_calloc(1, sizeof *ret_workload->runs_on);
        *ret_workload->runs_on = (struct res_runs_on){res_text_plain(from->runs_on.name),
                                                      plain_unless_empty(from->runs_on.version),
                                                      plain_unless_empty(from->runs_on.how)};
    }
}

/* take_recording - take the facts of a workload that are known without a measurement. ret_workload: initialised. */
static void take_recording(const struct res_workload *from, struct res_result_workload *ret_workload)
{
    static const char *const LIVES[] = {[RES_LIVE_FROM_MIDDLE] = "from_middle",
                                        [RES_LIVE_PAUSED] = "paused",
                                        [RES_LIVE_LEFT_BEHIND] = "left_behind"};
    ret_workload->name = res_text_plain(from->name);
    ret_workload->label = plain_unless_empty(from->label);
    ret_workload->program = plain_unless_empty(from->program);
    ret_workload->processes = from->processes > 1 ? from->processes : 0;
    ret_workload->events_share = from->processes > 1 ? from->events_share : NAN;
    ret_workload->group_processes = from->member_count;
    ret_workload->selection = plain_unless_empty(from->selection);
    ret_workload->file_digest = res_printf("%016llx", (unsigned long long)from->file_digest);
    ret_workload->ops = from->ops;
    ret_workload->complete = from->complete;
    ret_workload->incomplete_why = from->complete ? NULL : res_text_plain(from->incomplete_why);
    ret_workload->lost_calls = from->lost_calls;
    ret_workload->lost_known = from->lost_known;
    ret_workload->left_out_calls = from->left_out_calls;
    ret_workload->removed_calls = from->removed_calls;
    for (int i = RES_LIVE_FROM_MIDDLE; i <= RES_LIVE_LEFT_BEHIND; i++)
        if (strcmp(from->live, LIVES[i]) == 0)
            ret_workload->live = i;
    ret_workload->threads = from->threads;
    ret_workload->duration_ns = from->duration_ns;
    ret_workload->live_peak_bytes = from->live_peak_bytes;
    take_process(from, ret_workload);
}

/* ---- a trial --------------------------------------------------------------------------------- */

static void begin_entry(const struct res_candidate *candidate, unsigned rounds,
                        struct res_result_entry *ret_told)
{
    res_described_init(&RES_RESULT_ENTRY, ret_told);
    ret_told->name = res_text_plain(candidate->name);
    ret_told->version = plain(candidate->version);
    ret_told->library = plain(candidate->path);
    ret_told->build.digest = res_strdup(candidate->build.digest);
    ret_told->environment = res_pairs_copy(&candidate->environment);
    ret_told->runs = res_calloc(rounds, sizeof *ret_told->runs);
    ret_told->memory_runs = res_calloc(rounds, sizeof *ret_told->memory_runs);
    ret_told->rest = json_pack("{s:{s:s}}", "time", "clock", "real");
}

void res_trial_begin(struct res_trial *ret_trial, const struct res_options *options,
                     const struct res_workload *workload, struct res_result_workload *ret_told)
{
    const size_t count = options->candidate_count, entries = res_trial_entries(options);
    *ret_trial = (struct res_trial){.workload = workload,
                                    .told = ret_told,
                                    .entries = res_calloc(entries, sizeof *ret_trial->entries),
                                    .entry_count = entries};
    res_described_init(&RES_RESULT_WORKLOAD, ret_told);
    take_recording(workload, ret_told);
    ret_told->candidates = res_calloc(count, sizeof *ret_told->candidates);
    ret_told->candidate_count = count;
    ret_told->floor = options->floor != NULL ? res_calloc(1, sizeof *ret_told->floor) : NULL;
    for (size_t i = 0; i < entries; i++) {
        struct res_entry *entry = &ret_trial->entries[i];
        *entry = (struct res_entry){.candidate = i < count    ? options->candidates[i]
                                                 : i == count ? options->candidates[0]
                                                              : options->floor,
                                    .is_control = i == count,
                                    .is_floor = i > count,
                                    .told = res_result_entry_at(ret_told, i)};
        begin_entry(entry->candidate, options->rounds, entry->told);
    }
}

void res_trial_end(struct res_trial *trial, const struct res_options *options)
{
    struct res_result_workload *told = trial->told;
    for (size_t i = 0; i < trial->entry_count; i++) {
        struct res_entry *entry = &trial->entries[i];
        if (entry->told->run_count > 0) /* all runs of a workload have the same */
            told->inherited_ops = entry->told->runs[0].inherited_ops;
        if (entry->told->failed != NULL) {
            json_decref(entry->told->waste);
            entry->told->waste = NULL;
        }
        entry->told->limit = limited_of(options, entry);
        entry->told->latency = res_latency_read(entry->latency, entry->latency_failed);
        json_decref(entry->latency);
        free(entry->latency_failed);
    }
    told->stopped_until_width = options->until > 0 ? options->until : NAN;
    told->stopped_elapsed_ns = (double)trial->elapsed_ns;
    told->stopped_time_budget_ns = options->time_budget_ns > 0 ? (double)options->time_budget_ns : NAN;
    told->stopped_rounds_max = options->rounds;
    free(trial->entries);
}

/* ---- the result ------------------------------------------------------------------------------ */

static void set_missing(const struct res_missing *missing, size_t count, struct res_result *ret_result)
{
    ret_result->missing = res_calloc(count + 1, sizeof *ret_result->missing);
    ret_result->missing_count = count;
    for (size_t i = 0; i < count; i++)
        ret_result->missing[i] = (struct res_missing){res_text_plain(missing[i].name),
                                                      plain(missing[i].reason)};
}

void res_result_set_complete(struct res_result *result)
{
    free(result->incomplete_why);
    result->incomplete_why = result->stopped ? res_strdup("the experiment was stopped before its end") : NULL;
    for (size_t i = 0; i < result->workload_count && result->incomplete_why == NULL; i++) {
        const struct res_result_workload *workload = &result->workloads[i];
        if (!workload->complete)
            result->incomplete_why = res_printf("the recording of %s is not whole: %s", workload->name,
                                                workload->incomplete_why != NULL ? workload->incomplete_why
                                                                                 : "not known why");
    }
    result->complete = result->incomplete_why == NULL;
}

static uint64_t now_unix_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void res_result_begin(const struct res_options *options, struct res_result *ret_result)
{
    res_described_init(&RES_RESULT, ret_result);
    ret_result->schema = res_strdup(RES_SCHEMA);
    ret_result->mallab_version = res_strdup(MALLAB_VERSION);
    ret_result->created_unix_ns = now_unix_ns();
    ret_result->baseline = res_text_plain(options->candidates[0]->name);
    ret_result->rounds = ret_result->rounds_asked = options->rounds;
    ret_result->memory_rounds_asked = options->memory_rounds;
    ret_result->memory_idle_ms = options->idle_ms;
    ret_result->seed = options->seed;
    ret_result->check = options->check;
    ret_result->one_thread = options->one_thread;
    ret_result->processors_asked = options->processors;
    ret_result->limit_bytes = options->limit_bytes;
    ret_result->limit_by = plain(limit_by(options));
    ret_result->limit_by_why = plain(options->limit_by_why);
    ret_result->rest = json_pack("{s:{s:i, s:b}}", "warmup", "runs_per_candidate", 1, "counted", 0);
    res_machine_describe(&ret_result->machine);
    set_missing(options->missing, options->missing_count, ret_result);
    res_result_set_complete(ret_result);
}
