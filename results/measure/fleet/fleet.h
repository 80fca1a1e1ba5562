/* fleet.h - many workloads, one answer: they are taken one by one, in any order, and joined.
 *
 *   time of the process  1 + share * (ratio - 1): the share of its CPU time that is in malloc, and the ratio of that part
 *   peak of the process  its resident peak and what the candidate's heap holds more, over that peak
 *   again                of several results of one host (label and res_workload_key) the newest counts
 *   not trusted          figures that verdict.c calls no ground, or of which there is no interval: in no common figure, and named
 *   order                sums run by label and digest: the same results give the same bytes in whatever order they come
 *
 * Formulas stand in results/measure/statistics/statistics.c. */
#ifndef MALLAB_RESULTS_MEASURE_FLEET_FLEET_H
#define MALLAB_RESULTS_MEASURE_FLEET_FLEET_H

#include "results/measure/result/result.h"

/* A host loses by as much as is worth an allocator (RES_SAVING_WORTH), or by this where the time in malloc is all that is known. */
#define RES_FLEET_LOSES_MALLOC 0.05

#define RES_FLEET_CANDIDATES_MOST 256u /* of a result: with more it is none of ours, and would take minutes */

/* ---- fleet.c: workloads of results are taken, and what a fleet needs of them is kept until it is finished. */

struct res_fleet_input;

enum res_fleet_taken {
    RES_FLEET_TAKEN = 0,
    RES_FLEET_DOUBLED, /* that one of that host is there already; the first one stays */
    RES_FLEET_REFUSED, /* another baseline, or no digest: ret_problem says so */
};

/* res_machine_kind - "model, 8 cpus, x86_64". The caller's to free. */
char *res_machine_kind(const struct res_machine *machine);

/* res_fleet_begin - a fleet without any, whose candidates are those of a workload: one at least, of more than RES_FLEET_CANDIDATES_MOST the first.
 * res_fleet_input_free - drop it; NULL is none. */
struct res_fleet_input *res_fleet_begin(const struct res_result_workload *first);
void res_fleet_input_free(struct res_fleet_input *input);

/* res_fleet_take - one workload of a result, which may be released then. A candidate that the result has not counts as failed there, one that the
 * fleet has not is left out. Without the label of its host its digest alone is the key. The result has its verdicts (res_verdicts_fill).
 * share        of its host; NAN: none is given. Where none has one, all are alike
 * created      of one host the highest counts
 * ret_problem  one line, the caller's to free, where it is refused; untouched otherwise. */
enum res_fleet_taken res_fleet_take(struct res_fleet_input *input, const struct res_result *result,
                                    const struct res_result_workload *workload, double share,
                                    uint64_t created, char **ret_problem);

/* res_fleet_finish - what they say together. The input takes no more then, and is still to be freed.
 * ret_fleet  without schema, version, missing, mixed and left_out, which are the caller's to add. Release with res_fleet_release. */
void res_fleet_finish(struct res_fleet_input *input, struct res_fleet *ret_fleet);

/* res_fleet_of_result - the same of the workloads of one result: fills result->fleet, dropping one that is there. None of a
 * result with fewer than two workloads, or nothing to compare. The result has its verdicts. */
void res_fleet_of_result(struct res_result *result);

/* ---- fleet_candidates.c: from the hosts of a fleet to what they say of each candidate.
 *   common figures  of hosts whose figures are trusted, of what the fleet's are of, and with a share
 *   a verdict       needs an interval, of which the least difference counts (statistics.h), and survives the number of comparisons: Holm over
 *                   candidates, and over hosts and candidates
 *   totals          a host counts in them as often as its share says: all together as many as there are
 *   loser           named where p, one-sided at the limit, is at most RES_FLEET_NAMED_FALSE after the same: of forty fleets one names somebody
 *                   by chance */

#define RES_FLEET_NAMED_FALSE 0.025 /* of those that are named */

/* res_fleet_candidates_fill - all of candidates[] but the names, and the verdicts of hosts, of hosts that are whole otherwise.
 * fleet  names of candidates, hosts with entries, shares, of_time, of_memory and loser_limit are set. */
void res_fleet_candidates_fill(struct res_fleet *fleet);

/* ---- fleet_files.c: a fleet is a directory of results: each file is read, reduced to what the fleet keeps (fleet.c), and released.
 *   files     *.json and *.json.zst of a directory, or single ones; regular files, in the order of their names. Nothing that a result
 *             names is opened
 *   threads   several read; what they read is taken in that order, so that the same files give the same bytes
 *   fleet     its baseline and candidates are those of the first result that is one
 *   left out  what cannot be read, is no result, is there already, or has another baseline: named with its cause
 *   mixed     versions, builds, machines and settings that differ from one result to another */

#define RES_FLEET_KINDS_MOST 64u /* values of one thing that are told apart */

/* A request to all results together. Strings borrowed. */
struct res_fleet_request {
    const char
        *expect; /* labels or names of workloads, by commas, or a file with one a line and perhaps its share;
                           NULL: none */
};

/* res_result_files - add the files of results in a directory, by name, or the path itself where it is none.
 * res_result_load_file - the result that a regular file holds, and its figures, as res_result_load_fd does of rows alone. ret_is_other is set where
 *   there is such a file. Both return false with ret_problem set, the caller's to free. */
bool res_result_files(const char *path, struct res_texts *files, char **ret_problem);
bool res_result_load_file(const char *path, struct res_result *ret_result, bool *ret_is_other,
                          char **ret_problem);

/* res_fleet_collect - all of these files and directories together.
 * ret_fleet    with schema, version, missing, mixed and left_out, without notes.
 * ret_problem  one line, the caller's to free, where false is returned: a directory or the expected ones cannot be read, or there is no result. */
bool res_fleet_collect(char *const *paths, size_t count, const struct res_fleet_request *request,
                       struct res_fleet *ret_fleet, char **ret_problem);

#endif
