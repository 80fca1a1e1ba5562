/* cost_result.h - what sites cost, for a result: put together by the place that allocates, and by stack for `mallab flame`. */
#ifndef MALLAB_SITES_COST_COST_RESULT_H
#define MALLAB_SITES_COST_COST_RESULT_H

#include "results/measure/result/result.h"
#include "sites/cost/site_cost.h"
#include "sites/stacks/stacks.h"

#define SITE_ROWS_MAX 200u /* of a result */

/* site_cost_result - the result's part, which is the caller's; to be released with the result.
 * workload  whose candidates these are; its program is the profile's title. */
struct res_sites *site_cost_result(const struct site_costs *costs, struct site_stacks *stacks,
                                   const struct res_result_workload *workload);

/* site_cost_add - add that of another process of a group, which is released: sites of the same words become one row. Each process has told its
 * largest ones, so a row lacks at most what was too small for them. */
void site_cost_add(struct res_sites *sum, struct res_sites *other);

#endif
