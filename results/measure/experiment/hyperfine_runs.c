/* hyperfine_runs.c - hyperfine once for each entry and round, and its figures into the result. */
#include "results/measure/experiment/hyperfine_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/base/random.h"
#include "results/measure/experiment/timed.h"
#include "results/measure/statistics/statistics.h"

#define NS_PER_S 1e9

/* As in experiment.c: what takes this much longer than its warm-up has hung. */
#define HANGS_AFTER_TIMES 20u
#define HANGS_AFTER_NS    UINT64_C(60000000000)

/* Of one entry; arrays of as many as there are rounds. */
struct whole {
    const struct res_entry *entry;
    struct res_result_entry *told; /* of the result; NULL: it takes no part */
    struct res_timed *runs;
    char *failed;
};

static char *why_it_failed(const struct res_group *group, uint64_t limit_bytes, int exit_code)
{
    json_t *killed = group->directory != NULL ? res_group_killed(group, limit_bytes) : NULL;
    char *end = res_command_end_words(exit_code);
    char *why = killed != NULL ? res_printf("died: %s", json_string_value(json_object_get(killed, "text")))
                               : res_printf("it ended %s", end);
    free(end);
    json_decref(killed);
    return why;
}

static enum res_real_state run_once(const struct res_whole_request *request, const struct res_trial *trial,
                                    struct whole *whole, struct res_timed *ret_timed)
{
    const struct res_options *options = &request->experiment->options;
    const struct res_candidate *candidate = whole->entry->candidate;
    const uint64_t limit_bytes = whole->entry->is_floor ? 0 : options->limit_bytes;
    struct res_group group = {.lock_fd = -1, .notes_fd = -1};
    if (limit_bytes != 0 && options->group_place != NULL &&
        !res_group_make(options->group_place, &group, &whole->failed))
        return RES_REAL_FAILED;
    const struct res_run_request run = {
        .candidate = candidate,
        .workload = trial->workload->path,
        .touch = options->touch,
        .limit_bytes = limit_bytes,
        .group = group.directory != NULL ? &group : NULL,
        .more = options->replay_options,
    };
    char **arguments = res_run_arguments(&run, NULL);
    char **environment = res_run_environment(candidate);
    char *errors = res_path_join(request->directory, "hyperfine.stderr");
    const struct res_timed_request timed = {
        .command = {.path = candidate->program,
                    .arguments = arguments,
                    .environment = environment,
                    .errors = errors,
                    .timeout_ns = options->timeout_ns != 0
                                      ? options->timeout_ns
                                      : whole->entry->warmup_ns * HANGS_AFTER_TIMES + HANGS_AFTER_NS,
                    .stop = options->stop},
        .hyperfine = request->hyperfine,
        .directory = request->directory,
    };
    const enum res_real_state state = res_timed_run(&timed, ret_timed, &whole->failed);
    if (state == RES_REAL_OK && ret_timed->exit_code != 0)
        whole->failed = why_it_failed(&group, limit_bytes, ret_timed->exit_code);
    res_group_remove(&group);
    res_strings_free(arguments);
    res_strings_free(environment);
    free(errors);
    return state;
}

/* ---- into the result ------------------------------------------------------------------------ */

enum part { WALL, USER, SYSTEM };

static double part_of(const struct res_timed *run, enum part part)
{
    return part == WALL ? run->wall_ns : part == USER ? run->user_ns : run->system_ns;
}

static uint64_t *times_of(const struct whole *whole, size_t rounds, enum part part)
{
    uint64_t *times = res_calloc(rounds, sizeof *times);
    for (size_t round = 0; round < rounds; round++)
        times[round] = (uint64_t)llround(part_of(&whole->runs[round], part));
    return times;
}

static double mean_of(const struct whole *whole, size_t rounds, enum part part)
{
    double sum = 0;
    for (size_t round = 0; round < rounds; round++)
        sum += part_of(&whole->runs[round], part);
    return sum / (double)rounds;
}

