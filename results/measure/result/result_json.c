/* result_json.c - results to JSON. */
#include "results/measure/result/result_json.h"

#include "results/measure/result/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "results/measure/base/json_values.h"
#include "results/measure/base/support.h"
#include "results/measure/experiment/until.h"
#include "results/measure/figures/entry_figures.h"
#include "results/measure/figures/figures.h"
#include "results/measure/figures/latency_figures.h"
#include "results/measure/figures/memory_limit.h"
#include "results/measure/figures/steadiness.h"
#include "results/measure/machine/machine.h"
#include "results/measure/validate/validation_json.h"
#include "results/report/table/tune_report.h"

/* ---- writing -------------------------------------------------------------------------------- */

static json_t *hexadecimal(uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)value);
    return json_string(digits);
}

/* prefix: "" is time, others are memory. */
static void set_difference(json_t *object, const char *prefix, const struct res_difference *difference)
{
    const char *verdict = prefix[0] == '\0' ? res_verdict_name(difference->verdict)
                                            : res_verdict_memory_name(difference->verdict);
    const struct {
        const char *suffix;
        json_t *value;
    } keys[] = {
        {"ratio", res_json_number(difference->ratio)},
        {"ratio_low", res_json_number(difference->interval.low)},
        {"ratio_high", res_json_number(difference->interval.high)},
        {"verdict", json_string(verdict)},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s%s", prefix, keys[i].suffix);
        json_object_set_new(object, key, keys[i].value);
    }
}

static json_t *time_object(const struct res_figures *figures, bool is_floor)
{
    json_t *object = json_object();
    json_object_set_new(object, "quiet_ns_per_op", res_json_number(figures->quiet_ns_per_op));
    json_object_set_new(object, "steady_ns_per_op", res_json_number(figures->steady_ns_per_op));
    json_object_set_new(object, "typical_ns_per_op", res_json_number(figures->typical_ns_per_op));
    json_object_set_new(object, "typical_ns_per_op_deviation", res_json_number(figures->typical_deviation));
    json_object_set_new(object, "clock", json_string("real"));
    if (!is_floor) {
        json_object_set_new(object, "quiet_ratio", res_json_number(figures->quiet_ratio));
        set_difference(object, "", &figures->time);
        json_object_set_new(object, "p_value",
                            figures->time.p_value > 0 ? json_real(figures->time.p_value) : json_null());
        json_object_set_new(object, "p_corrected",
                            figures->time.p_corrected > 0 ? json_real(figures->time.p_corrected)
                                                          : json_null());
        json_object_set_new(object, "typical_ratio", res_json_number(figures->typical.ratio));
        json_object_set_new(object, "typical_ratio_low", res_json_number(figures->typical.interval.low));
        json_object_set_new(object, "typical_ratio_high", res_json_number(figures->typical.interval.high));
    }
    return object;
}

static json_t *resident_object(const struct res_trial *trial, const struct res_entry *entry,
                               const struct res_figures *figures)
{
    const bool memory = res_trial_has_memory(trial);
    json_t *object = json_object();
    json_object_set_new(object, "start_bytes", res_json_whole(figures->start_bytes));
    json_object_set_new(object, "peak_bytes", res_json_whole(figures->peak_bytes));
    json_object_set_new(object, "peak_bytes_deviation", res_json_whole(figures->peak_deviation));
    json_object_set_new(object, "mean_bytes", res_json_whole(figures->mean_bytes));
    json_object_set_new(object, "end_bytes", res_json_whole(figures->end_bytes));
    json_object_set_new(object, "idle_bytes", res_json_whole(figures->idle_bytes));
    set_difference(object, "peak_", &figures->peak);
    set_difference(object, "end_", &figures->end);
    json_object_set_new(object, "given_back_share", res_json_number(figures->given_back_share));
    json_object_set_new(object, "clock", json_string(memory ? "recorded" : "real"));
    json_object_set_new(object, "rounds",
                        json_integer((json_int_t)(memory ? entry->memory_count : entry->run_count)));
    json_object_set_new(object, "predicted", json_boolean(figures->not_predicted_why == NULL));
    json_object_set_new(object, "not_predicted_why", res_json_text(figures->not_predicted_why));
    return object;
}

