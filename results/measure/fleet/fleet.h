/* fleet.h - many workloads, one answer: they are taken one by one, in any order, and joined.
 *
 *   time of the process  1 + share * (ratio - 1): the share of its CPU time that is in malloc, and the ratio of that part
 *   peak of the process  its resident peak and what the candidate's heap holds more, over that peak
 *   blocks               results of one host (label and file's digest): the mean of their logarithms. What blocks differ by beyond their own
 *                        errors is pooled over all hosts, since a result does not know how its node differs from others
 *   not trusted          figures that verdict.h calls no ground, or of which there is no interval: in no common figure, and named
 *   order                sums run by label, digest and block: the same results give the same bytes in whatever order they come
 *
 * Formulas stand in results/measure/statistics/many.h. */
#ifndef MALLAB_RESULTS_MEASURE_FLEET_FLEET_H
#define MALLAB_RESULTS_MEASURE_FLEET_FLEET_H

#include "results/measure/fleet/fleet_blocks.h"
#include "results/measure/result/result.h"

#define RES_FLEET_LOSES                                                                                      \
    0.01 /* of the process: as little as is worth an allocator (verdict.h) loses as much */
#define RES_FLEET_LOSES_MALLOC 0.05 /* of the time in malloc, where that is all that is known */

#define RES_FLEET_CANDIDATES_MOST                                                                            \
    256u /* of a result: a file with more is none of ours, and would take minutes */

/* res_fleet_finish - what they say together. The input stays, and can take more.
 * ret_fleet  without schema, version, missing, mixed and left_out, which are the caller's to add. Release with res_fleet_release. */
void res_fleet_finish(const struct res_fleet_input *input, struct res_fleet *ret_fleet);

/* res_fleet_of_result - the same of the workloads of one result: fills result->fleet, dropping one that is there. None of a
 * result with fewer than two workloads, or nothing to compare. The result has its verdicts. */
void res_fleet_of_result(struct res_result *result);

#endif
