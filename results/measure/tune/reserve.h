/* reserve.h - what of a search's budget is kept for its confirmation, by what runs take at the moment. */
#ifndef MALLAB_RESULTS_MEASURE_TUNE_RESERVE_H
#define MALLAB_RESULTS_MEASURE_TUNE_RESERVE_H

#include "results/measure/tune/tune_round.h"

/* res_tune_reserve_ns - what a confirmation takes: warm-up, and so many rounds of the default, the finalists, the control and the
 * floor. Runs of finalists may be a little slower than those that were timed: a tenth is added. */
double res_tune_reserve_ns(const struct res_tune_search *search, size_t finalists, unsigned rounds,
                           unsigned memory_rounds);

/* res_tune_moment - by the evaluator's clock: when this share (0 to 1) of the search's time is over. The search has what the
 * shortest confirmation leaves of the budget, by what runs take now: so it moves, and is to be asked before each heat. */
uint64_t res_tune_moment(const struct res_tune_course *course, double share);

#endif
