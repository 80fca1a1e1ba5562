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

#include <stdbool.h>
#include <stddef.h>

#include "results/measure/result/result.h"

struct res_advice_option {
    const struct res_result_entry *entry;
    const struct res_difference *time, *peak; /* the entry's, against the baseline */
    enum res_verdict peak_verdict;            /* undecided where not all that was live is known */
    double saved_ns;    /* by its ratio, of all threads together; NAN without a baseline */
    bool is_negligible; /* that is, against the recorded duration, and more than nothing */
};

struct res_advice_options {
    bool memory_known; /* else verdicts on it are not to be had, whatever the figures say */
    struct res_advice_option *items;
    size_t count;
    const struct res_advice_option *baseline; /* NULL when it failed */
    /* the best by one figure; NULL: none is better than the baseline */
    const struct res_advice_option *fastest, *smallest;
    const struct res_advice_option *best; /* the one of the equals that leads; NULL where none is faster */
};

/* res_advice_options_of - the candidates that have figures; to be released, and valid as long as the workload. */
struct res_advice_options res_advice_options_of(const char *baseline,
                                                const struct res_result_workload *workload);
void res_advice_options_release(struct res_advice_options *options);

/* res_advice_is_equal - whether one is among the equals. */
bool res_advice_is_equal(const struct res_advice_option *option, const struct res_advice_options *options);

#endif
