/* member_runs.h - a run of a group of processes: a replay of each, one after the other, made one run.
 *
 *   member   one process of the group, as a workload of its own
 *
 * What is counted or timed is added up, batches stand one behind the other, and time per call is all time over all calls.
 * Memory is that of the members alive together: each one's samples stand at its recorded time, its peak at its highest
 * sample, and they are summed. The end and the rest are of those members that were there at the end (lives.h), startup
 * memory of those alive at the peak. The digest is of the members' digests. A limit holds for each process by itself.
 * What belongs to one process alone (waste, latency) is not told. */
#ifndef MALLAB_RESULTS_MEASURE_RUN_MEMBER_RUNS_H
#define MALLAB_RESULTS_MEASURE_RUN_MEMBER_RUNS_H

#include "results/measure/run/run.h"

#define RES_GROUP_WHY "a group of processes is replayed: --process PID chooses one of them"

/* res_run_workload - res_run_once, of each of request->members where there are several.
 * A member that fails fails the run, and is named. */
enum res_run_state res_run_workload(const struct res_run_request *request, struct res_run *ret_run,
                                    char **ret_reason);

/* res_runs_merge - one run of the members' runs.
 * members   the same number, in the same order.
 * runs      count > 0; stay the caller's.
 * Returns   false with ret_reason set, the caller's to free, when they are no runs of one kind. */
bool res_runs_merge(const struct res_member *members, const struct res_run *runs, size_t count,
                    struct res_run *ret_run, char **ret_reason);

#endif
