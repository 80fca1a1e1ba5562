/* advice_options.h - the candidates that advice chooses among, and which one leads; and how many more rounds would decide.
 *
 *   faster   than the baseline beyond noise, by so much that it may be a reason to take it
 *   smaller  at the peak, likewise, and not outweighed by what it holds before the first call (pareto.h)
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

/* What to ask `mallab ab` for next. An estimate: intervals are taken to narrow with the root of the rounds, which few rounds beat and a
 * machine that becomes busier does not keep; rounds are taken to last as long as those of the result. */
struct res_more_rounds {
    double width; /* of the widest interval of a ratio, as for --until; NAN: not known */
    double until; /* a width that is worth asking for; 0: none that --until would reach by itself (until.h) */
    size_t rounds;     /* that it takes */
    double elapsed_ns; /* of these rounds, warm-up and memory passes included; NAN: not known */
    bool short_enough; /* for RES_UNTIL_ROUNDS_MAX of them within RES_UNTIL_LONG_NS */
};

struct res_more_rounds res_more_rounds(const struct res_result_workload *workload);

/* res_more_rounds_words - "--until 2% (some 60 rounds, 4 min 10 s)", or what else to do where that is out of reach. The
 * caller's to free. */
char *res_more_rounds_words(const struct res_more_rounds *more);

#endif