static json_t *environment_object(const struct res_candidate *candidate)
{
    json_t *object = json_object();
    for (size_t i = 0; i < candidate->variable_count; i++)
        json_object_set_new(object, candidate->environment[i].name,
                            res_json_text(candidate->environment[i].value));
    return object;
}

static json_t *runs_array(const struct res_run *samples, size_t count)
{
    json_t *runs = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct res_run *run = &samples[i];
        json_t *object = json_copy(run->json);
        json_t *batches = json_array();
        for (size_t batch = 0; batch < run->batch_count; batch++)
            json_array_append_new(batches, json_integer((json_int_t)run->batch_ns[batch]));
        json_object_set_new(object, "batch_ns", batches);
        json_object_set_new(object, "elapsed_ns", json_integer((json_int_t)run->elapsed_ns));
        json_array_append_new(runs, object);
    }
    return runs;
}

static json_t *shared(json_t *value)
{
    return value != NULL ? json_incref(value) : json_null();
}

/* What is subtracted of an entry's latency; NULL for the floor itself. */
static const struct res_passes *floor_passes(const struct res_trial *trial, const struct res_entry *entry)
{
    const struct res_entry *floor = res_trial_floor(trial);
    return floor != NULL && floor != entry && floor->passes.latency_failed == NULL ? &floor->passes : NULL;
}

static json_t *entry_object(const struct res_trial *trial, const struct res_entry *entry,
                            const struct res_figures *figures, const struct res_options *options)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", res_json_text(entry->candidate->name));
    json_object_set_new(object, "version", res_json_text(entry->candidate->version));
    json_object_set_new(object, "library", res_json_text(entry->candidate->path));
    json_object_set_new(object, "environment", environment_object(entry->candidate));
    json_object_set_new(object, "failed", res_json_text(entry->failed));
    json_object_set_new(object, "failure", shared(entry->failure));
    json_object_set_new(object, "limit", res_limit_entry(options, entry));
    json_object_set_new(object, "check", shared(entry->check));
    if (!entry->is_floor)
        json_object_set_new(object, "waste", shared(entry->failed == NULL ? entry->waste : NULL));
    json_object_set_new(object, "time", time_object(figures, entry->is_floor));
    if (!entry->is_floor)
        json_object_set_new(object, "resident", resident_object(trial, entry, figures));
    json_object_set_new(object, "latency", res_latency_object(&entry->passes, floor_passes(trial, entry)));
    json_object_set(object, "system_calls",
                    entry->passes.system_calls != NULL ? entry->passes.system_calls : json_null());
    if (!entry->is_floor)
        json_object_set_new(object, "placement", shared(entry->passes.placement));
    json_object_set_new(object, "warmup_ns", json_integer((json_int_t)entry->warmup_ns));
    json_object_set_new(object, "runs", runs_array(entry->runs, entry->run_count));
    if (!entry->is_floor)
        json_object_set_new(object, "memory_runs", runs_array(entry->memory_runs, entry->memory_count));
    return object;
}

/* All runs of a workload have the same. */
static uint64_t inherited_ops(const struct res_trial *trial)
{
    for (size_t i = 0; i < trial->entry_count; i++)
        if (trial->entries[i].run_count > 0)
            return trial->entries[i].runs[0].inherited_ops;
    return 0;
}

/* What ended the rounds, and how near they came to what was asked. */
static json_t *stopped_object(const struct res_trial *trial, const struct res_options *options)
{
    json_t *object = json_object();
    json_object_set_new(object, "by", json_string(res_ended_name(trial->ended)));
    json_object_set_new(object, "width", res_json_number(res_until_width(trial, options->seed)));
    json_object_set_new(object, "until_width", options->until > 0 ? json_real(options->until) : json_null());
    json_object_set_new(object, "elapsed_ns", json_integer((json_int_t)trial->elapsed_ns));
    json_object_set_new(object, "time_budget_ns",
                        options->time_budget_ns > 0 ? json_integer((json_int_t)options->time_budget_ns)
                                                    : json_null());
    json_object_set_new(object, "rounds_max", json_integer(options->rounds));
    return object;
}

