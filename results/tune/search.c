/* search.c - singles, combined, race, confirmation; the plan is in the header. */
#include "results/tune/search.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "results/support.h"
#include "results/tune/combine.h"

#define SINGLES_SHARE  0.5  /* of the search's time, up to which singles are tried */
#define COMBINED_SHARE 0.75 /* and combined points */
#define CONFIRM_SHARE  0.6  /* of the budget: more finalists are not confirmed when they would take more */
#define CONFIRM_MOST   0.85 /* of the budget: where one finalist takes more, it is too short */
#define MARGIN         1.1  /* runs of candidates are slower than the default's, at times */
#define MEMORY_SAMPLES 3u   /* of a point: memory repeats better than time */

struct state {
    struct res_tune_search *search;
    const struct res_tune_evaluator *evaluator;
    struct res_random random;
    uint64_t begin_ns, search_end_ns;
    size_t finalists_most;
    const char *what; /* of the stage, for the progress */
};

static uint64_t now(const struct state *state)
{
    return state->evaluator->now_ns(state->evaluator->context);
}

static bool is_over(const struct state *state)
{
    return state->search->end != RES_TUNE_CONFIRMED;
}

/* ---- single runs ---------------------------------------------------------------------------- */

static void add_sample(double **samples, size_t *count, double sample)
{
    *samples = res_realloc(*samples, *count + 1, sizeof **samples);
    (*samples)[(*count)++] = sample;
}

static void fail_search(struct state *state, enum res_tune_end end, char *problem)
{
    state->search->end = end;
    free(state->search->problem);
    state->search->problem = problem;
}

/* One run; returns whether its figures are there, as logarithms: NAN where the pass does not tell. */
static bool run_point(struct state *state, struct res_tune_point *point, enum res_tune_pass pass,
                      double ret_logs[2])
{
    double figures[2] = {NAN, NAN};
    char *reason = NULL;
    const enum res_tune_outcome outcome = state->evaluator->run(state->evaluator->context, point, pass,
                                                                figures, &reason);
    state->search->runs++;
    if (outcome == RES_TUNE_STOPPED) {
        state->search->end = RES_TUNE_END_STOPPED;
        return false;
    }
    if (outcome == RES_TUNE_RUN_FAILED && point == NULL) {
        fail_search(state, RES_TUNE_END_FAILED, reason);
        return false;
    }
    if (outcome == RES_TUNE_RUN_FAILED) {
        point->state = RES_TUNE_FAILED;
        free(point->why);
        point->why = reason;
        return false;
    }
    for (int i = 0; i < 2; i++)
        ret_logs[i] = figures[i] > 0 ? log(figures[i]) : NAN;
    return true;
}

/* ---- a heat --------------------------------------------------------------------------------- */

struct heat {
    struct res_tune_point *members[RES_TUNE_HEAT + 1]; /* NULL: the default */
    double logs[RES_TUNE_HEAT + 1][2];
    bool ran[RES_TUNE_HEAT + 1];
    size_t count;
};

static bool wants_memory(const struct state *state, const struct res_tune_point *point)
{
    return state->evaluator->memory_apart && point->memory_count < MEMORY_SAMPLES;
}

static void run_pass(struct state *state, struct heat *heat, enum res_tune_pass pass)
{
    size_t order[RES_TUNE_HEAT + 1];
    bool wanted = pass == RES_TUNE_TIME;
    for (size_t i = 0; i < heat->count; i++) {
        order[i] = i;
        wanted = wanted ||
                 (heat->members[i] != NULL && heat->ran[i] && wants_memory(state, heat->members[i]));
    }
    res_shuffle(&state->random, order, heat->count);
    for (size_t i = 0; i < heat->count && wanted && !is_over(state); i++) {
        struct res_tune_point *member = heat->members[order[i]];
        double logs[2] = {NAN, NAN};
        if (pass == RES_TUNE_MEMORY && member != NULL &&
            (!heat->ran[order[i]] || !wants_memory(state, member)))
            continue;
        const bool ran = run_point(state, member, pass, logs);
        if (pass == RES_TUNE_TIME)
            heat->ran[order[i]] = ran;
        if (pass == RES_TUNE_TIME)
            heat->logs[order[i]][0] = logs[0];
        if (pass == RES_TUNE_MEMORY || !state->evaluator->memory_apart)
            heat->logs[order[i]][1] = logs[1];
    }
}

