/* removal_screen.h - what is saved without some call sites (`mallab sites --cost` and `--without`), as a table, for the page and as CSV. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_REMOVAL_SCREEN_H
#define MALLAB_RESULTS_REPORT_TABLE_REMOVAL_SCREEN_H

#include "results/measure/result/result.h"
#include "results/report/grid/lines.h"

/* res_removals_screen, res_removals_csv - of a workload that has removals: added to text. One has its memory, several their time in short.
 * res_removals_json - the latter for the page, also of one: res_grid_json; null: there is none. A new reference. */
void res_removals_screen(struct res_text *text, const struct res_result_workload *workload,
                         const struct res_style *style);
void res_removals_csv(struct res_text *text, const struct res_result_workload *workload);
json_t *res_removals_json(const struct res_result_workload *workload);

#endif
