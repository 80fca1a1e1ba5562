/* cell.h - one cell of a plan on this node: whether the node is the plan's, whether it is quiet, and the workload brought near.
 *
 * What it finds wrong it tells in one line; the verb makes an exit code of it (cli/verbs/verb_cell.c). */
#ifndef MALLAB_RESULTS_MEASURE_PLAN_CELL_H
#define MALLAB_RESULTS_MEASURE_PLAN_CELL_H

#include <signal.h>
#include <stdbool.h>

#include "results/measure/candidate/candidates.h"
#include "results/measure/plan/manifest.h"
#include "results/measure/result/result.h"

/* res_machine_kind - what decides how fast a machine is, in words: "Intel Xeon E5, 8 cpus, x86_64". Processors are those that this
 * process may use. The caller's to free. */
char *res_machine_kind(const struct res_machine *machine);

/* res_plan_candidate_of - what a plan keeps of a resolved candidate. Strings are its own, plain. */
struct res_plan_candidate res_plan_candidate_of(const struct res_candidate *candidate);

/* res_cell_other_machine / res_cell_other_candidate - what of this node is not the plan's, in one line, the caller's to free;
 * NULL: nothing.
 * candidate  the one that the plan's word stands for here, resolved. */
char *res_cell_other_machine(const struct res_plan *plan, const struct res_machine *machine);
char *res_cell_other_candidate(const struct res_plan_candidate *planned,
                               const struct res_candidate *candidate);

/* res_cell_disturbed - look for RES_CELL_LOOK_MS at what others do here.
 * percent  of processor time that other programs, or the hypervisor, may take; 100: nothing is looked at.
 * Returns  one line, the caller's to free; NULL: it is quiet enough, or *stop was set meanwhile. */
#define RES_CELL_LOOK_MS 1000u
#define RES_CELL_LOAD_PERCENT                                                                                \
    25u /* by default: in between lie one busy program of four processors, and one of eight */
#define RES_CELL_LOAD_LEAST                                                                                  \
    5u /* what is below is not told from nothing (results/measure/machine/disturbances.h) */
char *res_cell_disturbed(uint64_t percent, const volatile sig_atomic_t *stop);

enum res_cell_near {
    RES_CELL_NEAR_OK = 0,
    RES_CELL_NEAR_BAD, /* the workload is not there, not to be believed, or damaged: so it would be anywhere */
    RES_CELL_NEAR_FAILED, /* it cannot be read, or copied, here and now */
};

/* res_cell_copy - copy what a descriptor holds into a new file, private to us.
 * name  of what is copied, for messages. ret_problem: as below. */
enum res_cell_near res_cell_copy(int from, const char *name, const char *to, char **ret_problem);

/* res_cell_fetch - copy a row's workload, a file or a group's files, into a directory of this node, and read it to its end.
 * plan         descriptor of the plan's directory: every part of the path is opened through the door (footprint/base/trusted.h).
 * near         path of an empty directory.
 * ret_path     of the copy, the caller's to free, on RES_CELL_NEAR_OK.
 * ret_problem  one line, the caller's to free, else. */
enum res_cell_near res_cell_fetch(int plan, const struct res_plan_row *row, const char *near, char **ret_path,
                                  char **ret_problem);

/* res_cell_incomplete - whether a result is what the plan asked for: all rounds, of the baseline, its control and the floor at
 * least. A candidate that failed is told in the result. Returns one line, the caller's to free; NULL: it is. */
char *res_cell_incomplete(const struct res_result *result, const struct res_plan_row *row);

#endif
