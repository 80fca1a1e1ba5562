/* tune_search.h - which settings are tried how often within a budget of time, and which are confirmed.
 *
 *   1  singles      every declared value of every setting by itself, one round, and as long as their share of the time lasts up to
 *                   RES_TUNE_SCREEN_MOST: all that follows builds on them
 *   2  combined     those that promised something, together (screen.h); RES_TUNE_SCREEN_ROUNDS
 *   3  race         the field is halved by rank (screen.h), and the rest gets as many rounds again as it has had, and so on until
 *                   RES_TUNE_FINALISTS are left ("successive halving"). What is dominated beyond the noise goes at once.
 *                   Of a finalist and the points with a part of its settings that do as well, the simplest is confirmed
 *   4  confirmation fresh rounds of the finalists, the default and the control, of which alone the figures and verdicts are
 *                   (judge.h): the winner of many tries was lucky too, and his earlier samples would say so
 *
 * Runs are made in heats: up to RES_TUNE_HEAT points and the default once each, so that each sample is a ratio to a run of the default
 * within the same seconds; then those that want it in a pass for memory.
 * Time: by what runs take at the moment it is reckoned before each heat what the confirmation takes; the search has
 * what is left of the budget. A heat is not begun when it would not end in time. What the shares of the stages left out is tried
 * behind the race, where there is time after all, and raced; what is not tried then is counted. The confirmation has
 * RES_TUNE_ROUNDS_LEAST rounds whatever they take, so on a machine that slows down meanwhile the budget is passed, and up to
 * RES_TUNE_ROUNDS_MOST as the budget's rest allows.
 * Same seed, same samples: same result.
 * Source  K. Jamieson, A. Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", AISTATS 2016;
 *         racing after O. Maron, A. Moore, "Hoeffding races", NIPS 1993. */
#ifndef MALLAB_RESULTS_MEASURE_TUNE_TUNE_SEARCH_H
#define MALLAB_RESULTS_MEASURE_TUNE_TUNE_SEARCH_H

#include "results/measure/tune/judge.h"
#include "results/measure/tune/screen.h"

#define RES_TUNE_HEAT          6u
#define RES_TUNE_SCREEN_ROUNDS 2u
#define RES_TUNE_SCREEN_MOST   6u
#define RES_TUNE_FINALISTS     3u
#define RES_TUNE_ROUNDS_LEAST                                                                                \
    10u /* of the confirmation: with fewer no rank test is significant among three finalists */
#define RES_TUNE_ROUNDS_MOST   20u
#define RES_TUNE_MEMORY_ROUNDS 5u /* of them with a pass for memory */

enum res_tune_pass {
    RES_TUNE_TIME,
    RES_TUNE_MEMORY,
};

enum res_tune_outcome {
    RES_TUNE_OK = 0,
    RES_TUNE_RUN_FAILED = 1,
    RES_TUNE_STOPPED = 2,
};

/* Of a confirmation. A round of more than the least is begun when it should end in time: what was measured does not count. */
struct res_tune_rounds {
    unsigned least, most, memory; /* memory: that have a pass for it */
    uint64_t time_ns;             /* > 0 */
};

/* What runs the points; replays in the program, a formula in tests. */
struct res_tune_evaluator {
    /* One run. point: NULL is the default. ret_figures: [0] net ns per op, [1] bytes; that which the pass does not tell is NAN.
     * ret_reason: on RES_TUNE_RUN_FAILED one line, the caller's to free. */
    enum res_tune_outcome (*run)(void *context, struct res_tune_point *point, enum res_tune_pass pass,
                                 double ret_figures[2], char **ret_reason);
    /* Fresh rounds of the default, the finalists and the control. ret_confirmation: filled on RES_TUNE_OK, and when it was
     * stopped after at least one round; else its entries are NULL. */
    enum res_tune_outcome (*confirm)(void *context, struct res_tune_point *const *finalists, size_t count,
                                     const struct res_tune_rounds *rounds,
                                     struct res_tune_confirmation *ret_confirmation, char **ret_reason);
    uint64_t (*now_ns)(void *context);
    /* Before each heat: what is done, in words. */
    void (*progress)(void *context, const char *words);
    bool memory_apart; /* memory takes a pass of its own; else the timed runs tell it */
    void *context;
};

enum res_tune_end {
    RES_TUNE_CONFIRMED = 0,
    RES_TUNE_END_STOPPED,   /* by a signal: what was found so far is there, unconfirmed */
    RES_TUNE_END_FAILED,    /* the default did, or all points: problem */
    RES_TUNE_END_TOO_SHORT, /* the budget: problem */
};

struct res_tune_search {
    struct res_tune_space *space;
    struct res_tune_default reference;
    struct res_tune_noise noise;
    uint64_t seed, budget_ns;
    uint64_t search_ns, confirmation_ns; /* spent */
    uint64_t time_run_ns, memory_run_ns; /* that a run of the default took */
    size_t heats, runs;
    struct res_tune_point *finalists[RES_TUNE_FINALISTS];
    size_t finalist_count;
    unsigned memory_rounds; /* of the confirmation */
    struct res_tune_confirmation confirmation;
    struct res_tune_judgement
        *judgements; /* finalist_count + 1, the default's first; NULL: nothing was confirmed */
    enum res_tune_end end;
    char *problem; /* one line; NULL */
};

/* res_tune_run - search and confirm.
 * space      of res_tune_space_init, with the same seed; borrowed, and changed.
 * ret_search always filled; res_tune_search_release drops it. */
void res_tune_run(struct res_tune_space *space, const struct res_tune_evaluator *evaluator, uint64_t seed,
                  uint64_t budget_ns, struct res_tune_search *ret_search);
void res_tune_search_release(struct res_tune_search *search);

#endif
