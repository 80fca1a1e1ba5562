/* result_columns.h - draws the columns of a result's table and of its CSV. Which ones there are stands in the rows of
 * results/measure/result/result_fields.c: those that say where they are shown, in their order. */
#ifndef MALLAB_RESULTS_REPORT_TABLE_RESULT_COLUMNS_H
#define MALLAB_RESULTS_REPORT_TABLE_RESULT_COLUMNS_H

#include "results/measure/result/result.h"
#include "results/report/grid/grid.h"

/* All columns side by side would be wider than a page: time stands above memory there, each with the names. */
enum res_block {
    RES_BLOCK_TIME = 1,
    RES_BLOCK_MEMORY = 2,
    RES_BLOCK_BOTH = 3,
};

/* res_columns_fill - begin a grid and put all candidates of a workload into it.
 * utf8  whether signs beyond ASCII will do. */
void res_columns_fill(struct res_grid *grid, const struct res_result *result,
                      const struct res_result_workload *workload, enum res_block block, bool utf8);

/* res_columns_csv - begin a grid and put a line for each candidate, control and floor of all workloads into it. */
void res_columns_csv(struct res_grid *grid, const struct res_result *result);

/* res_columns_json - the plain figures among the columns, for the HTML page: {key, title, unit, as, divisor, hint}.
 * key: dotted, in a candidate's object; as: "ns", "spread" (with its KEY_deviation), "bytes", "factor" or "number"; a figure is
 * shown over the divisor. A new reference. */
json_t *res_columns_json(const struct res_result *result, const struct res_result_workload *workload);

#endif
