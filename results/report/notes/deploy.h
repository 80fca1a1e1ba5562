/* deploy.h - how a candidate is put under a program: the words before its command, or in its service's environment. */
#ifndef MALLAB_RESULTS_REPORT_NOTES_DEPLOY_H
#define MALLAB_RESULTS_REPORT_NOTES_DEPLOY_H

#include <jansson.h>
#include <stdbool.h>

#include "results/measure/base/support.h"

/* res_deploy_variable - one variable as a shell takes it: "MALLOC_CONF=narenas:1", quoted where a shell needs it. */
void res_deploy_variable(struct res_text *text, const char *name, const char *value);

/* res_deploy_is_line - whether a line is such variables between blanks, as res_deploy_variable words them, and nothing that a
 * shell would do besides. An empty one is. */
bool res_deploy_is_line(const char *line);

/* res_deploy_line - "LD_PRELOAD=/usr/lib/libjemalloc.so.2 MALLOC_CONF=narenas:1".
 * entry    a candidate of a result: its `library` and `environment` count. The C library's own malloc is in every program
 *          already and takes no LD_PRELOAD.
 * Returns  the caller's to free, fit for a terminal; NULL: nothing is to be set. */
char *res_deploy_line(const json_t *entry);

/* res_deploy_add - a line among those below a table (notes.h), labelled when it is the first; never broken, since it is to be
 * taken with the mouse. name and line: plain. */
void res_deploy_add(struct res_text *text, bool is_first, const char *name, const char *line);

/* res_deploy_advised - what the advice on a workload (table.h) says to try: [{"name", "line"}, ...], the first one first; empty
 * where it says to try nothing. A new reference. */
json_t *res_deploy_advised(const json_t *result, const json_t *workload);

#endif
