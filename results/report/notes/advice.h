/* advice.h - one sentence on a workload of a result: what to take, and how sure that is. It claims no difference whose
 * verdict is `same` or `undecided`. */
#ifndef MALLAB_RESULTS_REPORT_NOTES_ADVICE_H
#define MALLAB_RESULTS_REPORT_NOTES_ADVICE_H

#include "results/measure/result/result.h"

#define RES_LARGE_NOISE 0.05 /* of a ratio; more hides differences that people would act on */
#define RES_START_MATTERS                                                                                    \
    0.02 /* of the baseline's peak: what more is held before the first call gets a word */

struct res_advice {
    char *text;                              /* the caller's to free */
    const struct res_result_entry *tried[2]; /* what it says to try: the fastest, the smallest */
    size_t tried_count;                      /* 0 where it says to stay, or gives no advice */
};

struct res_advice res_advice_of(const struct res_result *result, const struct res_result_workload *workload);

/* res_deploy_line - "LD_PRELOAD=/usr/lib/libjemalloc.so.2 MALLOC_CONF=narenas:1".
 * entry    its library and environment count. The C library's own malloc is in every program already and takes no
 *          LD_PRELOAD.
 * Returns  the caller's to free, fit for a terminal; NULL: nothing is to be set. */
char *res_deploy_line(const struct res_result_entry *entry);

#endif
