/* tune_round.c - runs side by side, and their samples. */
#include "results/measure/tune/tune_round.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/support.h"

#define MEMORY_SAMPLES 3u  /* of a point: memory repeats better than time */
#define COST_MEMORY    16u /* runs over which their cost is smoothed */
#define MARGIN         1.1 /* runs of candidates are slower than the default's, at times */

uint64_t res_tune_now(const struct res_tune_course *course)
{
    return course->evaluator->now_ns(course->evaluator->context);
}

bool res_tune_is_over(const struct res_tune_course *course)
{
    return course->search->end != RES_TUNE_CONFIRMED;
}

/* ---- single runs ---------------------------------------------------------------------------- */

static void add_sample(double **samples, size_t *count, double sample)
{
    *samples = res_realloc(*samples, *count + 1, sizeof **samples);
    (*samples)[(*count)++] = sample;
}

void res_tune_fail(struct res_tune_course *course, enum res_tune_end end, char *problem)
{
    course->search->end = end;
    free(course->search->problem);
    course->search->problem = problem;
}

/* What a run takes now: machines slow down while others begin to work. The first ones are calibrate's. */
static void learn_cost(struct res_tune_course *course, enum res_tune_pass pass, uint64_t took_ns)
{
    struct res_tune_search *search = course->search;
    uint64_t *cost_ns = pass == RES_TUNE_TIME ? &search->time_run_ns : &search->memory_run_ns;
    if (pass == RES_TUNE_TIME)
        course->last_time_run_ns = took_ns;
    *cost_ns = *cost_ns == 0 ? took_ns : (*cost_ns * (COST_MEMORY - 1) + took_ns) / COST_MEMORY;
}

bool res_tune_run_point(struct res_tune_course *course, struct res_tune_point *point, enum res_tune_pass pass,
                        double ret_logs[2])
{
    double figures[2] = {NAN, NAN};
    char *reason = NULL;
    const uint64_t begin_ns = res_tune_now(course);
    const enum res_tune_outcome outcome = course->evaluator->run(course->evaluator->context, point, pass,
                                                                 figures, &reason);
    course->search->runs++;
    if (outcome == RES_TUNE_STOPPED) {
        course->search->end = RES_TUNE_END_STOPPED;
        return false;
    }
    if (outcome == RES_TUNE_RUN_FAILED && point == NULL) {
        res_tune_fail(course, RES_TUNE_END_FAILED, reason);
        return false;
    }
    if (outcome == RES_TUNE_RUN_FAILED) {
        point->state = RES_TUNE_FAILED;
        free(point->why);
        point->why = reason;
        return false;
    }
    learn_cost(course, pass, res_tune_now(course) - begin_ns);
    for (int i = 0; i < 2; i++)
        ret_logs[i] = figures[i] > 0 ? log(figures[i]) : NAN;
    return true;
}

/* ---- what runs take ------------------------------------------------------------------------- */

double res_tune_reserve_ns(const struct res_tune_search *search, size_t finalists, unsigned rounds,
                           unsigned memory_rounds)
{
    const double time = (double)search->time_run_ns * (double)(finalists + 3); /* default, control, floor */
    const double memory = (double)search->memory_run_ns * (double)(finalists + 2);
    /* A warm-up is on the recorded clock, where there is one, but the floor's. */
    const double warm_up = search->memory_run_ns > 0 ? memory + (double)search->time_run_ns : time;
    return MARGIN * (time * rounds + memory * memory_rounds + warm_up);
}

uint64_t res_tune_moment(const struct res_tune_course *course, double share)
{
    const struct res_tune_search *search = course->search;
    const double budget = (double)search->budget_ns;
    const double reserve = res_tune_reserve_ns(search, course->finalists_most, RES_TUNE_ROUNDS_LEAST,
                                               search->memory_rounds);
    return course->begin_ns + (uint64_t)(share * fmax(budget - reserve, 0));
}

/* ---- a heat --------------------------------------------------------------------------------- */

struct heat {
    struct res_tune_point *members[RES_TUNE_HEAT + 1]; /* NULL: the default */
    double logs[RES_TUNE_HEAT + 1][2];
    bool ran[RES_TUNE_HEAT + 1];
    size_t count;
};

