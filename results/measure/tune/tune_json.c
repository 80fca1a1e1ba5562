/* tune_json.c - a search as JSON, and checked back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/base/json_values.h"
#include "results/measure/base/shell_line.h"
#include "results/measure/base/support.h"
#include "results/report/table/tune_report.h"

#define ROWS_MAX (RES_TUNE_FINALISTS + 1)

/* ---- small parts ---------------------------------------------------------------------------- */

static void set_count(json_t *object, const char *key, uint64_t count)
{
    json_object_set_new(object, key, json_integer((json_int_t)count));
}

/* Samples are logarithms in the search. */
static json_t *ratios(const double *logs, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, res_json_number(exp(logs[i])));
    return array;
}

char *res_tune_paste(const struct res_candidate *candidate)
{
    struct res_text words = {0};
    for (size_t i = 0; i < candidate->variable_count; i++)
        res_shell_variable(&words, candidate->environment[i].name, candidate->environment[i].value);
    return words.text != NULL ? words.text : res_strdup("");
}

/* ---- points --------------------------------------------------------------------------------- */

static json_t *settings_of(const struct res_tune_space *space, const struct res_tune_point *point)
{
    json_t *object = json_object();
    for (size_t i = 0; point != NULL && i < point->choice_count; i++) {
        const struct res_range *range = &space->bases[point->base]->ranges[point->choices[i].range];
        json_object_set_new(object, range->setting, res_json_text(range->values[point->choices[i].value]));
    }
    return object;
}

static json_t *point_object(const struct res_tune_space *space, const struct res_tune_point *point)
{
    const bool tried = point->time_count > 0;
    json_t *object = json_object();
    json_object_set_new(object, "name", res_json_text(point->name));
    json_object_set_new(object, "allocator", res_json_text(space->bases[point->base]->name));
    json_object_set_new(object, "settings", settings_of(space, point));
    json_object_set_new(object, "state", json_string(res_tune_state_name(point->state)));
    json_object_set_new(object, "failed", res_json_text(point->why));
    json_object_set_new(object, "time_ratio", res_json_number(tried ? exp(res_tune_time_of(point)) : NAN));
    json_object_set_new(object, "memory_ratio",
                        res_json_number(point->memory_count > 0 ? exp(res_tune_memory_of(point)) : NAN));
    json_object_set_new(object, "time_ratios", ratios(point->times, point->time_count));
    json_object_set_new(object, "memory_ratios", ratios(point->memories, point->memory_count));
    return object;
}

static json_t *points_array(const struct res_tune_space *space)
{
    json_t *array = json_array();
    for (size_t i = 0; i < space->point_count; i++)
        json_array_append_new(array, point_object(space, space->points[i]));
    return array;
}

static json_t *counts_object(const struct res_tune_space *space)
{
    json_t *object = json_object();
    for (int state = RES_TUNE_UNTRIED; state <= RES_TUNE_FINALIST; state++)
        set_count(object, res_tune_state_name((enum res_tune_state)state),
                  res_tune_count(space, (enum res_tune_state)state));
    return object;
}

/* ---- rows: the default and the finalists ---------------------------------------------------- */

static json_t *difference_object(const struct res_difference *difference, const char *verdict, double p)
{
    json_t *object = json_object();
    json_object_set_new(object, "ratio", res_json_number(difference->ratio));
    json_object_set_new(object, "ratio_low", res_json_number(difference->interval.low));
    json_object_set_new(object, "ratio_high", res_json_number(difference->interval.high));
    json_object_set_new(object, "verdict", json_string(verdict));
    json_object_set_new(object, "p", res_json_number(p));
    return object;
}

static double median_of_logs(const double *logs, size_t count)
{
    return count > 0 ? exp(res_median(logs, count)) : NAN;
}

