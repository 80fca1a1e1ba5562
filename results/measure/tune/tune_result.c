/* tune_result.c - what a search and its confirmation found, as the struct that is kept. */
#include "results/measure/tune/tune_result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/base/shell_line.h"
#include "results/measure/result/tuned.h"

/* ---- small parts ---------------------------------------------------------------------------- */

/* Samples are logarithms in the search. */
static double *ratios(const double *logs, size_t count, size_t *ret_count)
{
    double *values = res_calloc(count + 1, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = exp(logs[i]);
    *ret_count = count;
    return values;
}

static double median_of_logs(const double *logs, size_t count)
{
    return count > 0 ? exp(res_median(logs, count)) : NAN;
}

static void add_pair(struct res_pairs *pairs, const char *name, const char *value)
{
    pairs->items = res_realloc(pairs->items, pairs->count + 1, sizeof *pairs->items);
    pairs->items[pairs->count++] = (struct res_pair){res_strdup(name), res_strdup(value)};
}

static void add_settings(const struct res_tune_space *space, const struct res_tune_point *point,
                         struct res_pairs *ret_settings)
{
    for (size_t i = 0; point != NULL && i < point->choice_count; i++) {
        const struct res_range *range = &space->bases[point->base]->ranges[point->choices[i].range];
        add_pair(ret_settings, range->setting, range->values[point->choices[i].value]);
    }
}

static void take_points(const struct res_tune_space *space, struct res_tuned *tuned)
{
    tuned->points = res_calloc(space->point_count + 1, sizeof *tuned->points);
    tuned->point_count = space->point_count;
    for (size_t i = 0; i < space->point_count; i++) {
        const struct res_tune_point *point = space->points[i];
        struct res_tuned_point *taken = &tuned->points[i];
        res_described_init(&RES_TUNED_POINT, taken);
        taken->name = res_strdup(point->name);
        taken->allocator = res_strdup(space->bases[point->base]->name);
        add_settings(space, point, &taken->settings);
        taken->state = (int)point->state;
        taken->failed = point->why != NULL ? res_text_plain(point->why) : NULL;
        taken->time_ratio = median_of_logs(point->times, point->time_count);
        taken->memory_ratio = median_of_logs(point->memories, point->memory_count);
        taken->time_ratios = ratios(point->times, point->time_count, &taken->time_count);
        taken->memory_ratios = ratios(point->memories, point->memory_count, &taken->memory_count);
        tuned->counts[point->state]++;
    }
}

/* ---- rows: the default and the finalists ---------------------------------------------------- */

/* What the search saw of a figure, without a verdict, where there is no confirmation. */
static struct res_tuned_figure estimate_of(double log_ratio, double error, bool has, double standard)
{
    struct res_tuned_figure figure = {
        .difference = {.ratio = NAN, .interval = {NAN, NAN}}, .p = NAN, .value = standard * exp(log_ratio)};
    if (has) {
        figure.difference.ratio = exp(log_ratio);
        figure.difference.interval = (struct res_interval){exp(log_ratio - 2 * error),
                                                           exp(log_ratio + 2 * error)};
    }
    return figure;
}

static void take_figures(const struct res_tune_search *search, size_t index,
                         const struct res_tune_point *point, struct res_tuned_row *ret_row)
{
    if (search->judgements != NULL) {
        const struct res_tune_judgement *judgement = &search->judgements[index];
        ret_row->time = (struct res_tuned_figure){judgement->time, judgement->time_p, judgement->time_value};
        ret_row->memory = (struct res_tuned_figure){judgement->memory, judgement->memory_p,
                                                    judgement->memory_value};
        return;
    }
    const struct res_tune_default *reference = &search->reference;
    const double time = median_of_logs(reference->times, reference->time_count);
    const double memory = median_of_logs(reference->memories, reference->memory_count);
    ret_row->time = estimate_of(0, 0, false, time);
    ret_row->memory = estimate_of(0, 0, false, memory);
    if (point == NULL)
        return;
    ret_row->time = estimate_of(res_tune_time_of(point),
                                res_tune_error(search->noise.time, point->time_count), true, time);
    ret_row->memory = estimate_of(res_tune_memory_of(point),
                                  res_tune_error(search->noise.memory, point->memory_count),
                                  point->memory_count > 0, memory);
}

static void take_row(const struct res_tune_search *search, size_t index, struct res_tune_replays *replays,
                     struct res_tuned_row *ret_row)
{
    struct res_tune_point *point = index > 0 ? search->finalists[index - 1] : NULL;
    char *problem = NULL;
    const struct res_candidate *candidate = res_tune_candidate(replays, point, &problem);
    struct res_text paste = {0};
    free(problem); /* it ran: there is one */
    res_described_init(&RES_TUNED_ROW, ret_row);
    for (size_t i = 0; i < candidate->variable_count; i++) {
        const struct res_variable *variable = &candidate->environment[i];
        add_pair(&ret_row->environment, variable->name, variable->value);
        res_shell_variable(&paste, variable->name, variable->value);
    }
    ret_row->name = res_strdup(candidate->name);
    ret_row->allocator = res_strdup(search->space->bases[point != NULL ? point->base : 0]->name);
    ret_row->is_default = point == NULL;
    add_settings(search->space, point, &ret_row->settings);
    ret_row->paste = paste.text != NULL ? paste.text : res_strdup("");
    /* Debian's programs have the C library's malloc: any other must be loaded first. */
    if (candidate->preload != NULL || strcmp(candidate->replay, "glibc") != 0)
        ret_row->library = candidate->path != NULL ? res_strdup(candidate->path) : NULL;
    take_figures(search, index, point, ret_row);
}

static void take_rows(const struct res_tune_search *search, struct res_tune_replays *replays,
                      struct res_tuned *tuned)
{
    tuned->front = res_calloc(search->finalist_count + 1, sizeof *tuned->front);
    tuned->beaten = res_calloc(search->finalist_count + 1, sizeof *tuned->beaten);
    for (size_t i = 0; i <= search->finalist_count; i++) {
        const bool is_front = !tuned->confirmed || search->judgements[i].on_front;
        take_row(search, i, replays,
                 is_front ? &tuned->front[tuned->front_count++] : &tuned->beaten[tuned->beaten_count++]);
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

static size_t rounds_done(const struct res_tune_search *search)
{
    return search->judgements != NULL ? search->confirmation.entries[0].time_count : 0;
}

static struct res_tuned *tuned_of(const struct res_tune_search *search, struct res_tune_replays *replays)
{
    const struct res_tune_space *space = search->space;
    const struct res_tune_default *reference = &search->reference;
    struct res_tuned *tuned = res_calloc(1, sizeof *tuned);
    res_described_init(&RES_TUNED, tuned);
    tuned->confirmed = rounds_done(search) >= RES_ROUNDS_FOR_VERDICT;
    tuned->stopped = search->end == RES_TUNE_END_STOPPED;
    tuned->memory = (int)replays->memory;
    tuned->standard = res_strdup(space->bases[0]->name);
    for (size_t i = 0; i < space->base_count; i++)
        res_texts_add(&tuned->allocators, space->bases[i]->name);
    res_result_take_recording(replays->workload, &tuned->workload);
    tuned->seed = search->seed;
    tuned->budget_ns = search->budget_ns;
    tuned->search_ns = search->search_ns;
    tuned->confirmation_ns = search->confirmation_ns;
    tuned->runs = search->runs;
    tuned->declared = space->declared;
    tuned->confirmation_rounds = rounds_done(search);
    tuned->p_needed = res_tune_level(search->finalist_count);
    tuned->least_difference = RES_TUNE_WORTH;
    tuned->noise_time = search->noise.time;
    tuned->noise_memory = search->noise.memory;
    tuned->default_ns_per_op = ratios(reference->times, reference->time_count, &tuned->default_time_count);
    tuned->default_bytes = ratios(reference->memories, reference->memory_count, &tuned->default_memory_count);
    take_rows(search, replays, tuned);
    take_points(space, tuned);
    return tuned;
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
    ret_result->tune = tuned_of(search, replays);
}
