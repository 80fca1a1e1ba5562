/* tune_search.c - singles, combined, race, confirmation; the plan is in the header. */
#include "results/measure/tune/tune_search.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "footprint/base/support.h"

/* What a search has while it runs. */
struct course {
    struct res_tune_search *search;
    const struct res_tune_evaluator *evaluator;
    struct res_random random;
    uint64_t begin_ns;
    uint64_t last_time_run_ns; /* that the last timed run took */
    size_t finalists_most;
    const char *what; /* of the stage, for the progress */
};

#define MEMORY_SAMPLES 3u  /* of a point: memory repeats better than time */
#define COST_MEMORY    16u /* runs over which their cost is smoothed */
#define MARGIN         1.1 /* runs of candidates are slower than the default's, at times */

static uint64_t now(const struct course *course)
{
    return course->evaluator->now_ns(course->evaluator->context);
}

static bool is_over(const struct course *course)
{
    return course->search->end != RES_TUNE_CONFIRMED;
}

/* ---- single runs ---------------------------------------------------------------------------- */

static void add_sample(double **samples, size_t *count, double sample)
{
    *samples = res_realloc(*samples, *count + 1, sizeof **samples);
    (*samples)[(*count)++] = sample;
}

/* fail - end the search; takes over the problem. */
static void fail(struct course *course, enum res_tune_end end, char *problem)
{
    course->search->end = end;
    free(course->search->problem);
    course->search->problem = problem;
}

/* What a run takes now: machines slow down while others begin to work. The first ones are calibrate's. */
static void learn_cost(struct course *course, enum res_tune_pass pass, uint64_t took_ns)
{
    struct res_tune_search *search = course->search;
    uint64_t *cost_ns = pass == RES_TUNE_TIME ? &search->time_run_ns : &search->memory_run_ns;
    if (pass == RES_TUNE_TIME)
        course->last_time_run_ns = took_ns;
    *cost_ns = *cost_ns == 0 ? took_ns : (*cost_ns * (COST_MEMORY - 1) + took_ns) / COST_MEMORY;
}

/* run_point - one run; NULL is the default, whose failure ends the search.
 * ret_logs  logarithms of time and memory; NAN where the pass does not tell. Returns whether they are there. */
static bool run_point(struct course *course, struct res_tune_point *point, enum res_tune_pass pass,
                      double ret_logs[2])
{
    double figures[2] = {NAN, NAN};
    char *reason = NULL;
    const uint64_t begin_ns = now(course);
    const enum res_tune_outcome outcome = course->evaluator->run(course->evaluator->context, point, pass,
                                                                 figures, &reason);
    course->search->runs++;
    if (outcome == RES_TUNE_STOPPED) {
        course->search->end = RES_TUNE_END_STOPPED;
        return false;
    }
    if (outcome == RES_TUNE_RUN_FAILED && point == NULL) {
        fail(course, RES_TUNE_END_FAILED, reason);
        return false;
    }
    if (outcome == RES_TUNE_RUN_FAILED) {
        point->state = RES_TUNE_FAILED;
        free(point->why);
        point->why = reason;
        return false;
    }
    learn_cost(course, pass, now(course) - begin_ns);
    for (int i = 0; i < 2; i++)
        ret_logs[i] = figures[i] > 0 ? log(figures[i]) : NAN;
    return true;
}

/* ---- what runs take ------------------------------------------------------------------------- */

/* reserve_ns - what a confirmation takes: warm-up, and so many rounds of the default, the finalists, the control and the
 * floor. Runs of finalists may be a little slower than those that were timed: a tenth is added. */
static double reserve_ns(const struct res_tune_search *search, size_t finalists, unsigned rounds,
                         unsigned memory_rounds)
{
    const double time = (double)search->time_run_ns * (double)(finalists + 3); /* default, control, floor */
    const double memory = (double)search->memory_run_ns * (double)(finalists + 2);
    /* A warm-up is on the recorded clock, where there is one, but the floor's. */
    const double warm_up = search->memory_run_ns > 0 ? memory + (double)search->time_run_ns : time;
    return MARGIN * (time * rounds + memory * memory_rounds + warm_up);
}

