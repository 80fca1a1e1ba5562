/* collecting.h - what came back of a plan, joined to one fleet.
 *
 *   taken    a cell's result of this plan: its number, label, block, digest and rounds are those of the manifest's row
 *   missing  a cell without such a result, with the cause: nothing there, what its last try said (cell_files.h), torn, another plan's,
 *            fewer rounds
 *   left     files that are no result of a cell: torn ones, second ones, temporaries. They are counted, and stay where they are
 *
 * One cell is in memory at a time; a fleet keeps some hundred bytes for each host and candidate. Cells are read in the order
 * of their numbers whatever order they came in: the same files give the same fleet. Nothing is written, so that it may be asked at any
 * time, by anybody who may read. Files are hostile until checked: result.h, trusted.h. */
#ifndef MALLAB_RESULTS_MEASURE_PLAN_COLLECTING_H
#define MALLAB_RESULTS_MEASURE_PLAN_COLLECTING_H

#include <stdbool.h>
#include <stdint.h>

#include "results/measure/result/fleet_result.h"

struct res_collecting;

/* res_is_plan - whether a path is a directory with a manifest. */
bool res_is_plan(const char *path);

/* res_collecting_begin - read the plan of a directory. NULL with ret_problem, one line, the caller's to free. */
struct res_collecting *res_collecting_begin(const char *directory, char **ret_problem);

/* res_collecting_next - take the next cell. Returns false where there is none.
 * ret_done, ret_all  how many were looked at, of how many. */
bool res_collecting_next(struct res_collecting *collecting, uint64_t *ret_done, uint64_t *ret_all);

/* res_collecting_finish - what the cells so far say together; frees `collecting`. ret_fleet NULL: nothing is asked any more. */
void res_collecting_finish(struct res_collecting *collecting, struct res_fleet *ret_fleet);

#endif
