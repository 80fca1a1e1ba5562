/* reserve.c - the confirmation's part of the budget. */
#include "results/measure/tune/reserve.h"

#include <math.h>

#define MARGIN 1.1 /* runs of candidates are slower than the default's, at times */

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