/* moment - by the evaluator's clock: when this share (0 to 1) of the search's time is over. The search has what the
 * shortest confirmation leaves of the budget, by what runs take now: so it moves, and is to be asked before each heat. */
static uint64_t moment(const struct course *course, double share)
{
    const struct res_tune_search *search = course->search;
    const double budget = (double)search->budget_ns;
    const double reserve = reserve_ns(search, course->finalists_most, RES_TUNE_ROUNDS_LEAST,
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

static bool wants_memory(const struct course *course, const struct res_tune_point *point)
{
    return course->evaluator->memory_apart && point->memory_count < MEMORY_SAMPLES;
}

static void run_pass(struct course *course, struct heat *heat, enum res_tune_pass pass)
{
    size_t order[RES_TUNE_HEAT + 1];
    bool wanted = pass == RES_TUNE_TIME;
    for (size_t i = 0; i < heat->count; i++) {
        order[i] = i;
        wanted = wanted ||
                 (heat->members[i] != NULL && heat->ran[i] && wants_memory(course, heat->members[i]));
    }
    res_shuffle(&course->random, order, heat->count);
    for (size_t i = 0; i < heat->count && wanted && !is_over(course); i++) {
        struct res_tune_point *member = heat->members[order[i]];
        double logs[2] = {NAN, NAN};
        if (pass == RES_TUNE_MEMORY && member != NULL &&
            (!heat->ran[order[i]] || !wants_memory(course, member)))
            continue;
        const bool ran = run_point(course, member, pass, logs);
        if (pass == RES_TUNE_TIME)
            heat->ran[order[i]] = ran;
        if (pass == RES_TUNE_TIME)
            heat->logs[order[i]][0] = logs[0];
        if (pass == RES_TUNE_MEMORY || !course->evaluator->memory_apart)
            heat->logs[order[i]][1] = logs[1];
    }
}

/* Samples are taken over when the whole heat is done: half of one has nothing to be set against. */
static void take_samples(struct course *course, const struct heat *heat)
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

/* heat_cost - what a heat of so many points takes, by the default's runs. */
static uint64_t heat_cost(const struct course *course, size_t points)
{
    const struct res_tune_search *search = course->search;
    return (points + 1) * (search->time_run_ns + search->memory_run_ns);
}

static void run_heat(struct course *course, struct res_tune_point **points, size_t count)
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
    if (!is_over(course))
        take_samples(course, &heat);
    course->search->heats++;
}

/* run_round - these points once each in their order, in heats; none is begun that would end behind that share of the
 * search's time, as it is then (moment).
 * Returns whether all had theirs. */
static bool run_round(struct course *course, struct res_tune_point **points, size_t count, double share)
{
    for (size_t from = 0; from < count && !is_over(course);) {
        const size_t rest = count - from;
        const size_t size = rest < RES_TUNE_HEAT ? rest : RES_TUNE_HEAT;
        if (course->search->heats > 0 && now(course) + heat_cost(course, size) > moment(course, share))
            return false;
        run_heat(course, points + from, size);
        from += size;
    }
    return !is_over(course);
}

/* Of the search's time, up to which a stage goes on. */
#define FIRST_SHARE    0.65 /* the first round of singles: breadth before depth */
#define SINGLES_SHARE  0.45 /* their further rounds */
#define COMBINED_SHARE 0.75
#define LATE_SHARE     0.8  /* what the stages before left untried, when there is time after all */
#define CONFIRM_SHARE  0.6  /* of the budget: more finalists are not confirmed when they would take more */
#define CONFIRM_MOST   0.85 /* of the budget: where one finalist takes more, it is too short */

/* ---- stages --------------------------------------------------------------------------------- */

static void shuffle_points(struct course *course, struct res_tune_point **points, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        const size_t other = (size_t)res_random_below(&course->random, i);
        struct res_tune_point *moved = points[i - 1];
        points[i - 1] = points[other];
        points[other] = moved;
    }
}

