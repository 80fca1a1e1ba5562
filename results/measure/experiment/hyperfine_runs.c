/* hyperfine_runs.c - hyperfine once for each entry and round, and its figures into the result. */
#include "results/measure/experiment/hyperfine_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/base/random.h"
#include "results/measure/statistics/statistics.h"
#include "results/measure/validate/timed.h"

/* As in experiment.c: what takes this much longer than its warm-up has hung. */
#define HANGS_AFTER_TIMES 20u
#define HANGS_AFTER_NS    UINT64_C(60000000000)

/* Of one entry; arrays of as many as there are rounds. */
struct whole {
    const struct res_entry *entry;
    json_t *object; /* of the result, borrowed */
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

static json_t *array_of(const struct whole *whole, size_t rounds, enum part part)
{
    json_t *array = json_array();
    for (size_t round = 0; round < rounds; round++)
        json_array_append_new(array, json_integer((json_int_t)llround(part_of(&whole->runs[round], part))));
    return array;
}

static double mean_of(const struct whole *whole, size_t rounds, enum part part)
{
    double sum = 0;
    for (size_t round = 0; round < rounds; round++)
        sum += part_of(&whole->runs[round], part);
    return sum / (double)rounds;
}

static void set_ratio(json_t *object, const struct whole *whole, const struct whole *baseline, size_t rounds,
                      uint64_t seed)
{
    double *ratios = res_calloc(rounds, sizeof *ratios);
    for (size_t round = 0; round < rounds; round++)
        ratios[round] = whole->runs[round].wall_ns / baseline->runs[round].wall_ns;
    const struct res_interval interval = res_bootstrap_median(ratios, rounds, seed);
    json_object_set_new(object, "ratio", json_real(res_median(ratios, rounds)));
    json_object_set_new(object, "ratio_low", json_real(interval.low));
    json_object_set_new(object, "ratio_high", json_real(interval.high));
    free(ratios);
}

static void tell(const struct whole *whole, const struct whole *baseline, size_t rounds, uint64_t seed)
{
    const bool failed = whole->failed != NULL || rounds == 0;
    json_t *object = json_object();
    json_object_set_new(object, "rounds", json_integer(failed ? 0 : (json_int_t)rounds));
    json_object_set_new(object, "failed", whole->failed != NULL ? json_string(whole->failed) : json_null());
    if (!failed) {
        double *walls = res_calloc(rounds, sizeof *walls);
        json_t *codes = json_array();
        for (size_t round = 0; round < rounds; round++) {
            walls[round] = whole->runs[round].wall_ns;
            json_array_append_new(codes, json_integer(whole->runs[round].exit_code));
        }
        json_object_set_new(object, "wall_ns", array_of(whole, rounds, WALL));
        json_object_set_new(object, "user_ns", array_of(whole, rounds, USER));
        json_object_set_new(object, "system_ns", array_of(whole, rounds, SYSTEM));
        json_object_set_new(object, "exit_codes", codes);
        json_object_set_new(object, "wall_ns_median", json_real(res_median(walls, rounds)));
        json_object_set_new(object, "user_ns_mean", json_real(mean_of(whole, rounds, USER)));
        json_object_set_new(object, "system_ns_mean", json_real(mean_of(whole, rounds, SYSTEM)));
        free(walls);
        if (whole != baseline && !whole->entry->is_floor && baseline->failed == NULL)
            set_ratio(object, whole, baseline, rounds, seed);
    }
    json_object_set_new(whole->object, "whole_process", object);
}

/* The result's object of an entry; NULL: of the control, which takes no part, or of what failed in the experiment. */
static json_t *object_of(const struct res_trial *trial, json_t *workload, size_t index)
{
    const struct res_entry *entry = &trial->entries[index];
    if (entry->failed != NULL || entry->is_control)
        return NULL;
    return entry->is_floor ? json_object_get(workload, "floor")
                           : json_array_get(json_object_get(workload, "candidates"), index);
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
    size_t *order = res_calloc(trial->entry_count, sizeof *order);
    for (size_t i = 0; i < trial->entry_count; i++)
        order[i] = i;
    res_shuffle(&state->random, order, trial->entry_count);
    for (size_t i = 0; i < trial->entry_count && !state->stopped; i++) {
        struct whole *whole = &wholes[order[i]];
        if (whole->object == NULL || whole->failed != NULL)
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

static void run_trial(struct state *state, const struct res_trial *trial, json_t *workload)
{
    const size_t rounds_asked = state->request->experiment->options.rounds;
    const uint64_t seed = state->request->experiment->options.seed;
    struct whole *wholes = res_calloc(trial->entry_count, sizeof *wholes);
    size_t rounds = 0;
    for (size_t i = 0; i < trial->entry_count; i++)
        wholes[i] = (struct whole){.entry = &trial->entries[i],
                                   .object = object_of(trial, workload, i),
                                   .runs = res_calloc(rounds_asked, sizeof *wholes[i].runs)};
    for (size_t round = 0; round < rounds_asked && !state->stopped; round++) {
        run_round(state, trial, wholes, round);
        rounds += !state->stopped;
    }
    for (size_t i = 0; i < trial->entry_count; i++) {
        if (wholes[i].object != NULL)
            tell(&wholes[i], &wholes[0], rounds, seed);
    }
    for (size_t i = 0; i < trial->entry_count; i++) {
        free(wholes[i].runs);
        free(wholes[i].failed);
    }
    free(wholes);
}

bool res_whole_run(const struct res_whole_request *request, json_t *result)
{
    const struct res_experiment *experiment = request->experiment;
    json_t *workloads = json_object_get(result, "workloads");
    struct state state = {.request = request, .random = res_random_from(experiment->options.seed)};
    for (size_t i = 0; i < experiment->trial_count; i++) {
        for (size_t k = 0; k < experiment->trials[i].entry_count; k++)
            if (object_of(&experiment->trials[i], json_array_get(workloads, i), k) != NULL)
                state.runs_all += experiment->options.rounds;
    }
    for (size_t i = 0; i < experiment->trial_count && !state.stopped; i++)
        run_trial(&state, &experiment->trials[i], json_array_get(workloads, i));
    return !state.stopped;
}
