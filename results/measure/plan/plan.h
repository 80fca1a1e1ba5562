/* plan.h - from workloads to the rows of a plan: what each counts for, which are taken, in which cells. */
#ifndef MALLAB_RESULTS_MEASURE_PLAN_PLAN_H
#define MALLAB_RESULTS_MEASURE_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "results/measure/plan/manifest.h"
#include "results/measure/run/trial.h"

/* A workload before it has rows. */
struct res_plan_item {
    char *label, *workload;    /* owned; as in a row */
    struct res_workload facts; /* its strings are borrowed */
    uint64_t bytes;            /* of its files */
    double share;              /* res_plan_weigh sets it; 0: it is not taken */
};

/* res_plan_weigh - set the shares.
 * weights  "hosts": each label counts the same, and its workloads the same among themselves; "cpu": as recorded CPU time;
 *          "bytes": as the recorded resident peak, else as live bytes; "file": as `text` says, LABEL<TAB>NUMBER a line, for each
 *          label, lines that begin with '#' left out.
 * Returns  false with ret_problem, one line, the caller's to free, where a workload has no weight. */
bool res_plan_weigh(struct res_plan_item *items, size_t count, const char *weights, const char *text,
                    char **ret_problem);

/* res_plan_add - rows of all items with a share, blocks in turn: those of the first block first. Sorted by label and digest before. */
void res_plan_add(struct res_plan *plan, struct res_plan_item *items, size_t count, uint64_t blocks,
                  uint64_t rounds);

/* Which workloads get more blocks. */
struct res_plan_wanted {
    const char *label;
    uint64_t file_digest; /* where any_digest is false */
    bool any_digest;
};

/* res_plan_again - more blocks for these, behind the rows that there are, which keep their numbers.
 * Returns  false with ret_problem, one line, the caller's to free, where one of them is not in the plan, or there are too many. */
bool res_plan_again(struct res_plan *plan, const struct res_plan_wanted *wanted, size_t count,
                    uint64_t blocks, char **ret_problem);

/* res_plan_n_eff - as many workloads of equal share say as much. */
double res_plan_n_eff(const struct res_plan *plan);

/* res_plan_workloads - how many workloads the rows are of, and how many labels. */
size_t res_plan_workloads(const struct res_plan *plan, size_t *ret_labels);

#endif