/* The untried points from one on. The first round goes in the space's order, so that a short budget sees what is to come first;
 * the later ones are shuffled, so that a point has other neighbours. */
static void screen(struct course *course, size_t from, unsigned rounds, double first_share, double share)
{
    struct res_tune_search *search = course->search;
    const struct res_tune_space *space = search->space;
    size_t count;
    struct res_tune_point **points = res_tune_points(space, from, RES_TUNE_UNTRIED, &count);
    /* What it leaves out stays RES_TUNE_UNTRIED, and without a whole round there is time for no other. */
    bool whole = run_round(course, points, count, first_share);
    for (unsigned round = 1; round < rounds && whole; round++) {
        free(points);
        points = res_tune_points(space, from, RES_TUNE_ALIVE, &count);
        shuffle_points(course, points, count);
        whole = run_round(course, points, count, share);
        search->noise = res_tune_noise_of(space, &search->reference);
        if (round + 1 >= RES_TUNE_SCREEN_ROUNDS)
            res_tune_drop_dominated(space, &search->noise);
    }
    free(points);
    search->noise = res_tune_noise_of(space, &search->reference);
}

/* One halving and its rounds. Returns whether there is another. */
static bool race_on(struct course *course, unsigned rounds)
{
    struct res_tune_search *search = course->search;
    size_t count;
    bool goes_on = true;
    search->noise = res_tune_noise_of(search->space, &search->reference);
    res_tune_drop_dominated(search->space, &search->noise);
    struct res_tune_point **alive = res_tune_points(search->space, 0, RES_TUNE_ALIVE, &count);
    res_tune_rank(alive, count);
    size_t kept = (count + 1) / 2 > course->finalists_most ? (count + 1) / 2 : course->finalists_most;
    kept = kept < count ? kept : count;
    if (kept <= course->finalists_most || now(course) + heat_cost(course, kept) > moment(course, 1))
        goes_on = false; /* the rest stays as it is: choose_finalists ranks them all */
    if (goes_on) {
        for (size_t i = kept; i < count; i++)
            alive[i]->state = RES_TUNE_OUTRANKED;
        for (unsigned round = 0; round < rounds && goes_on; round++) {
            shuffle_points(course, alive, kept);
            goes_on = run_round(course, alive, kept, 1);
        }
    }
    free(alive);
    return goes_on;
}

/* The simplest form of a point becomes a finalist, once. */
static void add_finalist(struct res_tune_search *search, struct res_tune_point *point)
{
    point = res_tune_simplest(search->space, point, &search->noise);
    if (point->state != RES_TUNE_FINALIST)
        search->finalists[search->finalist_count++] = point;
    point->state = RES_TUNE_FINALIST;
}

/* All were dominated by the default: the least bad of them stands for them. */
static void recall_one(struct course *course)
{
    struct res_tune_search *search = course->search;
    struct res_tune_point **tried = res_calloc(search->space->point_count, sizeof(struct res_tune_point *));
    size_t count = 0;
    for (size_t i = 0; i < search->space->point_count; i++) {
        if (search->space->points[i]->time_count > 0 && search->space->points[i]->state != RES_TUNE_FAILED)
            tried[count++] = search->space->points[i];
    }
    res_tune_rank(tried, count);
    if (count > 0)
        add_finalist(search, tried[0]);
    free(tried);
}

/* Those that promise to be worth confirming, the best first; the best of all when none does, so that the answer "nothing is
 * better" is confirmed as well. */