/* Samples are taken over when the whole heat is done: half of one has nothing to be set against. */
static void take_samples(struct state *state, const struct heat *heat)
{
    struct res_tune_default *reference = &state->search->reference;
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

static uint64_t heat_cost(const struct state *state, size_t points)
{
    const struct res_tune_search *search = state->search;
    return (points + 1) * (search->time_run_ns + search->memory_run_ns);
}

static void run_heat(struct state *state, struct res_tune_point **points, size_t count)
{
    struct heat heat = {.count = count + 1};
    for (size_t i = 0; i <= count; i++) {
        heat.members[i] = i > 0 ? points[i - 1] : NULL;
        heat.logs[i][0] = heat.logs[i][1] = NAN;
    }
    if (state->evaluator->progress != NULL)
        state->evaluator->progress(state->evaluator->context, state->what);
    run_pass(state, &heat, RES_TUNE_TIME);
    run_pass(state, &heat, RES_TUNE_MEMORY);
    if (!is_over(state))
        take_samples(state, &heat);
    state->search->heats++;
}

/* A round of these points in their order, in heats; until the deadline. Returns whether all had theirs. */
static bool run_round(struct state *state, struct res_tune_point **points, size_t count, uint64_t deadline_ns)
{
    for (size_t from = 0; from < count && !is_over(state);) {
        const size_t rest = count - from;
        const size_t size = rest < RES_TUNE_HEAT ? rest : RES_TUNE_HEAT;
        if (state->search->heats > 0 && now(state) + heat_cost(state, size) > deadline_ns)
            return false;
        run_heat(state, points + from, size);
        from += size;
    }
    return !is_over(state);
}

/* ---- stages --------------------------------------------------------------------------------- */

static void shuffle_points(struct state *state, struct res_tune_point **points, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        const size_t other = (size_t)res_random_below(&state->random, i);
        struct res_tune_point *moved = points[i - 1];
        points[i - 1] = points[other];
        points[other] = moved;
    }
}

static uint64_t moment(const struct state *state, double share)
{
    return state->begin_ns + (uint64_t)(share * (double)(state->search_end_ns - state->begin_ns));
}

/* The first round goes in the space's order, so that a short budget sees what is to come first; the later ones are shuffled,
 * so that a point has other neighbours. */
static void screen(struct state *state, size_t from, double share)
{
    const struct res_tune_space *space = state->search->space;
    const size_t count = space->point_count - from;
    struct res_tune_point **points = res_calloc(count, sizeof(struct res_tune_point *));
    for (size_t i = 0; i < count; i++)
        points[i] = space->points[from + i];
    (void)run_round(state, points, count, moment(state, share)); /* what it left out stays RES_TUNE_UNTRIED */
    for (unsigned round = 1; round < RES_TUNE_SCREEN_ROUNDS && !is_over(state); round++) {
        size_t alive = 0;
        for (size_t i = 0; i < count; i++) {
            if (space->points[from + i]->state == RES_TUNE_ALIVE)
                points[alive++] = space->points[from + i];
        }
        shuffle_points(state, points, alive);
        (void)run_round(state, points, alive, moment(state, share)); /* fewer rounds: wider intervals */
    }
    free(points);
    state->search->noise = res_tune_noise_of(space, &state->search->reference);
}

/* One halving and its rounds. Returns whether there is another. */
static bool race_on(struct state *state, unsigned rounds)
{
    struct res_tune_search *search = state->search;
    size_t count;
    bool goes_on = true;
    search->noise = res_tune_noise_of(search->space, &search->reference);
    res_tune_drop_dominated(search->space, &search->noise);
    struct res_tune_point **alive = res_tune_alive(search->space, &count);
    res_tune_rank(alive, count);
    size_t kept = (count + 1) / 2 > state->finalists_most ? (count + 1) / 2 : state->finalists_most;
    kept = kept < count ? kept : count;
    if (kept <= state->finalists_most || now(state) + heat_cost(state, kept) > state->search_end_ns)
        goes_on = false; /* the rest stays as it is: choose_finalists ranks them all */
    if (goes_on) {
        for (size_t i = kept; i < count; i++)
            alive[i]->state = RES_TUNE_OUTRANKED;
        for (unsigned round = 0; round < rounds && goes_on; round++) {
            shuffle_points(state, alive, kept);
            goes_on = run_round(state, alive, kept, state->search_end_ns);
        }
    }
    free(alive);
    return goes_on;
}

/* Those that promise to be worth confirming, the best first; the best of all when none does, so that the answer "nothing is
 * better" is confirmed as well. */
