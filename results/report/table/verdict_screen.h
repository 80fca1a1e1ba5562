/* verdict_screen.h - what a workload's figures say, on one screen of 80 columns and 24 lines: what was replayed and which part
 * of the program malloc is, a row for each candidate, and the verdict with what to try. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_VERDICT_SCREEN_H
#define MALLAB_RESULTS_REPORT_TABLE_VERDICT_SCREEN_H

#include "results/measure/result/result.h"
#include "results/report/grid/grid.h"
#include "results/report/grid/lines.h"

/* res_verdict_screen - add it to a text. The result has its notes (res_notes_fill). */
void res_verdict_screen(struct res_text *text, const struct res_result *result,
                        const struct res_result_workload *workload, const struct res_style *style);

/* res_verdict_grid - its table, a row for each candidate. */
void res_verdict_grid(struct res_grid *grid, const struct res_result *result,
                      const struct res_result_workload *workload);

/* res_verdict_head - its first lines, as words: "1,580,000 calls, 6 threads, ...", and "malloc takes ...". The caller's to free. */
char *res_verdict_head(const struct res_result_workload *workload);
char *res_verdict_share(const struct res_result *result, const struct res_result_workload *workload);

#endif