static void choose_finalists(struct course *course)
{
    struct res_tune_search *search = course->search;
    size_t count;
    search->noise = res_tune_noise_of(search->space, &search->reference);
    res_tune_drop_dominated(search->space, &search->noise);
    struct res_tune_point **alive = res_tune_points(search->space, 0, RES_TUNE_ALIVE, &count);
    res_tune_rank(alive, count);
    for (size_t i = 0; i < count; i++) {
        const bool promises = res_tune_time_of(alive[i]) < 0 ||
                              res_tune_memory_of(alive[i]) < -RES_TUNE_WORTH / 2;
        if (search->finalist_count < course->finalists_most && (promises || i == 0))
            add_finalist(search, alive[i]);
        if (alive[i]->state == RES_TUNE_ALIVE)
            alive[i]->state = RES_TUNE_OUTRANKED;
    }
    free(alive);
    if (search->finalist_count == 0)
        recall_one(course);
}

static void fail_without_points(struct course *course)
{
    const struct res_tune_space *space = course->search->space;
    const char *why = NULL;
    for (size_t i = 0; i < space->point_count && why == NULL; i++)
        why = space->points[i]->why;
    fail(course, RES_TUNE_END_FAILED,
         res_printf("no setting could be tried: %s", why != NULL ? why : "no time was left"));
}

/* ---- time ----------------------------------------------------------------------------------- */

/* What runs of the default take now, whatever they took before. */
static void learn_afresh(struct course *course)
{
    double logs[2];
    course->search->time_run_ns = course->search->memory_run_ns = 0;
    (void)run_point(course, NULL, RES_TUNE_TIME, logs); /* the search is over where it fails */
    if (course->evaluator->memory_apart && !is_over(course))
        (void)run_point(course, NULL, RES_TUNE_MEMORY, logs);
}

/* The default's first run warms up file and memory; the second is what a run takes. */
static void calibrate(struct course *course)
{
    if (course->evaluator->progress != NULL)
        course->evaluator->progress(course->evaluator->context, "the default's first runs");
    for (int turn = 0; turn < 2 && !is_over(course); turn++)
        learn_afresh(course);
}

static char *too_short(const struct res_tune_search *search, double reserve_ns, double least_ns)
{
    const double one_ns = (double)(search->time_run_ns + search->memory_run_ns);
    const double seconds = ceil(least_ns * 1.25 / 1e9); /* what is named must do when it is given */
    char run[32], reserve[32];
    char *least = seconds < 120 ? res_printf("%.0fs", seconds) : res_printf("%.0fm", ceil(seconds / 60));
    char *words = res_printf(
        "the budget is too short: one try takes %s, and to confirm a single one takes %s; give "
        "--budget %s at least, or tune a part (--head, --from-time)",
        res_text_duration(one_ns, run), res_text_duration(reserve_ns, reserve), least);
    free(least);
    return words;
}

/* How many finalists there may be, by what runs take now. */
static size_t finalists_that_fit(const struct res_tune_search *search)
{
    size_t finalists = RES_TUNE_FINALISTS;
    while (finalists > 1 && reserve_ns(search, finalists, RES_TUNE_ROUNDS_LEAST, search->memory_rounds) >
                                CONFIRM_SHARE * (double)search->budget_ns)
        finalists--;
    return finalists;
}

