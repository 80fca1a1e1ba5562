/* more_rounds.h - what to ask `mallab ab` for next. An estimate: intervals are taken to narrow with the root of the rounds, which few
 * rounds beat and a machine that becomes busier does not keep; rounds are taken to last as long as those of the result. */
#ifndef MALLAB_RESULTS_REPORT_NOTES_MORE_ROUNDS_H
#define MALLAB_RESULTS_REPORT_NOTES_MORE_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>

#include "results/measure/result/result.h"

#define RES_LARGE_NOISE 0.05 /* of a ratio; more hides differences that people would act on */

struct res_more_rounds {
    double width; /* of the widest interval of a ratio, as for --until; NAN: not known */
    double until; /* a width that is worth asking for; 0: none that --until would reach by itself (until.h) */
    size_t rounds;     /* that it takes */
    double elapsed_ns; /* of these rounds, warm-up and memory passes included; NAN: not known */
    bool short_enough; /* for RES_UNTIL_ROUNDS_MAX of them within five minutes */
};

struct res_more_rounds res_more_rounds(const struct res_result_workload *workload);

/* res_more_rounds_words - "--until 2% (some 60 rounds, 4 min 10 s)", or what else to do where that is out of reach. The
 * caller's to free. */
char *res_more_rounds_words(const struct res_more_rounds *more);

#endif