static void set_ratio(const struct whole *whole, const struct whole *baseline, size_t rounds, uint64_t seed,
                      struct res_whole_process *told)
{
    double *ratios = res_calloc(rounds, sizeof *ratios);
    for (size_t round = 0; round < rounds; round++)
        ratios[round] = whole->runs[round].wall_ns / baseline->runs[round].wall_ns;
    const struct res_interval interval = res_bootstrap_median(ratios, rounds, seed);
    told->ratio = res_median(ratios, rounds);
    told->ratio_low = interval.low;
    told->ratio_high = interval.high;
    free(ratios);
}

static void set_figures(const struct whole *whole, size_t rounds, struct res_whole_process *told)
{
    double *walls = res_calloc(rounds, sizeof *walls);
    told->rounds = rounds;
    told->wall_ns = times_of(whole, rounds, WALL);
    told->user_ns = times_of(whole, rounds, USER);
    told->system_ns = times_of(whole, rounds, SYSTEM);
    told->exit_codes = res_calloc(rounds, sizeof *told->exit_codes);
    told->wall_count = told->user_count = told->system_count = told->exit_count = rounds;
    for (size_t round = 0; round < rounds; round++) {
        walls[round] = whole->runs[round].wall_ns;
        told->exit_codes[round] = (uint64_t)whole->runs[round].exit_code;
    }
    told->wall_ns_median = res_median(walls, rounds);
    told->user_ns_mean = mean_of(whole, rounds, USER);
    told->system_ns_mean = mean_of(whole, rounds, SYSTEM);
    free(walls);
}

static void tell(const struct whole *whole, const struct whole *baseline, size_t rounds, uint64_t seed)
{
    struct res_whole_process *told = res_calloc(1, sizeof *told);
    res_described_init(&RES_WHOLE_PROCESS, told);
    whole->told->whole_process = told;
    if (whole->failed != NULL)
        told->failed = res_text_plain(whole->failed);
    else if (rounds > 0)
        set_figures(whole, rounds, told);
    if (told->rounds > 0 && whole != baseline && !whole->entry->is_floor && baseline->failed == NULL)
        set_ratio(whole, baseline, rounds, seed, told);
}

/* NULL: the control, which takes no part, or what failed in the experiment. */
static struct res_result_entry *told_of(const struct res_trial *trial, struct res_result_workload *workload,
                                        size_t index)
{
    const struct res_entry *entry = &trial->entries[index];
    if (entry->failed != NULL || entry->is_control)
        return NULL;
    return entry->is_floor ? workload->floor : &workload->candidates[index];
}

/* ---- rounds --------------------------------------------------------------------------------- */

struct state {
    const struct res_whole_request *request;
    struct res_random random;
    size_t runs_done, runs_all;
    bool stopped;
};

static void run_round(struct state *state, const struct res_trial *trial, struct whole *wholes, size_t round)
{
    const struct res_whole_request *request = state->request;
    size_t *order = res_shuffled(&state->random, trial->entry_count);
    for (size_t i = 0; i < trial->entry_count && !state->stopped; i++) {
        struct whole *whole = &wholes[order[i]];
        if (whole->told == NULL || whole->failed != NULL)
            continue;
        if (request->progress != NULL)
            request->progress(request->context, trial->workload, whole->entry->candidate->name,
                              state->runs_done, state->runs_all);
        if (run_once(request, trial, whole, &whole->runs[round]) == RES_REAL_STOPPED)
            state->stopped = true;
        state->runs_done++;
    }
    free(order);
}

static void run_trial(struct state *state, const struct res_trial *trial,
                      struct res_result_workload *workload)
{
    const size_t rounds_asked = state->request->experiment->options.rounds;
    const uint64_t seed = state->request->experiment->options.seed;
    struct whole *wholes = res_calloc(trial->entry_count, sizeof *wholes);
    size_t rounds = 0;
    for (size_t i = 0; i < trial->entry_count; i++)
        wholes[i] = (struct whole){.entry = &trial->entries[i],
                                   .told = told_of(trial, workload, i),
                                   .runs = res_calloc(rounds_asked, sizeof *wholes[i].runs)};
    for (size_t round = 0; round < rounds_asked && !state->stopped; round++) {
        run_round(state, trial, wholes, round);
        rounds += !state->stopped;
    }
    for (size_t i = 0; i < trial->entry_count; i++) {
        if (wholes[i].told != NULL)
            tell(&wholes[i], &wholes[0], rounds, seed);
    }
    for (size_t i = 0; i < trial->entry_count; i++) {
        free(wholes[i].runs);
        free(wholes[i].failed);
    }
    free(wholes);
}

