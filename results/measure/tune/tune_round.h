/* tune_round.h - how points are run: side by side with the default, in shuffled order, until a moment.
 *
 *   heat    up to RES_TUNE_HEAT points and the default once each, so that each sample is a ratio to a run of the default
 *           within the same seconds; then those that want it in a pass for memory
 *   course  what a search has while it runs; for tune_search.c */
#ifndef MALLAB_RESULTS_MEASURE_TUNE_TUNE_ROUND_H
#define MALLAB_RESULTS_MEASURE_TUNE_TUNE_ROUND_H

#include "results/measure/tune/tune_search.h"

struct res_tune_course {
    struct res_tune_search *search;
    const struct res_tune_evaluator *evaluator;
    struct res_random random;
    uint64_t begin_ns;
    uint64_t last_time_run_ns; /* that the last timed run took */
    size_t finalists_most;
    const char *what; /* of the stage, for the progress */
};

/* res_tune_now - by the evaluator. res_tune_is_over - whether the search was stopped or has failed. */
uint64_t res_tune_now(const struct res_tune_course *course);
bool res_tune_is_over(const struct res_tune_course *course);

/* res_tune_fail - end the search; takes over the problem. */
void res_tune_fail(struct res_tune_course *course, enum res_tune_end end, char *problem);

/* res_tune_run_point - one run; NULL is the default, whose failure ends the search.
 * ret_logs  logarithms of time and memory; NAN where the pass does not tell. Returns whether they are there. */
bool res_tune_run_point(struct res_tune_course *course, struct res_tune_point *point, enum res_tune_pass pass,
                        double ret_logs[2]);

/* res_tune_heat_cost - what a heat of so many points takes, by the default's runs. */
uint64_t res_tune_heat_cost(const struct res_tune_course *course, size_t points);

/* res_tune_reserve_ns - what a confirmation takes: warm-up, and so many rounds of the default, the finalists, the control and the
 * floor. Runs of finalists may be a little slower than those that were timed: a tenth is added. */
double res_tune_reserve_ns(const struct res_tune_search *search, size_t finalists, unsigned rounds,
                           unsigned memory_rounds);

/* res_tune_moment - by the evaluator's clock: when this share (0 to 1) of the search's time is over. The search has what the
 * shortest confirmation leaves of the budget, by what runs take now: so it moves, and is to be asked before each heat. */
uint64_t res_tune_moment(const struct res_tune_course *course, double share);

/* res_tune_round - these points once each in their order, in heats; none is begun that would end behind that share of the
 * search's time, as it is then (res_tune_moment).
 * Returns whether all had theirs. */
bool res_tune_round(struct res_tune_course *course, struct res_tune_point **points, size_t count,
                    double share);

#endif
