/* fleet_check.h - a fleet's common figures (fleet_result.h) held against budgets of a fleet (budget.h).
 *
 *   time    the common change of time; peak: the sum of the peaks. Within and over as of one workload: by their intervals, from the spread
 *           between workloads
 *   losers  over: more are proven than the limit allows; within: neither are so many proven, nor does the estimate of all losers, proven or
 *           not, come to more
 *   failed  a candidate that failed on a workload is over, as in one result
 *   absent  while results are missing or left out nothing is within: they may be what fails */
#ifndef MALLAB_RESULTS_REPORT_GATE_FLEET_CHECK_H
#define MALLAB_RESULTS_REPORT_GATE_FLEET_CHECK_H

#include "results/measure/result/fleet_result.h"
#include "results/report/gate/budget_check.h"

#define RES_FLEET_NAME "fleet" /* what stands for the workload */

/* res_fleet_finding - one rule and one candidate, by its place in the fleet. Where the interval is to give the outcome, reason stays NULL.
 * The fleet is borrowed until the finding is dropped. */
struct res_finding res_fleet_finding(const struct res_fleet *fleet, size_t candidate,
                                     const struct res_rule *rule);

/* res_fleet_remedy - what would narrow an interval that crosses its limit: "some 90 workloads would decide, there are 20". The caller's
 * to free; NULL: nothing within reason. */
char *res_fleet_remedy(const struct res_fleet *fleet, const struct res_finding *finding);

#endif
