/* result_json.h - a result's file: JSON of the schema "mallab-experiment/1". Keys: docs/results.md. */
#ifndef MALLAB_RESULTS_MEASURE_RESULT_RESULT_JSON_H
#define MALLAB_RESULTS_MEASURE_RESULT_RESULT_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "footprint/base/status.h"

#define RES_SCHEMA       "mallab-experiment/1"
#define RES_SCHEMA_NAME  "mallab-experiment/"
#define RES_SCHEMA_MAJOR 1 /* readers refuse a higher one; more keys are no new number */

/* res_json_load - read a result file and check what it is.
 * ret_problem  set to one line, the caller's to free, when NULL is returned.
 * Returns      a new reference or NULL. */
json_t *res_json_load(const char *path, char **ret_problem);

/* res_json_parse - what a descriptor holds, bounded as results are. As fp_json_read (footprint/base/json_read.h). */
enum fp_status res_json_parse(int fd, json_t **ret_result, json_error_t *ret_error);

/* res_json_unread - why res_json_parse failed, in one line; of what is no JSON, what it is instead where that can be told.
 * The caller's to free. */
char *res_json_unread(const char *path, enum fp_status status, const json_error_t *error);

/* res_json_check - whether a document in memory is a result, but for what its rows ask for (res_result_read). Returns NULL when
 * it is, else the problem. */
char *res_json_check(const json_t *result);

#endif
