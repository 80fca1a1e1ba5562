/* tune_search.c - singles, combined, race, confirmation; the plan is in the header. */
#include "results/measure/tune/tune_search.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "results/measure/tune/tune_round.h"

/* Of the search's time, up to which a stage goes on. */
#define FIRST_SHARE    0.65 /* the first round of singles: breadth before depth */
#define SINGLES_SHARE  0.45 /* their further rounds */
#define COMBINED_SHARE 0.75
#define LATE_SHARE     0.8  /* what the stages before left untried, when there is time after all */
#define CONFIRM_SHARE  0.6  /* of the budget: more finalists are not confirmed when they would take more */
#define CONFIRM_MOST   0.85 /* of the budget: where one finalist takes more, it is too short */

/* ---- stages --------------------------------------------------------------------------------- */

static void shuffle_points(struct res_tune_course *course, struct res_tune_point **points, size_t count)
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
static void screen(struct res_tune_course *course, size_t from, unsigned rounds, double first_share,
                   double share)
{
    struct res_tune_search *search = course->search;
    const struct res_tune_space *space = search->space;
    size_t count;
    struct res_tune_point **points = res_tune_points(space, from, RES_TUNE_UNTRIED, &count);
    /* What it leaves out stays RES_TUNE_UNTRIED, and without a whole round there is time for no other. */
    bool whole = res_tune_round(course, points, count, first_share);
    for (unsigned round = 1; round < rounds && whole; round++) {
        free(points);
        points = res_tune_points(space, from, RES_TUNE_ALIVE, &count);
        shuffle_points(course, points, count);
        whole = res_tune_round(course, points, count, share);
        search->noise = res_tune_noise_of(space, &search->reference);
        if (round + 1 >= RES_TUNE_SCREEN_ROUNDS)
            res_tune_drop_dominated(space, &search->noise);
    }
    free(points);
    search->noise = res_tune_noise_of(space, &search->reference);
}

