/* result_history.h - results of many days side by side: how each candidate moved over time.
 *
 *   series     results of one workload (by name), one machine (by name) and one baseline, in the order of their dates
 *   point      one candidate in one result
 *   level      consecutive points of a candidate of which none is distinguishable from the first
 *   moved      a point that is: it begins the next level
 *
 * Figures of different days do not compare, ratios to the baseline of the same result do: a slower machine slows both. So a
 * point is held against the first of its level by the quotient of their ratios. Both experiments have noise of their own: the
 * interval of the quotient is that of both, added as squares of logarithms, and so is the noise (their controls); then
 * res_judge decides as it does within one result. What moves by less than RES_HISTORY_LEAST is never marked: memory repeats
 * within 1 %, but its intervals may have no width at all. A workload that changed (its digest), other writing into new memory or
 * another memory limit begin a level unmarked. Against the first of a level, not the one before, so that what creeps is seen.
 *
 * The document (schema "mallab-history/1") is the one form; text is made from it. Keys: docs/history.md. */
#ifndef MALLAB_RESULTS_REPORT_HISTORY_RESULT_HISTORY_H
#define MALLAB_RESULTS_REPORT_HISTORY_RESULT_HISTORY_H

#include <jansson.h>

#include "results/measure/result/result.h"

#include "results/report/table/table.h"

#define RES_HISTORY_SCHEMA "mallab-history/1"
#define RES_HISTORY_LEAST  0.01 /* part by which a quotient of ratios must differ from 1 */

/* Results being gathered. Zero-initialise. */
struct res_history {
    json_t *points; /* of all results, unsorted */
    size_t results;
};

/* res_history_add - take what is needed of a result, valid by res_json_check. file: its name, for people; copied. */
void res_history_add(struct res_history *history, const char *file, const struct res_result *result);

/* res_history_finish - the document; a new reference. The history is empty afterwards.
 * left_out  array of {file, why} of what could not be read; takes over the reference; NULL: nothing. */
json_t *res_history_finish(struct res_history *history, json_t *left_out);

/* res_history_name - the name under which a result is kept in a directory: WORKLOAD.MACHINE.DATE.json, where DATE is of UTC
 * (20261121T151558Z), so that names sort by workload, machine and date. What is no letter, digit, '_' or '+' becomes
 * '-', several of them one; several workloads are WORKLOAD+N, N being how many more. number: 1, or more where that name is taken (DATE-2). The
 * caller's to free. (history_name.c) */
char *res_history_name(const struct res_result *result, unsigned number);

/* res_history_machine - what the machine of a result is called: its name, where the user gave one ($MALLAB_MACHINE), else its
 * processor and how many there are: machines that are alike are one then. The caller's to free. (history_name.c) */
char *res_history_machine(const json_t *result);

/* res_history_text / _markdown / _csv - of a document. Text fits RES_TABLE_COLUMNS where names allow. The caller's to free.
 * (history_text.c) */
char *res_history_text(const json_t *history, const struct res_style *style);
char *res_history_markdown(const json_t *history);
char *res_history_csv(const json_t *history);

#endif
