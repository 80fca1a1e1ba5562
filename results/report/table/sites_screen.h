/* sites_screen.h - what call sites hold of memory under each allocator (result.h, struct res_sites), for people. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_SITES_SCREEN_H
#define MALLAB_RESULTS_REPORT_TABLE_SITES_SCREEN_H

#include "results/measure/result/result.h"
#include "results/report/grid/grid.h"

/* res_sites_screen - add the table `by site` of a workload, and what belongs to no site; nothing where nobody asked. */
void res_sites_screen(struct res_text *text, const struct res_result_workload *workload,
                      const struct res_style *style);

/* res_sites_json - the same for the page, with more rows: res_grid_json; null: there is none. A new reference. */
json_t *res_sites_json(const struct res_result_workload *workload);

#endif