bool res_whole_run(const struct res_whole_request *request, struct res_result *result)
{
    const struct res_experiment *experiment = request->experiment;
    struct state state = {.request = request, .random = res_random_from(experiment->options.seed)};
    for (size_t i = 0; i < experiment->trial_count; i++) {
        for (size_t k = 0; k < experiment->trials[i].entry_count; k++)
            if (told_of(&experiment->trials[i], &result->workloads[i], k) != NULL)
                state.runs_all += experiment->options.rounds;
    }
    for (size_t i = 0; i < experiment->trial_count && !state.stopped; i++)
        run_trial(&state, &experiment->trials[i], &result->workloads[i]);
    return !state.stopped;
}

/* ---- as hyperfine exports it ---------------------------------------------------------------- */

/* Of a sample, as hyperfine has it: over count - 1. */
static json_t *deviation_of(const double *values, size_t count, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return count > 1 ? json_real(sqrt(sum / (double)(count - 1))) : json_null();
}

static json_t *exit_codes_of(const struct res_whole_process *whole)
{
    json_t *array = json_array();
    for (size_t i = 0; i < whole->exit_count; i++)
        json_array_append_new(array, json_integer((json_int_t)whole->exit_codes[i]));
    return array;
}

/* Keys and their order are hyperfine's. */
static json_t *result_of(const struct res_result_entry *entry, const char *workload, bool alone)
{
    const struct res_whole_process *whole = entry->whole_process;
    const size_t count = whole->wall_count;
    double *times = res_calloc(count, sizeof *times);
    json_t *array = json_array(), *object = json_object();
    double sum = 0, least = INFINITY, most = 0;
    for (size_t i = 0; i < count; i++) {
        times[i] = (double)whole->wall_ns[i] / NS_PER_S;
        sum += times[i];
        least = fmin(least, times[i]);
        most = fmax(most, times[i]);
        json_array_append_new(array, json_real(times[i]));
    }
    char *command = alone ? res_strdup(entry->name) : res_printf("%s %s", entry->name, workload);
    json_object_set_new(object, "command", json_string(command));
    json_object_set_new(object, "mean", json_real(sum / (double)count));
    json_object_set_new(object, "stddev", deviation_of(times, count, sum / (double)count));
    json_object_set_new(object, "median", json_real(res_median(times, count)));
    json_object_set_new(object, "user", json_real(whole->user_ns_mean / NS_PER_S));
    json_object_set_new(object, "system", json_real(whole->system_ns_mean / NS_PER_S));
    json_object_set_new(object, "min", json_real(least));
    json_object_set_new(object, "max", json_real(most));
    json_object_set_new(object, "times", array);
    json_object_set_new(object, "exit_codes", exit_codes_of(whole));
    json_object_set_new(object, "parameters",
                        json_pack("{s:s, s:s}", "candidate", entry->name, "workload", workload));
    free(command);
    free(times);
    return object;
}

static void add_result(json_t *results, const struct res_result *result,
                       const struct res_result_workload *workload, const struct res_result_entry *entry)
{
    if (entry != NULL && entry->whole_process != NULL && entry->whole_process->wall_count > 0)
        json_array_append_new(results, result_of(entry, workload->name, result->workload_count == 1));
}

json_t *res_whole_export(const struct res_result *result)
{
    json_t *results = json_array();
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_workload *workload = &result->workloads[i];
        for (size_t k = 0; k < workload->candidate_count; k++)
            add_result(results, result, workload, &workload->candidates[k]);
        add_result(results, result, workload, workload->floor);
    }
    if (json_array_size(results) > 0)
        return json_pack("{s:o}", "results", results);
    json_decref(results);
    return NULL;
}
