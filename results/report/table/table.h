/* table.h - the result of an experiment for people, made from its JSON (result_json.h).
 *
 * For each workload: a line that says what was replayed, the table in two blocks, time and memory, each with one line
 * for each candidate (the baseline first, `*` behind those that nothing beats: pareto.h), one sentence of advice, what the figures rest on (noise, rounds, seed, floor, machine), what is missing, failed
 * or doubtful and why. A difference is printed as percent against the baseline; memory in one unit for the table. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_TABLE_H
#define MALLAB_RESULTS_REPORT_TABLE_TABLE_H

#include <jansson.h>
#include <stdbool.h>

#include "results/measure/result/result.h"

#include "results/report/grid/style.h"

/* res_table_text - the whole text, ending in a newline; the caller's to free.
 * result  valid by res_json_check. Lines take at most RES_TABLE_COLUMNS columns where names allow it: to fit, long
 *         names stand on a line of their own; where that is not enough, version, end and faults are left out, and a line says so. */
char *res_table_text(const struct res_result *result, const struct res_style *style);

/* res_table_markdown / res_table_csv - the same figures for documents and for programs. CSV: base units, one line for
 * each candidate, control and floor of each workload. The caller's to free. */
char *res_table_markdown(const struct res_result *result);
char *res_table_csv(const struct res_result *result);

/* res_workload_program - what was recorded, where the workload's name does not say it: "python3", or "cc1, 1 of 4
 * processes, 97 % of the events". The caller's to free; NULL: nothing to add. */
char *res_workload_program(const json_t *workload);

/* res_advice - one sentence on a workload of a result: what to take, and how sure that is. Claims no difference
 * whose verdict is `same` or `undecided`. The caller's to free. */
char *res_advice(const json_t *result, const json_t *workload);

/* res_live_words - why memory figures of a workload are not what they seem: not all that was live is known. Then advice
 * says nothing of memory. Static; NULL: all is known, or the result is of a version that does not say. */
const char *res_live_words(const json_t *workload);

/* res_advice_names - the candidates that this sentence says to try: the fastest, the smallest; the result's.
 * Returns  how many: 0 where it says to stay, or gives no advice. */
size_t res_advice_names(const json_t *result, const json_t *workload, const char *ret_names[2]);

#endif
