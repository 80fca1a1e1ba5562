/* fleet_candidates.h - from the hosts of a fleet to what they say of each candidate.
 *
 *   common figures  of hosts whose figures are trusted, of what the fleet's are of, and with a share
 *   a verdict       needs an interval, of which the least difference counts (statistics.h), and survives the number of comparisons: Holm over
 *                   candidates, and over hosts and candidates
 *   stands for      a host counts in totals as often as its share says, over its size where shares are by size: all together as many as
 *                   there are
 *   loser           named where p, one-sided at the limit, is at most RES_FLEET_NAMED_FALSE after the same: of forty fleets one names somebody
 *                   by chance
 *   doubtful        a host that is no loser by that, and whose interval reaches above the limit or is not known */
#ifndef MALLAB_RESULTS_MEASURE_FLEET_FLEET_CANDIDATES_H
#define MALLAB_RESULTS_MEASURE_FLEET_FLEET_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>

#include "results/measure/result/fleet_result.h"

#define RES_FLEET_NAMED_FALSE 0.025 /* of those that are named */

/* res_fleet_candidates_fill - all of candidates[] but the names, and the verdicts of hosts, of hosts that are whole otherwise.
 * fleet  names of candidates, hosts with entries, shares, weights, of_time, of_memory, loser_limit and all_hosts are set. */
void res_fleet_candidates_fill(struct res_fleet *fleet);

/* res_fleet_used - a host's figure of a candidate, where it is in the common ones; else NULL. */
const struct res_fleet_difference *res_fleet_used(const struct res_fleet *fleet,
                                                  const struct res_fleet_host *host, size_t candidate,
                                                  bool memory);

#endif
