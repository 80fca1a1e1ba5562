/* deploy.h - how a candidate is put under a program: the words before its command, or in its service's environment. */
#ifndef MALLAB_RESULTS_REPORT_NOTES_DEPLOY_H
#define MALLAB_RESULTS_REPORT_NOTES_DEPLOY_H

#include "results/measure/result/result.h"

/* res_deploy_line - "LD_PRELOAD=/usr/lib/libjemalloc.so.2 MALLOC_CONF=narenas:1".
 * entry    its library and environment count. The C library's own malloc is in every program already and takes no
 *          LD_PRELOAD.
 * Returns  the caller's to free, fit for a terminal; NULL: nothing is to be set. */
char *res_deploy_line(const struct res_result_entry *entry);

#endif
