/* fleet.h - many workloads, one answer: cells are taken one by one, in any order, and joined.
 *
 *   time of the process  1 + share * (ratio - 1): the share of its CPU time that is in malloc, and the ratio of that part
 *   peak of the process  its resident peak and what the candidate's heap holds more, over that peak
 *   blocks               of one host (label and file's digest): the mean of their logarithms. What blocks differ by beyond their own errors is
 *                        pooled over all hosts, since a cell does not know how its node differs from others
 *   not trusted          figures that verdict.h calls no ground, or of which there is no interval: in no common figure, and named
 *   order                sums run by label, digest and block: the same cells give the same bytes in whatever order they come
 *
 * Formulas stand in results/measure/statistics/many.h. */
#ifndef MALLAB_RESULTS_MEASURE_FLEET_FLEET_H
#define MALLAB_RESULTS_MEASURE_FLEET_FLEET_H

#include "results/measure/result/result.h"

#define RES_FLEET_LOSES                                                                                      \
    0.01 /* of the process: as little as is worth an allocator (verdict.h) loses as much */
#define RES_FLEET_LOSES_MALLOC 0.05 /* of the time in malloc, where that is all that is known */

#define RES_FLEET_CANDIDATES_MOST                                                                            \
    256u /* of a result: a file with more is none of ours, and would take minutes */

/* What was asked of a fleet. */
struct res_fleet_asked {
    const char *const *candidates; /* names, the baseline first; borrowed for res_fleet_begin */
    size_t candidate_count;        /* 1 at least */
    int weights;                   /* enum res_fleet_weights */
    bool all_hosts;
};

/* One cell of it; strings borrowed. */
struct res_fleet_cell {
    const char *label;
    double share;   /* of its host; NAN: by `weights`, of all hosts that come */
    uint64_t block; /* cells of one host have different ones */
};

enum res_fleet_taken {
    RES_FLEET_TAKEN = 0,
    RES_FLEET_DOUBLED, /* that block of that host is there already; the first one stays */
    RES_FLEET_REFUSED, /* another baseline, or no digest: ret_problem says so */
};

struct res_fleet_input;

/* res_fleet_begin - a fleet without cells. res_fleet_input_free - drop it; NULL is none. */
struct res_fleet_input *res_fleet_begin(const struct res_fleet_asked *asked);
void res_fleet_input_free(struct res_fleet_input *input);

/* res_fleet_take - one workload of a result, which may be released then. A candidate that the result has not counts as failed there, one that the
 * fleet has not is left out. The result has its verdicts (res_verdicts_fill).
 * ret_problem  one line, the caller's to free, where the cell is refused; untouched otherwise. */
enum res_fleet_taken res_fleet_take(struct res_fleet_input *input, const struct res_fleet_cell *cell,
                                    const struct res_result *result,
                                    const struct res_result_workload *workload, char **ret_problem);

/* res_fleet_finish - what they say together. The input stays, and can take more.
 * ret_fleet  without schema, version, missing and left, which are the caller's to add. Release with res_fleet_release. */
void res_fleet_finish(const struct res_fleet_input *input, struct res_fleet *ret_fleet);

/* res_fleet_of_result - the same of the workloads of one result, by label, or name where it has none: fills result->fleet, dropping one that is there. None of a
 * result with fewer than two workloads, or nothing to compare. The result has its verdicts. */
void res_fleet_of_result(struct res_result *result);

#endif