/* One halving and its rounds. Returns whether there is another. */
static bool race_on(struct res_tune_course *course, unsigned rounds)
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
    if (kept <= course->finalists_most ||
        res_tune_now(course) + res_tune_heat_cost(course, kept) > res_tune_moment(course, 1))
        goes_on = false; /* the rest stays as it is: choose_finalists ranks them all */
    if (goes_on) {
        for (size_t i = kept; i < count; i++)
            alive[i]->state = RES_TUNE_OUTRANKED;
        for (unsigned round = 0; round < rounds && goes_on; round++) {
            shuffle_points(course, alive, kept);
            goes_on = res_tune_round(course, alive, kept, 1);
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
static void recall_one(struct res_tune_course *course)
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
static void choose_finalists(struct res_tune_course *course)
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

static void fail_without_points(struct res_tune_course *course)
{
    const struct res_tune_space *space = course->search->space;
    const char *why = NULL;
    for (size_t i = 0; i < space->point_count && why == NULL; i++)
        why = space->points[i]->why;
    res_tune_fail(course, RES_TUNE_END_FAILED,
                  res_printf("no setting could be tried: %s", why != NULL ? why : "no time was left"));
}

/* ---- time ----------------------------------------------------------------------------------- */

/* What runs of the default take now, whatever they took before. */
static void learn_afresh(struct res_tune_course *course)
{
    double logs[2];
    course->search->time_run_ns = course->search->memory_run_ns = 0;
    (void)res_tune_run_point(course, NULL, RES_TUNE_TIME, logs); /* the search is over where it fails */
    if (course->evaluator->memory_apart && !res_tune_is_over(course))
        (void)res_tune_run_point(course, NULL, RES_TUNE_MEMORY, logs);
}

/* The default's first run warms up file and memory; the second is what a run takes. */
static void calibrate(struct res_tune_course *course)
{
    if (course->evaluator->progress != NULL)
        course->evaluator->progress(course->evaluator->context, "the default's first runs");
    for (int turn = 0; turn < 2 && !res_tune_is_over(course); turn++)
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
        "--budget %s at least, or tune a part (--head, --sample)",
        res_text_duration(one_ns, run), res_text_duration(reserve_ns, reserve), least);
    free(least);
    return words;
}

/* How many finalists there may be, by what runs take now. */
static size_t finalists_that_fit(const struct res_tune_search *search)
{
    size_t finalists = RES_TUNE_FINALISTS;
    while (finalists > 1 &&
           res_tune_reserve_ns(search, finalists, RES_TUNE_ROUNDS_LEAST, search->memory_rounds) >
               CONFIRM_SHARE * (double)search->budget_ns)
        finalists--;
    return finalists;
}

/* Whether something can be confirmed at all. */
static void plan(struct res_tune_course *course)
{
    struct res_tune_search *search = course->search;
    const double budget = (double)search->budget_ns;
    const size_t finalists = finalists_that_fit(search);
    const double reserve = res_tune_reserve_ns(search, finalists, RES_TUNE_ROUNDS_LEAST,
                                               search->memory_rounds);
    const double spent = (double)(res_tune_now(course) - course->begin_ns);
    const double heat = (double)res_tune_heat_cost(course, RES_TUNE_HEAT);
    if (reserve > CONFIRM_MOST * budget || spent + heat + reserve > budget)
        res_tune_fail(course, RES_TUNE_END_TOO_SHORT,
                      too_short(search, reserve, fmax(reserve / CONFIRM_MOST, spent + heat + reserve)));
    course->finalists_most = finalists;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void race(struct res_tune_course *course)
{
    const size_t finalists = finalists_that_fit(course->search);
    if (finalists > course->finalists_most) /* runs became quicker */
        course->finalists_most = finalists;
    course->what = "the better ones once more";
    for (unsigned rounds = RES_TUNE_SCREEN_ROUNDS; !res_tune_is_over(course) && race_on(course, rounds);
         rounds *= 2)
        continue;
}

static void search_points(struct res_tune_course *course)
{
    struct res_tune_search *search = course->search;
    course->what = "single settings";
    screen(course, 0, RES_TUNE_SCREEN_MOST, FIRST_SHARE, SINGLES_SHARE);
    const size_t singles = search->space->point_count;
    if (!res_tune_is_over(course) && res_tune_combine(search->space, &search->noise) > 0) {
        course->what = "combined settings";
        screen(course, singles, RES_TUNE_SCREEN_ROUNDS, COMBINED_SHARE, COMBINED_SHARE);
    }
    race(course);
    /* The shares of the stages leave time over where runs became quicker, or the field was halved soon. While no heat fits little
     * is learned of that, and where it seems so the default is asked. */
    const bool quicker = 2 * course->last_time_run_ns < search->time_run_ns;
    if (!res_tune_is_over(course) && res_tune_count(search->space, RES_TUNE_UNTRIED) > 0 && quicker)
        learn_afresh(course);
    if (!res_tune_is_over(course) && res_tune_count(search->space, RES_TUNE_UNTRIED) > 0) {
        course->what = "what was left out";
        screen(course, 0, RES_TUNE_SCREEN_ROUNDS, LATE_SHARE, 1);
        race(course);
    }
}

static void confirm(struct res_tune_course *course)
{
    struct res_tune_search *search = course->search;
    const struct res_tune_evaluator *evaluator = course->evaluator;
    const uint64_t begin = res_tune_now(course);
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
        res_tune_fail(course, RES_TUNE_END_FAILED, reason);
    if (outcome == RES_TUNE_STOPPED)
        search->end = RES_TUNE_END_STOPPED;
    search->confirmation_ns = res_tune_now(course) - begin;
    if (search->confirmation.entries == NULL)
        return;
    search->judgements = res_calloc(search->finalist_count + 1, sizeof *search->judgements);
    res_tune_judge(&search->confirmation, search->judgements);
}

void res_tune_run(struct res_tune_space *space, const struct res_tune_evaluator *evaluator, uint64_t seed,
                  uint64_t budget_ns, struct res_tune_search *ret_search)
{
    struct res_tune_course course = {
        .search = ret_search, .evaluator = evaluator, .random = res_random_from(seed)};
    *ret_search = (struct res_tune_search){
        .space = space,
        .seed = seed,
        .budget_ns = budget_ns,
        .noise = {INFINITY, INFINITY},
        .memory_rounds = evaluator->memory_apart ? RES_TUNE_MEMORY_ROUNDS : 0,
    };
    assert(space->point_count > 0);
    course.begin_ns = res_tune_now(&course);
    calibrate(&course);
    if (!res_tune_is_over(&course))
        plan(&course);
    if (!res_tune_is_over(&course))
        search_points(&course);
    /* Of a stopped search too: the best so far. */
    if (course.finalists_most > 0 && ret_search->problem == NULL)
        choose_finalists(&course);
    if (!res_tune_is_over(&course) && ret_search->finalist_count == 0)
        fail_without_points(&course);
    ret_search->search_ns = res_tune_now(&course) - course.begin_ns;
    if (!res_tune_is_over(&course))
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