/* Of all entries, the candidates judged together. To be freed. */
static struct res_figures *figures_of(const struct res_trial *trial, uint64_t seed)
{
    struct res_figures *figures = res_calloc(trial->entry_count, sizeof *figures);
    for (size_t i = 0; i < trial->entry_count; i++)
        figures[i] = res_figures_of(trial, &trial->entries[i], seed);
    res_figures_family(figures + 1, trial->candidate_count - 1);
    return figures;
}

/* With what follows from the figures. Takes over the reference. */
static json_t *completed(json_t *object, uint64_t seed)
{
    struct res_result_workload workload;
    char *problem = NULL;
    if (res_described_read(&RES_RESULT_WORKLOAD, object, &workload, &problem)) {
        res_entry_figures_fill(&workload);
        res_latency_judge(&workload, seed);
        json_decref(object);
        object = res_described_write(&RES_RESULT_WORKLOAD, &workload);
        res_described_release(&RES_RESULT_WORKLOAD, &workload);
    }
    free(problem);
    return object;
}

static json_t *workload_object(const struct res_trial *trial, const struct res_options *options)
{
    struct res_figures *figures = figures_of(trial, options->seed);
    const struct res_workload *workload = trial->workload;
    const struct res_entry *floor = res_trial_floor(trial);
    json_t *object = json_object();
    json_t *candidates = json_array();
    for (size_t i = 0; i < trial->candidate_count; i++)
        json_array_append_new(candidates, entry_object(trial, &trial->entries[i], &figures[i], options));
    json_object_set_new(object, "name", res_json_text(workload->name));
    json_object_set_new(object, "program",
                        workload->program[0] != '\0' ? res_json_text(workload->program) : json_null());
    json_object_set_new(object, "processes",
                        workload->processes > 1 ? json_integer((json_int_t)workload->processes)
                                                : json_null());
    json_object_set_new(object, "events_share",
                        workload->processes > 1 ? res_json_number(workload->events_share) : json_null());
    json_object_set_new(object, "merged_processes",
                        workload->merged_processes > 0 ? json_integer((json_int_t)workload->merged_processes)
                                                       : json_null());
    json_object_set_new(object, "selection",
                        workload->selection[0] != '\0' ? res_json_text(workload->selection) : json_null());
    json_object_set_new(object, "digest", res_json_text(trial->digest));
    json_object_set_new(object, "file_digest", hexadecimal(workload->file_digest));
    json_object_set_new(object, "ops", json_integer((json_int_t)workload->ops));
    json_object_set_new(object, "inherited_ops", json_integer((json_int_t)inherited_ops(trial)));
    json_object_set_new(object, "complete", json_boolean(workload->complete));
    json_object_set_new(object, "incomplete_why",
                        workload->complete ? json_null() : res_json_text(workload->incomplete_why));
    json_object_set_new(object, "lost_calls", json_integer((json_int_t)workload->lost_calls));
    json_object_set_new(object, "lost_known", json_boolean(workload->lost_known));
    json_object_set_new(object, "left_out_calls", json_integer((json_int_t)workload->left_out_calls));
    json_object_set_new(object, "removed_calls", json_integer((json_int_t)workload->removed_calls));
    json_object_set_new(object, "live", res_json_text(workload->live[0] != '\0' ? workload->live : "known"));
    json_object_set_new(object, "threads", json_integer((json_int_t)workload->threads));
    json_object_set_new(object, "duration_ns", json_integer((json_int_t)workload->duration_ns));
    json_object_set_new(object, "live_peak_bytes", json_integer((json_int_t)workload->live_peak_bytes));
    json_object_set_new(object, "rounds", json_integer(trial->rounds));
    json_object_set_new(object, "stopped", stopped_object(trial, options));
    json_object_set_new(object, "steadiness", res_steadiness(trial));
    json_object_set_new(object, "memory_rounds", json_integer(trial->memory_rounds));
    json_object_set(object, "samples", trial->samples != NULL ? trial->samples : json_null());
    json_object_set(object, "memory_samples",
                    trial->memory_samples != NULL ? trial->memory_samples : json_null());
    json_object_set_new(object, "candidates", candidates);
    json_object_set_new(
        object, "control",
        entry_object(trial, res_trial_control(trial), &figures[trial->candidate_count], options));
    json_object_set_new(object, "floor",
                        floor != NULL
                            ? entry_object(trial, floor, &figures[trial->candidate_count + 1], options)
                            : json_null());
    free(figures);
    return completed(object, options->seed);
}

