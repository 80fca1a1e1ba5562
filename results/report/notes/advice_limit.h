/* advice_limit.h - who survives a memory limit, which is what it was set to find out. */
#ifndef MALLAB_RESULTS_REPORT_NOTES_ADVICE_LIMIT_H
#define MALLAB_RESULTS_REPORT_NOTES_ADVICE_LIMIT_H

#include <jansson.h>

/* res_advice_limit - "Only glibc survives the limit of 17.8 MB", a part of the advice; the caller's.
 * Returns NULL without a limit, or when nobody died at it. */
char *res_advice_limit(const json_t *result, const json_t *workload);

#endif
