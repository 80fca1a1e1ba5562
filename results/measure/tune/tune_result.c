/* tune_result.c - replays for a search, and what it and its confirmation found as the struct that is kept. */
#include "results/measure/tune/tune_result.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "footprint/base/support.h"
#include "results/measure/base/shell_line.h"
#include "results/measure/candidate/variables.h"
#include "results/measure/experiment/experiment.h"
#include "results/measure/result/tuned.h"
#include "results/measure/run/member_runs.h"
#include "results/measure/tune/tune_search.h"

#define FLOOR_RUNS                                                                                           \
    3 /* of `none`: their median is subtracted during the search; the confirmation has its own */

/* A point that takes as long is given up: nobody would set what makes every call so slow. The rest is for machines that
 * stand still for a while. */
#define HANGS_AFTER_TIMES 5u
#define HANGS_AFTER_NS    UINT64_C(20000000000)

#define LEAST_NS 0.1 /* per op, net: where the floor's noise is larger than what is left */

static uint64_t now_ns(void *context)
{
    struct timespec now;
    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- candidates ----------------------------------------------------------------------------- */

/* tune_candidate - the candidate of a point; NULL is the default. Made when it is not there yet.
 * Returns  NULL with ret_problem set when it cannot be made. */
static const struct res_candidate *tune_candidate(struct res_tune_replays *replays,
                                                  struct res_tune_point *point, char **ret_problem)
{
    char *problem = NULL;
    if (point == NULL)
        return replays->bases[0];
    const struct res_candidate *base = replays->bases[point->base];
    if (point->choice_count == 0 || point->candidate != NULL)
        return point->candidate != NULL ? point->candidate : base;
    struct res_candidate *candidate = res_registry_copy(replays->registry, base, point->name, ret_problem);
    if (candidate == NULL)
        return NULL;
    candidate->description = res_printf("%s, tuned", base->name);
    for (size_t i = 0; i < point->choice_count && problem == NULL; i++) {
        const struct res_range *range = &base->ranges[point->choices[i].range];
        problem = res_setting_apply(candidate, range->setting, range->values[point->choices[i].value]);
    }
    if (problem == NULL && !res_candidate_resolve(candidate, replays->program_directories))
        problem = res_strdup(candidate->missing);
    if (problem != NULL) {
        *ret_problem = problem;
        return NULL;
    }
    point->candidate = candidate;
    return candidate;
}

/* ---- one run -------------------------------------------------------------------------------- */

static double memory_of(const struct res_tune_replays *replays, const struct res_run *run)
{
    switch (replays->memory) {
    case RES_TUNE_MEAN:
        return run->resident_mean_bytes;
    case RES_TUNE_END:
        return run->resident_end_bytes;
    case RES_TUNE_IDLE:
        return run->resident_idle_bytes;
    default:
        return run->resident_peak_bytes;
    }
}

static bool memory_is_apart(const struct res_tune_replays *replays)
{
    return replays->workload->duration_ns > 0;
}

static enum res_run_state run_candidate(const struct res_tune_replays *replays,
                                        const struct res_candidate *candidate, bool memory,
                                        struct res_run *ret_run, char **ret_reason)
{
    const bool is_base = candidate == replays->bases[0];
    const struct res_run_request request = {
        .candidate = candidate,
        .workload = replays->workload->path,
        .members = replays->workload->members,
        .member_count = replays->workload->member_count,
        .touch = replays->touch,
        .timeout_ns = !is_base && replays->default_elapsed_ns > 0
                          ? replays->default_elapsed_ns * HANGS_AFTER_TIMES + HANGS_AFTER_NS
                          : 0,
        .more = replays->replay_options,
        .recorded_clock = memory,
        .idle_ms = memory && replays->memory == RES_TUNE_IDLE ? replays->idle_ms : 0,
        .stop = replays->stop,
    };
    return res_run_workload(&request, ret_run, ret_reason);
}

static double by_op(struct res_run *run)
{
    const double ns = run->ns_per_op;
    res_run_release(run);
    return ns;
}

static enum res_tune_outcome outcome_of(enum res_run_state state)
{
    return state == RES_RUN_OK       ? RES_TUNE_OK
           : state == RES_RUN_FAILED ? RES_TUNE_RUN_FAILED
                                     : RES_TUNE_STOPPED;
}

/* Before the first run that is timed. */
static enum res_tune_outcome measure_floor(struct res_tune_replays *replays, char **ret_reason)
{
    double samples[FLOOR_RUNS];
    for (int i = 0; i < FLOOR_RUNS && replays->floor != NULL; i++) {
        struct res_run run;
        const enum res_run_state state = run_candidate(replays, replays->floor, false, &run, ret_reason);
        if (state != RES_RUN_OK)
            return outcome_of(state);
        samples[i] = by_op(&run);
    }
    replays->floor_ns_per_op = replays->floor != NULL ? res_median(samples, FLOOR_RUNS) : 0;
    replays->floor_known = true;
    return RES_TUNE_OK;
}

static bool digest_agrees(struct res_tune_replays *replays, const struct res_run *run, char **ret_reason)
{
    if (replays->digest == NULL) {
        replays->digest = res_strdup(run->digest);
        replays->default_elapsed_ns = run->elapsed_ns;
    }
    if (strcmp(replays->digest, run->digest) == 0)
        return true;
    *ret_reason = res_strdup("it executed other ops than the default");
    return false;
}

static enum res_tune_outcome run_point(void *context, struct res_tune_point *point, enum res_tune_pass pass,
                                       double ret_figures[2], char **ret_reason)
{
    struct res_tune_replays *replays = context;
    struct res_run run;
    if (!replays->floor_known) {
        const enum res_tune_outcome outcome = measure_floor(replays, ret_reason);
        if (outcome != RES_TUNE_OK)
            return outcome;
    }
    const struct res_candidate *candidate = tune_candidate(replays, point, ret_reason);
    if (candidate == NULL)
        return RES_TUNE_RUN_FAILED;
    const enum res_run_state state = run_candidate(replays, candidate, pass == RES_TUNE_MEMORY, &run,
                                                   ret_reason);
    if (state != RES_RUN_OK)
        return outcome_of(state);
    const bool agrees = digest_agrees(replays, &run, ret_reason);
    ret_figures[0] = pass == RES_TUNE_TIME ? fmax(run.ns_per_op - replays->floor_ns_per_op, LEAST_NS) : NAN;
    ret_figures[1] = pass == RES_TUNE_MEMORY || !memory_is_apart(replays) ? memory_of(replays, &run) : NAN;
    res_run_release(&run);
    return agrees ? RES_TUNE_OK : RES_TUNE_RUN_FAILED;
}

static void tell(void *context, const char *words)
{
    struct res_tune_replays *replays = context;
    const uint64_t now = now_ns(NULL);
    replays->begin_ns = replays->begin_ns != 0 ? replays->begin_ns : now; /* the first call: before any run */
    const uint64_t done = now - replays->begin_ns;
    if (replays->progress != NULL)
        replays->progress(replays->context, words, done < replays->budget_ns ? done : replays->budget_ns,
                          replays->budget_ns);
}

/* ---- confirmation --------------------------------------------------------------------------- */

static void tell_round(void *context, const struct res_workload *workload, const char *entry, unsigned round,
                       size_t runs_done, size_t runs_all)
{
    struct res_tune_replays *replays = context;
    const uint64_t now = now_ns(NULL);
    const uint64_t before = replays->confirm_begin_ns - replays->begin_ns;
    const uint64_t spent = now - replays->confirm_begin_ns;
    (void)workload; /* there is one */
    if (replays->progress == NULL || runs_done == 0)
        return;
    char *words = round == 0 ? res_printf("confirmation: warm-up, %s", entry)
                             : res_printf("confirmation: round %u, %s", round, entry);
    replays->progress(replays->context, words, before + spent, before + spent * runs_all / runs_done);
    free(words);
}

/* As in the advice of `ab`: figures that are bounds of the program's say nothing of what it would save (table.h, res_live_words). */
static bool is_live_known(const struct res_workload *workload)
{
    return workload->live[0] == '\0' || strcmp(workload->live, "known") == 0;
}

/* Pairs the rounds of an entry; those of one that failed are not there. */
static void take_entry(const struct res_tune_replays *replays, const struct res_trial *trial,
                       const struct res_entry *entry, double floor_ns, struct res_tune_entry *ret_entry)
{
    const struct res_figures figures = res_figures_of(trial, entry, replays->seed);
    const bool apart = res_trial_has_memory(trial);
    ret_entry->failed = entry->failed != NULL;
    ret_entry->time = figures.time;
    ret_entry->has_time = true;
    ret_entry->doubtful = (apart && figures.not_predicted_why != NULL) || !is_live_known(trial->workload);
    for (size_t i = 0; i < entry->run_count; i++) {
        ret_entry->times[ret_entry->time_count++] = entry->runs[i].ns_per_op - floor_ns;
        if (!apart)
            ret_entry->memories[ret_entry->memory_count++] = memory_of(replays, &entry->runs[i]);
    }
    for (size_t i = 0; i < entry->memory_count && apart; i++)
        ret_entry->memories[ret_entry->memory_count++] = memory_of(replays, &entry->memory_runs[i]);
}

static void take_trial(const struct res_tune_replays *replays, struct res_tune_point *const *finalists,
                       size_t count, struct res_tune_confirmation *ret_confirmation)
{
    const struct res_trial *trial = &replays->confirmation.trials[0];
    const struct res_entry *floor = res_trial_floor(trial);
    double floor_ns = 0;
    res_tune_confirmation_init(ret_confirmation, count, trial->rounds);
    ret_confirmation->memory_apart = res_trial_has_memory(trial);
    ret_confirmation->seed = replays->seed;
    if (floor != NULL && floor->failed == NULL && floor->run_count > 0)
        floor_ns = res_figures_of(trial, floor, replays->seed).steady_ns_per_op;
    for (size_t i = 0; i < count + 2; i++) {
        struct res_tune_entry *entry = &ret_confirmation->entries[i];
        take_entry(replays, trial, &trial->entries[i], floor_ns, entry);
        entry->time_to = res_calloc(count + 1, sizeof *entry->time_to);
        entry->time_to[0] = entry->time;
        for (size_t other = 1; other <= count; other++)
            entry->time_to[other] = other != i && i <= count
                                        ? res_figures_between(trial, &trial->entries[i],
                                                              &trial->entries[other])
                                        : (struct res_difference){.ratio = NAN, .interval = {NAN, NAN}};
        entry->settings = i > 0 && i <= count ? finalists[i - 1]->choice_count : 0;
    }
}

static enum res_tune_outcome confirm(void *context, struct res_tune_point *const *finalists, size_t count,
                                     const struct res_tune_rounds *rounds,
                                     struct res_tune_confirmation *ret_confirmation, char **ret_reason)
{
    struct res_tune_replays *replays = context;
    assert(count <= RES_TUNE_FINALISTS);
    for (size_t i = 0; i <= count; i++) {
        replays->compared[i] = tune_candidate(replays, i > 0 ? finalists[i - 1] : NULL, ret_reason);
        assert(replays->compared[i] != NULL); /* they ran in the search */
    }
    const struct res_options options = {
        .workloads = replays->workload,
        .workload_count = 1,
        .candidates = replays->compared,
        .candidate_count = count + 1,
        .floor = replays->floor,
        .rounds = rounds->most,
        .rounds_least = rounds->least,
        .time_budget_ns = rounds->time_ns,
        .memory_rounds = rounds->memory,
        .idle_ms = replays->idle_ms,
        .seed = replays->seed,
        .touch = replays->touch,
        .one_thread = replays->one_thread,
        .replay_options = replays->replay_options,
        .stop = replays->stop,
        .progress = tell_round,
        .context = replays,
    };
    replays->confirm_begin_ns = now_ns(NULL);
    res_experiment_run(&options, &replays->confirmation);
    replays->confirmed = true;
    struct res_trial *trial = &replays->confirmation.trials[0];
    if (trial->ended == RES_ENDED_MAXIMUM) /* all that there are to be, not all that there was time for */
        trial->ended = RES_ENDED_ROUNDS;
    if (trial->rounds > 0)
        take_trial(replays, finalists, count, ret_confirmation);
    if (replays->confirmation.stopped)
        return RES_TUNE_STOPPED;
    if (trial->entries[0].failed != NULL) {
        *ret_reason = res_printf("%s failed in the confirmation: %s", replays->bases[0]->name,
                                 trial->entries[0].failed);
        return RES_TUNE_RUN_FAILED;
    }
    return RES_TUNE_OK;
}

/* ---- the evaluator -------------------------------------------------------------------------- */

struct res_tune_evaluator res_tune_evaluator_of(struct res_tune_replays *replays)
{
    return (struct res_tune_evaluator){
        .run = run_point,
        .confirm = confirm,
        .now_ns = now_ns,
        .progress = tell,
        .memory_apart = memory_is_apart(replays),
        .context = replays,
    };
}

void res_tune_replays_release(struct res_tune_replays *replays)
{
    if (replays->confirmed)
        res_experiment_release(&replays->confirmation);
    free(replays->digest);
}

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
    const struct res_candidate *candidate = tune_candidate(replays, point, &problem);
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
        ret_row->library = res_strdup(candidate->path);
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