/* Where there is no confirmation: what the search saw, without a verdict. */
static struct res_tune_judgement estimate_of(const struct res_tune_search *search,
                                             const struct res_tune_point *point)
{
    const struct res_tune_default *reference = &search->reference;
    struct res_tune_judgement judgement = {
        .time = {.ratio = NAN, .interval = {NAN, NAN}},
        .memory = {.ratio = NAN, .interval = {NAN, NAN}},
        .time_value = median_of_logs(reference->times, reference->time_count),
        .memory_value = median_of_logs(reference->memories, reference->memory_count),
        .time_p = NAN,
        .memory_p = NAN,
    };
    if (point == NULL)
        return judgement;
    const double time = res_tune_time_of(point), memory = res_tune_memory_of(point);
    const double time_reach = 2 * res_tune_error(search->noise.time, point->time_count);
    const double memory_reach = 2 * res_tune_error(search->noise.memory, point->memory_count);
    judgement.time.ratio = exp(time);
    judgement.time.interval = (struct res_interval){exp(time - time_reach), exp(time + time_reach)};
    if (point->memory_count > 0) {
        judgement.memory.ratio = exp(memory);
        judgement.memory.interval = (struct res_interval){exp(memory - memory_reach),
                                                          exp(memory + memory_reach)};
    }
    judgement.time_value *= exp(time);
    judgement.memory_value *= exp(memory);
    return judgement;
}

static json_t *row_object(const struct res_tune_search *search, struct res_tune_replays *replays,
                          struct res_tune_point *point, const struct res_tune_judgement *judgement)
{
    char *problem = NULL;
    const struct res_candidate *candidate = res_tune_candidate(replays, point, &problem);
    json_t *object = json_object();
    free(problem); /* it ran: there is one */
    char *paste = res_tune_paste(candidate);
    const bool linked = candidate->preload == NULL && strcmp(candidate->replay, "glibc") == 0;
    json_t *time = difference_object(&judgement->time, res_verdict_name(judgement->time.verdict),
                                     judgement->time_p);
    json_t *memory = difference_object(&judgement->memory, res_verdict_memory_name(judgement->memory.verdict),
                                       judgement->memory_p);
    json_t *environment = json_object();
    for (size_t i = 0; i < candidate->variable_count; i++)
        json_object_set_new(environment, candidate->environment[i].name,
                            res_json_text(candidate->environment[i].value));
    json_object_set_new(time, "typical_ns_per_op", res_json_number(judgement->time_value));
    json_object_set_new(memory, "bytes", res_json_number(judgement->memory_value));
    json_object_set_new(object, "name", res_json_text(candidate->name));
    json_object_set_new(object, "allocator",
                        res_json_text(search->space->bases[point != NULL ? point->base : 0]->name));
    json_object_set_new(object, "is_default", json_boolean(point == NULL));
    json_object_set_new(object, "settings", settings_of(search->space, point));
    json_object_set_new(object, "environment", environment);
    json_object_set_new(object, "paste", res_json_text(paste));
    /* Debian's programs have the C library's malloc: any other must be loaded first. */
    json_object_set_new(object, "library", linked ? json_null() : res_json_text(candidate->path));
    json_object_set_new(object, "time", time);
    json_object_set_new(object, "memory", memory);
    free(paste);
    return object;
}

static void set_rows(json_t *tune, const struct res_tune_search *search, struct res_tune_replays *replays,
                     bool confirmed)
{
    json_t *front = json_array(), *beaten = json_array();
    for (size_t i = 0; i <= search->finalist_count; i++) {
        struct res_tune_point *point = i > 0 ? search->finalists[i - 1] : NULL;
        const struct res_tune_judgement judgement = search->judgements != NULL ? search->judgements[i]
                                                                               : estimate_of(search, point);
        json_array_append_new(judgement.on_front || !confirmed ? front : beaten,
                              row_object(search, replays, point, &judgement));
    }
    json_object_set_new(tune, "front", front);
    json_object_set_new(tune, "beaten", beaten);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static size_t rounds_done(const struct res_tune_search *search)
{
    return search->judgements != NULL ? search->confirmation.entries[0].time_count : 0;
}

static json_t *workload_object(const struct res_workload *workload)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", res_json_text(workload->name));
    json_object_set_new(object, "program",
                        workload->program[0] != '\0' ? res_json_text(workload->program) : json_null());
    set_count(object, "ops", workload->ops);
    set_count(object, "threads", workload->threads);
    set_count(object, "duration_ns", workload->duration_ns);
    set_count(object, "live_peak_bytes", workload->live_peak_bytes);
    json_object_set_new(object, "live", json_string(workload->live[0] != '\0' ? workload->live : "known"));
    return object;
}

