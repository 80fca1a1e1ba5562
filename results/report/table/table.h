/* table.h - the result of an experiment for people and for programs.
 *
 * For each workload: a line that says what was replayed, the table in two blocks, time and memory, each with one line for each
 * candidate (the baseline first), and the result's notes (notes.h). A difference is
 * printed as percent against the baseline; memory in one unit for the table. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_TABLE_H
#define MALLAB_RESULTS_REPORT_TABLE_TABLE_H

#include "results/measure/result/result.h"
#include "results/report/grid/grid.h"
#include "results/report/grid/lines.h"

/* res_table_text - the whole text, ending in a newline; the caller's to free.
 * result  with its notes (res_notes_fill). Lines take at most RES_TABLE_COLUMNS columns where names allow it: to fit, long
 *         names stand on a line of their own; where that is not enough, expendable columns are left out, and a line says so. */
char *res_table_text(const struct res_result *result, const struct res_style *style);

/* res_table_markdown / res_table_csv - the same figures for documents and for programs. CSV: base units, one line for
 * each candidate, control and floor of each workload. The caller's to free. */
char *res_table_markdown(const struct res_result *result);
char *res_table_csv(const struct res_result *result);

/* res_table_grid - all figures of a workload side by side: a row for each candidate. */
void res_table_grid(struct res_grid *grid, const struct res_result *result,
                    const struct res_result_workload *workload);

#endif