/* Whether something can be confirmed at all. */
static void plan(struct course *course)
{
    struct res_tune_search *search = course->search;
    const double budget = (double)search->budget_ns;
    const size_t finalists = finalists_that_fit(search);
    const double reserve = reserve_ns(search, finalists, RES_TUNE_ROUNDS_LEAST, search->memory_rounds);
    const double spent = (double)(now(course) - course->begin_ns);
    const double heat = (double)heat_cost(course, RES_TUNE_HEAT);
    if (reserve > CONFIRM_MOST * budget || spent + heat + reserve > budget)
        fail(course, RES_TUNE_END_TOO_SHORT,
             too_short(search, reserve, fmax(reserve / CONFIRM_MOST, spent + heat + reserve)));
    course->finalists_most = finalists;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void race(struct course *course)
{
    const size_t finalists = finalists_that_fit(course->search);
    if (finalists > course->finalists_most) /* runs became quicker */
        course->finalists_most = finalists;
    course->what = "the better ones once more";
    for (unsigned rounds = RES_TUNE_SCREEN_ROUNDS; !is_over(course) && race_on(course, rounds); rounds *= 2)
        continue;
}

static void search_points(struct course *course)
{
    struct res_tune_search *search = course->search;
    course->what = "single settings";
    screen(course, 0, RES_TUNE_SCREEN_MOST, FIRST_SHARE, SINGLES_SHARE);
    const size_t singles = search->space->point_count;
    if (!is_over(course) && res_tune_combine(search->space, &search->noise) > 0) {
        course->what = "combined settings";
        screen(course, singles, RES_TUNE_SCREEN_ROUNDS, COMBINED_SHARE, COMBINED_SHARE);
    }
    race(course);
    /* The shares of the stages leave time over where runs became quicker, or the field was halved soon. While no heat fits little
     * is learned of that, and where it seems so the default is asked. */
    const bool quicker = 2 * course->last_time_run_ns < search->time_run_ns;
    if (!is_over(course) && res_tune_count(search->space, RES_TUNE_UNTRIED) > 0 && quicker)
        learn_afresh(course);
    if (!is_over(course) && res_tune_count(search->space, RES_TUNE_UNTRIED) > 0) {
        course->what = "what was left out";
        screen(course, 0, RES_TUNE_SCREEN_ROUNDS, LATE_SHARE, 1);
        race(course);
    }
}

static void confirm(struct course *course)
{
    struct res_tune_search *search = course->search;
    const struct res_tune_evaluator *evaluator = course->evaluator;
    const uint64_t begin = now(course);
    char *reason = NULL;
    const uint64_t spent = begin - course->begin_ns;
    const struct res_tune_rounds rounds = {
        .least = RES_TUNE_ROUNDS_LEAST,
        .most = RES_TUNE_ROUNDS_MOST,
        .memory = search->memory_rounds,
        .time_ns = search->budget_ns > spent ? search->budget_ns - spent : 1,
    };
    const enum res_tune_outcome outcome = evaluator->confirm(evaluator->context, search->finalists,
                                                             search->finalist_count, &rounds,
                                                             &search->confirmation, &reason);
    if (outcome == RES_TUNE_RUN_FAILED)
        fail(course, RES_TUNE_END_FAILED, reason);
    if (outcome == RES_TUNE_STOPPED)
        search->end = RES_TUNE_END_STOPPED;
    search->confirmation_ns = now(course) - begin;
    if (search->confirmation.entries == NULL)
        return;
    search->judgements = res_calloc(search->finalist_count + 1, sizeof *search->judgements);
    res_tune_judge(&search->confirmation, search->judgements);
}

void res_tune_run(struct res_tune_space *space, const struct res_tune_evaluator *evaluator, uint64_t seed,
                  uint64_t budget_ns, struct res_tune_search *ret_search)
{
    struct course course = {.search = ret_search, .evaluator = evaluator, .random = res_random_from(seed)};
    *ret_search = (struct res_tune_search){
        .space = space,
        .seed = seed,
        .budget_ns = budget_ns,
        .noise = {INFINITY, INFINITY},
        .memory_rounds = evaluator->memory_apart ? RES_TUNE_MEMORY_ROUNDS : 0,
    };
    assert(space->point_count > 0);
    course.begin_ns = now(&course);
    calibrate(&course);
    if (!is_over(&course))
        plan(&course);
    if (!is_over(&course))
        search_points(&course);
    /* Of a stopped search too: the best so far. */
    if (course.finalists_most > 0 && ret_search->problem == NULL)
        choose_finalists(&course);
    if (!is_over(&course) && ret_search->finalist_count == 0)
        fail_without_points(&course);
    ret_search->search_ns = now(&course) - course.begin_ns;
    if (!is_over(&course))
        confirm(&course);
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
