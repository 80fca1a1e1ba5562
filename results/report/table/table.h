/* table.h - results for people and for programs: screens of 80 columns, tables, Markdown, CSV.
 *
 *   screen   of a workload: what was replayed and which part of the program malloc is, a row for each candidate, the verdict with what to
 *            try; of a confirmation: what ran, and a row for each candidate; of a fleet: for each candidate the time over all with its
 *            range and how many hosts are faster and slower, and what all hosts hold
 *   table    of a workload: all its columns in two blocks, time and memory. A difference is printed as percent against the baseline;
 *            memory in one unit for the table
 *   hosts    of a fleet, in the order of their time under its leader, which is the candidate with the least common time: the worst first,
 *            one on which it failed before all. Of many the worst and the best, unless details are asked for
 *
 * Results have their notes (notes.h). A text that is returned ends in a newline and is the caller's to free. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_TABLE_H
#define MALLAB_RESULTS_REPORT_TABLE_TABLE_H

#include "results/measure/machine/disturbances.h"
#include "results/report/grid/grid.h"

/* ---- a result -------------------------------------------------------------------------------- */

/* res_table_text - the screens, of each workload, the confirmation and the fleet, and with details the tables. Lines take at most
 * RES_TABLE_COLUMNS columns where names allow it: to fit, long names stand on a line of their own; where that is not enough, expendable
 * columns are left out, and a line says so. As Markdown, where the style says so: their figures in one table. */
char *res_table_text(const struct res_result *result, const struct res_style *style);

/* res_table_csv - the same figures for programs: base units, one line for each candidate, control and floor of each workload. */
char *res_table_csv(const struct res_result *result);

/* res_table_grid - all figures of a workload side by side: a row for each candidate. */
void res_table_grid(struct res_grid *grid, const struct res_result *result,
                    const struct res_result_workload *workload);

/* ---- its screens ----------------------------------------------------------------------------- */

void res_verdict_screen(struct res_document *document, const struct res_result *result,
                        const struct res_result_workload *workload);
void res_confirm_screen(struct res_document *document, const struct res_result *result);
void res_fleet_screen(struct res_document *document, const struct res_fleet *fleet);

/* res_verdict_grid - its table, for other forms of the same: it begins the grid. */
void res_verdict_grid(struct res_grid *grid, const struct res_result *result,
                      const struct res_result_workload *workload);

/* Their first lines, the caller's to free: "1,580,000 calls, 6 threads, ..." and "malloc takes ..."; what ran; "fleet of 12 workloads (n_eff
 * 11.2, shares by cpu), against glibc". */
char *res_verdict_head(const struct res_result_workload *workload);
char *res_verdict_share(const struct res_result *result, const struct res_result_workload *workload);
char *res_confirm_ran(const struct res_confirmation *about);
char *res_fleet_head(const struct res_fleet *fleet);

/* ---- a fleet with its hosts ------------------------------------------------------------------ */

/* res_fleet_show - its screen, and its hosts; of a page all of them. */
void res_fleet_show(struct res_document *document, const struct res_fleet *fleet);

/* ---- checks of a machine --------------------------------------------------------------------- */

/* res_doctor_text - the doctor's lines by area; no line is wider than RES_TABLE_COLUMNS where words allow. all: false leaves out those that are ok. */
char *res_doctor_text(const struct res_doctor *doctor, const struct res_style *style, bool all);

#endif