static json_t *warmup_object(void)
{
    json_t *object = json_object();
    json_object_set_new(object, "runs_per_candidate", json_integer(1));
    json_object_set_new(object, "counted", json_false());
    return object;
}

static json_t *missing_array(const struct res_missing *missing, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *object = json_object();
        json_object_set_new(object, "name", res_json_text(missing[i].name));
        json_object_set_new(object, "reason", res_json_text(missing[i].reason));
        json_array_append_new(array, object);
    }
    return array;
}

void res_json_put_complete(json_t *result, const json_t *workloads, bool stopped)
{
    const char *why = stopped ? "the experiment was stopped before its end" : NULL;
    const char *name = NULL;
    size_t index;
    json_t *workload;
    json_array_foreach(workloads, index, workload)
    {
        if (why != NULL || !json_is_false(json_object_get(workload, "complete")))
            continue;
        why = json_string_value(json_object_get(workload, "incomplete_why"));
        why = why != NULL ? why : "not known why";
        name = json_string_value(json_object_get(workload, "name"));
    }
    char *words = why == NULL    ? NULL
                  : name != NULL ? res_printf("the recording of %s is not whole: %s", name, why)
                                 : res_strdup(why);
    json_object_set_new(result, "complete", json_boolean(why == NULL));
    json_object_set_new(result, "incomplete_why", res_json_text(words));
    free(words);
}

json_t *res_json_experiment(const struct res_experiment *experiment, const struct res_missing *missing,
                            size_t missing_count)
{
    const struct res_options *options = &experiment->options;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    unsigned rounds =
        options->rounds; /* the least over the workloads: only a stop makes it less than asked for */
    json_t *workloads = json_array();
    for (size_t i = 0; i < experiment->trial_count; i++) {
        const struct res_trial *trial = &experiment->trials[i];
        rounds = trial->rounds < rounds ? trial->rounds : rounds;
        json_array_append_new(workloads, workload_object(trial, options));
    }
    json_t *result = json_object();
    json_object_set_new(result, "schema", json_string(RES_SCHEMA));
    json_object_set_new(result, "mallab_version", json_string(MALLAB_VERSION));
    json_object_set_new(result, "created_unix_ns",
                        json_integer((json_int_t)now.tv_sec * 1000000000 + now.tv_nsec));
    res_json_put_complete(result, workloads, experiment->stopped);
    json_object_set_new(result, "baseline", res_json_text(options->candidates[0]->name));
    json_object_set_new(result, "rounds", json_integer(rounds));
    json_object_set_new(result, "rounds_asked", json_integer(options->rounds));
    json_object_set_new(result, "memory_rounds_asked", json_integer(options->memory_rounds));
    json_object_set_new(result, "memory_idle_ms", json_integer((json_int_t)options->idle_ms));
    json_object_set_new(result, "stopped", json_boolean(experiment->stopped));
    json_object_set_new(result, "seed", json_integer((json_int_t)options->seed));
    json_object_set_new(result, "resamples", json_integer(RES_RESAMPLES));
    json_object_set_new(result, "touch", res_json_text(options->touch != NULL ? options->touch : "page"));
    json_object_set_new(result, "check", json_boolean(options->check));
    json_object_set_new(result, "one_thread", json_boolean(options->one_thread));
    json_object_set_new(result, "limit_bytes",
                        options->limit_bytes != 0 ? json_integer((json_int_t)options->limit_bytes)
                                                  : json_null());
    json_object_set_new(result, "limit_by", res_json_text(res_limit_by(options)));
    json_object_set_new(result, "limit_by_why", res_json_text(options->limit_by_why));
    json_object_set_new(result, "warmup", warmup_object());
    json_object_set_new(result, "machine", res_machine_describe());
    json_object_set_new(result, "missing", missing_array(missing, missing_count));
    json_object_set_new(result, "workloads", workloads);
    return result;
}
