/* fleet_files.h - a fleet is a directory of results: each file is read, reduced to what the fleet keeps (fleet_blocks.h), and released.
 *
 *   files     *.json and *.json.zst of a directory, or single ones; regular files, in the order of their names. Nothing that a result
 *             names is opened
 *   threads   several read; what they read is taken in that order, so that the same files give the same bytes
 *   fleet     its baseline and candidates are those of the first result that is one
 *   left out  what cannot be read, is no result, is there already, or has another baseline: named with its cause
 *   mixed     versions, builds, machines and settings that differ from one result to another */
#ifndef MALLAB_RESULTS_MEASURE_FLEET_FLEET_FILES_H
#define MALLAB_RESULTS_MEASURE_FLEET_FLEET_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "results/measure/result/fleet_result.h"

#define RES_FLEET_KINDS_MOST 64u /* values of one thing that are told apart */

/* What is asked of all results together. Strings borrowed. */
struct res_fleet_request {
    int weights; /* enum res_fleet_weights, but for FILE: that is the expected ones' shares */
    bool all_hosts;
    const char *
        expect; /* labels, or names of workloads: with commas between them, or a file with one a line, its share behind it or not;
                           NULL: none */
};

/* res_is_result_name - whether a file of a directory is called as results are. */
bool res_is_result_name(const char *name);

/* res_file_open - a regular file, without waiting for anybody. Returns its descriptor; -1: ret_problem says why, the caller's to free. */
int res_file_open(const char *path, char **ret_problem);

/* res_fleet_collect - all of these files and directories together.
 * ret_fleet    with schema, version, missing, mixed and left_out, without notes.
 * ret_problem  one line, the caller's to free, where false is returned: a directory or the expected ones cannot be read, or there is no result. */
bool res_fleet_collect(char *const *paths, size_t count, const struct res_fleet_request *request,
                       struct res_fleet *ret_fleet, char **ret_problem);

#endif
