/* advice_options.h - the candidates that advice chooses among, and which one leads.
 *
 *   faster   than the baseline beyond noise, by so much that it may be a reason to take it
 *   smaller  at the peak, likewise, and not outweighed by what it holds before the first call (startup_memory.h)
 *   equals   those faster ones that the intervals do not tell apart from the fastest by time
 *
 * By time the first of the equals is chance. One leads whose memory is clearly no more than any other's: within
 * RES_PARETO_MARGIN (pareto.h) of the least, or not told apart from it; of these the fastest. None leads that another
 * equal is shown to beat. */
#ifndef MALLAB_RESULTS_REPORT_NOTES_ADVICE_OPTIONS_H
#define MALLAB_RESULTS_REPORT_NOTES_ADVICE_OPTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "results/measure/figures/startup_memory.h"
#include "results/measure/statistics/statistics.h"

struct res_advice_option {
    const char *name; /* the result's */
    size_t place;     /* among the workload's candidates */
    enum res_verdict time, peak;
    double time_ratio, time_low, time_high;
    double compared_ns; /* per op, of the figure that time_ratio is of */
    double peak_ratio, peak_low, peak_high;
    struct res_held peak_held;
    double saved_ns;    /* by its ratio, of all threads together; NAN without a baseline */
    bool is_negligible; /* that is, against the recorded duration, and more than nothing */
};

struct res_advice_options {
    bool memory_known; /* else verdicts on it are not to be had, whatever the figures say */
    struct res_advice_option *items;
    size_t count;
    const struct res_advice_option *baseline; /* NULL when it failed */
};

/* res_advice_options_of - the candidates that have figures; to be released, and valid as long as the workload. */
struct res_advice_options res_advice_options_of(const char *baseline, const json_t *workload);
void res_advice_options_release(struct res_advice_options *options);

bool res_advice_option_is_faster(const struct res_advice_option *option,
                                 const struct res_advice_options *options);

/* res_advice_option_is_apart - whether the intervals tell a time from the fastest's. */
bool res_advice_option_is_apart(const struct res_advice_option *option,
                                const struct res_advice_option *fastest);

/* res_advice_options_fastest / res_advice_options_smallest - the best by one figure; NULL: none is better than the baseline.
 * res_advice_options_best - the one of the equals that leads; NULL where none is faster. */
const struct res_advice_option *res_advice_options_fastest(const struct res_advice_options *options);
const struct res_advice_option *res_advice_options_smallest(const struct res_advice_options *options);
const struct res_advice_option *res_advice_options_best(const struct res_advice_options *options,
                                                        const json_t *workload);

#endif
