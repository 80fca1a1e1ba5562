/* advice_rounds.h - how many more rounds would do, and what they would cost.
 *
 *   width   of the interval of a ratio, as for --until (until.h): of the widest one
 *   seen    what a difference has to exceed to be told from the noise: half the width, about
 *
 * An estimate: intervals are taken to narrow with the root of the rounds, which few rounds beat and a machine that
 * becomes busier does not keep; rounds are taken to last as long as those of the result. */
#ifndef MALLAB_RESULTS_REPORT_NOTES_ADVICE_ROUNDS_H
#define MALLAB_RESULTS_REPORT_NOTES_ADVICE_ROUNDS_H

#include "results/measure/result/result.h"

/* What to ask `mallab ab` for next. */
struct res_more_rounds {
    double width; /* now; NAN: not known */
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