static void choose_finalists(struct state *state)
{
    struct res_tune_search *search = state->search;
    size_t count;
    search->noise = res_tune_noise_of(search->space, &search->reference);
    res_tune_drop_dominated(search->space, &search->noise);
    struct res_tune_point **alive = res_tune_alive(search->space, &count);
    res_tune_rank(alive, count);
    for (size_t i = 0; i < count; i++) {
        const bool promises = res_tune_time_of(alive[i]) < 0 ||
                              res_tune_memory_of(alive[i]) < -RES_TUNE_WORTH / 2;
        if (search->finalist_count < state->finalists_most && (promises || i == 0)) {
            search->finalists[search->finalist_count++] = alive[i];
            alive[i]->state = RES_TUNE_FINALIST;
        } else {
            alive[i]->state = RES_TUNE_OUTRANKED;
        }
    }
    free(alive);
}

/* All were dominated by the default: the least bad of them stands for them. */
static void recall_one(struct state *state)
{
    struct res_tune_search *search = state->search;
    struct res_tune_point **tried = res_calloc(search->space->point_count, sizeof(struct res_tune_point *));
    size_t count = 0;
    for (size_t i = 0; i < search->space->point_count; i++) {
        if (search->space->points[i]->time_count > 0 && search->space->points[i]->state != RES_TUNE_FAILED)
            tried[count++] = search->space->points[i];
    }
    res_tune_rank(tried, count);
    if (count > 0) {
        search->finalists[search->finalist_count++] = tried[0];
        tried[0]->state = RES_TUNE_FINALIST;
    }
    free(tried);
}

/* ---- time ----------------------------------------------------------------------------------- */

static double confirmation_ns(const struct res_tune_search *search, size_t finalists, unsigned rounds,
                              unsigned memory_rounds)
{
    const double time = (double)search->time_run_ns * (double)(finalists + 3); /* default, control, floor */
    const double memory = (double)search->memory_run_ns * (double)(finalists + 2);
    /* A warm-up is on the recorded clock, where there is one, but the floor's. */
    const double warm_up = search->memory_run_ns > 0 ? memory + (double)search->time_run_ns : time;
    return MARGIN * (time * rounds + memory * memory_rounds + warm_up);
}

/* The default's first run warms up file and memory; the second is what a run takes. */
static void calibrate(struct state *state)
{
    struct res_tune_search *search = state->search;
    double logs[2];
    if (state->evaluator->progress != NULL)
        state->evaluator->progress(state->evaluator->context, "the default's first runs");
    for (int turn = 0; turn < 2 && !is_over(state); turn++) {
        const uint64_t begin = now(state);
        (void)run_point(state, NULL, RES_TUNE_TIME, logs); /* the search is over where it fails */
        const uint64_t timed = now(state);
        if (state->evaluator->memory_apart && !is_over(state))
            (void)run_point(state, NULL, RES_TUNE_MEMORY, logs);
        search->time_run_ns = timed - begin;
        search->memory_run_ns = state->evaluator->memory_apart ? now(state) - timed : 0;
    }
}

static char *too_short(const struct res_tune_search *search, double least_ns)
{
    char run[32], least[32];
    (void)res_text_duration((double)(search->time_run_ns + search->memory_run_ns), run);
    /* Whole seconds more than needed: what is named must suffice when it is given. */
    const double seconds = ceil(least_ns * 1.25 / 1e9);
    if (seconds < 120)
        snprintf(least, sizeof least, "%.0fs", seconds);
    else
        snprintf(least, sizeof least, "%.0fm", ceil(seconds / 60));
    return res_printf(
        "the budget is too short: one try takes %s, and to confirm one alone takes %u of them; give "
        "--budget %s at least, or tune a part (--head, --sample)",
        run, RES_TUNE_ROUNDS_LEAST, least);
}

/* How many finalists there may be, and what that leaves to the search. */
static void plan(struct state *state)
{
    struct res_tune_search *search = state->search;
    const double budget = (double)search->budget_ns;
    size_t finalists = RES_TUNE_FINALISTS;
    double reserve;
    for (;; finalists--) {
        reserve = confirmation_ns(search, finalists, RES_TUNE_ROUNDS_LEAST, search->memory_rounds);
        if (finalists == 1 || reserve <= CONFIRM_SHARE * budget)
            break;
    }
    const double spent = (double)(now(state) - state->begin_ns);
    const double heat = (double)heat_cost(state, RES_TUNE_HEAT);
    if (reserve > CONFIRM_MOST * budget || spent + heat + reserve > budget)
        fail_search(state, RES_TUNE_END_TOO_SHORT,
                    too_short(search, fmax(reserve / CONFIRM_MOST, spent + heat + reserve)));
    state->finalists_most = finalists;
    state->search_end_ns = state->begin_ns + search->budget_ns - (uint64_t)fmin(reserve, budget);
}

