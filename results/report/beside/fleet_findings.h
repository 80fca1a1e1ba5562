/* fleet_findings.h - a fleet's common figures (fleet_result.h) held against budgets of a fleet (budget.h), or against an earlier fleet.
 *
 *   time    the common change of time; peak: the sum of the peaks. Within and over as of one workload: by their intervals, from the spread
 *           between workloads
 *   losers  over: more are proven than the limit allows; within: neither are so many proven, nor does the estimate of all losers, proven or
 *           not, come to more
 *   failed  a candidate that failed on a workload is over, as in one result
 *   absent  while results are missing or left out nothing is within: they may be what fails
 *   pair    of two fleets: a host of both, the same label and the same digest of its file. Others are told, and in no figure
 *   change  per candidate the share-weighted mean over the pairs of ln(ratio now / ratio then), with an interval from the spread of these
 *           differences: what hosts have of their own is in both and goes out. Ratios are to the baseline of the same result, so that a slower
 *           machine changes nothing. Shares are those of now */
#ifndef MALLAB_RESULTS_REPORT_BESIDE_FLEET_FINDINGS_H
#define MALLAB_RESULTS_REPORT_BESIDE_FLEET_FINDINGS_H

#include "results/report/beside/beside.h"

/* res_fleet_check - add a finding for each candidate and rule of a fleet; reason is NULL where the interval is to give the outcome. */
void res_fleet_check(struct res_beside *check, const struct res_fleet *fleet,
                     const struct res_budget *budget);

/* res_fleet_compare - add findings of what both have. Returns NULL, or why there is nothing to compare, the caller's to free. */
char *res_fleet_compare(struct res_beside *beside, const struct res_fleet *earlier,
                        const struct res_fleet *fleet);

/* res_fleet_remedy - what would narrow an interval that crosses its limit: "some 90 workloads would decide, there are 20". The caller's
 * to free; NULL: nothing within reason. */
char *res_fleet_remedy(const struct res_fleet *fleet, const struct res_finding *finding);

#endif