static bool wants_memory(const struct res_tune_course *course, const struct res_tune_point *point)
{
    return course->evaluator->memory_apart && point->memory_count < MEMORY_SAMPLES;
}

static void run_pass(struct res_tune_course *course, struct heat *heat, enum res_tune_pass pass)
{
    size_t order[RES_TUNE_HEAT + 1];
    bool wanted = pass == RES_TUNE_TIME;
    for (size_t i = 0; i < heat->count; i++) {
        order[i] = i;
        wanted = wanted ||
                 (heat->members[i] != NULL && heat->ran[i] && wants_memory(course, heat->members[i]));
    }
    res_shuffle(&course->random, order, heat->count);
    for (size_t i = 0; i < heat->count && wanted && !res_tune_is_over(course); i++) {
        struct res_tune_point *member = heat->members[order[i]];
        double logs[2] = {NAN, NAN};
        if (pass == RES_TUNE_MEMORY && member != NULL &&
            (!heat->ran[order[i]] || !wants_memory(course, member)))
            continue;
        const bool ran = res_tune_run_point(course, member, pass, logs);
        if (pass == RES_TUNE_TIME)
            heat->ran[order[i]] = ran;
        if (pass == RES_TUNE_TIME)
            heat->logs[order[i]][0] = logs[0];
        if (pass == RES_TUNE_MEMORY || !course->evaluator->memory_apart)
            heat->logs[order[i]][1] = logs[1];
    }
}

/* Samples are taken over when the whole heat is done: half of one has nothing to be set against. */
static void take_samples(struct res_tune_course *course, const struct heat *heat)
{
    struct res_tune_default *reference = &course->search->reference;
    const double *zero = heat->logs[0]; /* the default is the first member */
    if (isfinite(zero[0]))
        add_sample(&reference->times, &reference->time_count, zero[0]);
    if (isfinite(zero[1]))
        add_sample(&reference->memories, &reference->memory_count, zero[1]);
    for (size_t i = 1; i < heat->count; i++) {
        struct res_tune_point *point = heat->members[i];
        if (point->state == RES_TUNE_FAILED || !heat->ran[i])
            continue;
        if (isfinite(heat->logs[i][0] - zero[0]))
            add_sample(&point->times, &point->time_count, heat->logs[i][0] - zero[0]);
        if (isfinite(heat->logs[i][1] - zero[1]))
            add_sample(&point->memories, &point->memory_count, heat->logs[i][1] - zero[1]);
        if (point->state == RES_TUNE_UNTRIED)
            point->state = RES_TUNE_ALIVE;
    }
}

uint64_t res_tune_heat_cost(const struct res_tune_course *course, size_t points)
{
    const struct res_tune_search *search = course->search;
    return (points + 1) * (search->time_run_ns + search->memory_run_ns);
}

static void run_heat(struct res_tune_course *course, struct res_tune_point **points, size_t count)
{
    struct heat heat = {.count = count + 1};
    for (size_t i = 0; i <= count; i++) {
        heat.members[i] = i > 0 ? points[i - 1] : NULL;
        heat.logs[i][0] = heat.logs[i][1] = NAN;
    }
    if (course->evaluator->progress != NULL)
        course->evaluator->progress(course->evaluator->context, course->what);
    run_pass(course, &heat, RES_TUNE_TIME);
    run_pass(course, &heat, RES_TUNE_MEMORY);
    if (!res_tune_is_over(course))
        take_samples(course, &heat);
    course->search->heats++;
}

bool res_tune_round(struct res_tune_course *course, struct res_tune_point **points, size_t count,
                    double share)
{
    for (size_t from = 0; from < count && !res_tune_is_over(course);) {
        const size_t rest = count - from;
        const size_t size = rest < RES_TUNE_HEAT ? rest : RES_TUNE_HEAT;
        if (course->search->heats > 0 &&
            res_tune_now(course) + res_tune_heat_cost(course, size) > res_tune_moment(course, share))
            return false;
        run_heat(course, points + from, size);
        from += size;
    }
    return !res_tune_is_over(course);
}