static json_t *tune_object(const struct res_tune_search *search, struct res_tune_replays *replays)
{
    const struct res_tune_space *space = search->space;
    const bool confirmed = rounds_done(search) >= RES_ROUNDS_FOR_VERDICT;
    json_t *tune = json_object(), *allocators = json_array(), *noise = json_object();
    for (size_t i = 0; i < space->base_count; i++)
        json_array_append_new(allocators, res_json_text(space->bases[i]->name));
    json_object_set_new(noise, "time", res_json_number(search->noise.time));
    json_object_set_new(noise, "memory", res_json_number(search->noise.memory));
    json_object_set_new(tune, "confirmed", json_boolean(confirmed));
    json_object_set_new(tune, "stopped", json_boolean(search->end == RES_TUNE_END_STOPPED));
    json_object_set_new(tune, "memory", json_string(res_tune_memory_name(replays->memory)));
    json_object_set_new(tune, "default", res_json_text(space->bases[0]->name));
    json_object_set_new(tune, "allocators", allocators);
    json_object_set_new(tune, "workload", workload_object(replays->workload));
    set_count(tune, "seed", search->seed);
    set_count(tune, "budget_ns", search->budget_ns);
    set_count(tune, "search_ns", search->search_ns);
    set_count(tune, "confirmation_ns", search->confirmation_ns);
    set_count(tune, "runs", search->runs);
    set_count(tune, "declared", space->declared);
    set_count(tune, "confirmation_rounds", rounds_done(search));
    json_object_set_new(tune, "p_needed", res_json_number(res_tune_level(search->finalist_count)));
    json_object_set_new(tune, "least_difference", res_json_number(RES_TUNE_WORTH));
    json_object_set_new(tune, "noise", noise);
    set_rows(tune, search, replays, confirmed);
    json_object_set_new(tune, "counts", counts_object(space));
    json_object_set_new(tune, "default_ns_per_op",
                        ratios(search->reference.times, search->reference.time_count));
    json_object_set_new(tune, "default_bytes",
                        ratios(search->reference.memories, search->reference.memory_count));
    json_object_set_new(tune, "points", points_array(space));
    return tune;
}

void res_tune_result(const struct res_tune_search *search, struct res_tune_replays *replays,
                     const struct res_missing *missing, size_t missing_count, struct res_result *ret_result)
{
    const struct res_experiment none = {
        .options = {.candidates = replays->bases, .candidate_count = 1, .seed = replays->seed},
        .stopped = true,
    };
    const bool has = rounds_done(search) > 0;
    res_result_of_experiment(has ? &replays->confirmation : &none, missing, missing_count, ret_result);
    ret_result->tune = tune_object(search, replays);
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool row_is_valid(const json_t *row)
{
    return json_is_string(json_object_get(row, "name")) && json_is_string(json_object_get(row, "paste")) &&
           /* Somebody may paste it into a shell. */
           res_shell_is_line(json_string_value(json_object_get(row, "paste"))) &&
           json_is_object(json_object_get(row, "time")) && json_is_object(json_object_get(row, "memory")) &&
           json_is_boolean(json_object_get(row, "is_default"));
}

static bool rows_are_valid(const json_t *rows)
{
    size_t index;
    json_t *row;
    if (!json_is_array(rows) || json_array_size(rows) > ROWS_MAX)
        return false;
    json_array_foreach(rows, index, row)
    {
        if (!row_is_valid(row))
            return false;
    }
    return true;
}

const char *res_tune_check(const json_t *result)
{
    const json_t *tune = json_object_get(result, "tune");
    if (tune == NULL)
        return NULL;
    if (!json_is_object(tune) || !json_is_boolean(json_object_get(tune, "confirmed")) ||
        !json_is_string(json_object_get(tune, "memory")) || !json_is_string(json_object_get(tune, "default")))
        return "tune lacks confirmed, memory or default";
    if (!rows_are_valid(json_object_get(tune, "front")) || !rows_are_valid(json_object_get(tune, "beaten")))
        return "a row of tune's front or beaten lacks name, paste, time, memory or is_default";
    if (!json_is_array(json_object_get(tune, "points")) || !json_is_object(json_object_get(tune, "counts")) ||
        !json_is_object(json_object_get(tune, "workload")))
        return "tune lacks points, counts or workload";
    return NULL;
}