/* As many rounds as the rest of the budget gives, within bounds. */
static void choose_rounds(struct state *state)
{
    struct res_tune_search *search = state->search;
    const uint64_t spent = now(state) - state->begin_ns;
    const double left = search->budget_ns > spent ? (double)(search->budget_ns - spent) : 0;
    search->rounds = RES_TUNE_ROUNDS_LEAST;
    while (search->rounds < RES_TUNE_ROUNDS_MOST &&
           confirmation_ns(search, search->finalist_count, search->rounds + 1, search->memory_rounds) <= left)
        search->rounds++;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void search_points(struct state *state)
{
    struct res_tune_search *search = state->search;
    state->what = "single settings";
    screen(state, 0, SINGLES_SHARE);
    const size_t singles = search->space->point_count;
    if (!is_over(state) && res_tune_combine(search->space, &search->noise) > 0) {
        state->what = "combined settings";
        screen(state, singles, COMBINED_SHARE);
    }
    state->what = "the better ones once more";
    for (unsigned rounds = RES_TUNE_SCREEN_ROUNDS; !is_over(state) && race_on(state, rounds); rounds *= 2)
        continue;
}

static void confirm(struct state *state)
{
    struct res_tune_search *search = state->search;
    const struct res_tune_evaluator *evaluator = state->evaluator;
    const uint64_t begin = now(state);
    char *reason = NULL;
    choose_rounds(state);
    const enum res_tune_outcome outcome = evaluator->confirm(
        evaluator->context, search->finalists, search->finalist_count, search->rounds, search->memory_rounds,
        &search->confirmation, &reason);
    if (outcome == RES_TUNE_RUN_FAILED)
        fail_search(state, RES_TUNE_END_FAILED, reason);
    if (outcome == RES_TUNE_STOPPED)
        search->end = RES_TUNE_END_STOPPED;
    search->confirmation_ns = now(state) - begin;
    if (search->confirmation.entries == NULL)
        return;
    search->judgements = res_calloc(search->finalist_count + 1, sizeof *search->judgements);
    res_tune_judge(&search->confirmation, search->judgements);
}

void res_tune_run(struct res_tune_space *space, const struct res_tune_evaluator *evaluator, uint64_t seed,
                  uint64_t budget_ns, struct res_tune_search *ret_search)
{
    struct state state = {.search = ret_search, .evaluator = evaluator, .random = res_random_from(seed)};
    *ret_search = (struct res_tune_search){
        .space = space,
        .seed = seed,
        .budget_ns = budget_ns,
        .noise = {INFINITY, INFINITY},
        .memory_rounds = evaluator->memory_apart ? RES_TUNE_MEMORY_ROUNDS : 0,
    };
    assert(space->point_count > 0);
    state.begin_ns = now(&state);
    calibrate(&state);
    if (!is_over(&state))
        plan(&state);
    if (!is_over(&state))
        search_points(&state);
    ret_search->search_ns = now(&state) - state.begin_ns;
    if (ret_search->end == RES_TUNE_END_FAILED || ret_search->end == RES_TUNE_END_TOO_SHORT)
        return;
    if (state.finalists_most == 0)
        return;               /* stopped before there was a plan */
    choose_finalists(&state); /* of a stopped search too: the best so far */
    if (ret_search->finalist_count == 0)
        recall_one(&state);
    if (ret_search->finalist_count == 0 && !is_over(&state)) {
        const char *why = NULL;
        for (size_t i = 0; i < space->point_count && why == NULL; i++)
            why = space->points[i]->why;
        fail_search(&state, RES_TUNE_END_FAILED,
                    res_printf("no setting could be tried: %s", why != NULL ? why : "no time was left"));
    }
    if (!is_over(&state))
        confirm(&state);
}

void res_tune_search_release(struct res_tune_search *search)
{
    free(search->reference.times);
    free(search->reference.memories);
    free(search->judgements);
    free(search->problem);
    res_tune_confirmation_release(&search->confirmation);
    *search = (struct res_tune_search){0};
}
