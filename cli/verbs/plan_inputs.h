/* plan_inputs.h - what `mallab plan` is given, as workloads in the plan's directory: copied or converted, each digest once.
 *
 *   input   a workload, recording, footprint, pack or trace, or a directory of them: DIR/FILE, DIR/RECORDING, DIR/LABEL/FILE,
 *           DIR/LABEL/RECORDING, DIR/LABEL/GROUP/FILE.wl
 *   label   LABEL=INPUT, else the one that was recorded, else DIR/LABEL's, else the base name, made unique by the digest
 *
 * The same label with the same digest twice is refused, as it would count twice. */
#ifndef MALLAB_CLI_VERBS_PLAN_INPUTS_H
#define MALLAB_CLI_VERBS_PLAN_INPUTS_H

#include <sys/types.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "cli/verbs/workloads.h"
#include "results/measure/plan/plan.h"

struct cli_plan_inputs {
    const struct cli_verb *verb;
    const char *directory; /* the plan's */
    enum cli_progress_when when;
    struct res_plan_item *items;
    size_t count;
    size_t left_out; /* found in directories, and of no use; told */
    /* Its own. */
    struct cli_prepared *prepared; /* what the items' facts borrow from */
    bool *by_name;                 /* whether an item's label is but the base name of its file */
    struct cli_progress progress;
    char *incoming; /* a directory for what is being made */
};

/* cli_plan_inputs_take - all of them, in their order.
 * inputs  verb, directory and when are set; the directory has its folder of workloads.
 * Returns CLI_DONE; else an exit code, told: CLI_FAILED too when it was stopped by a signal. */
int cli_plan_inputs_take(struct cli_plan_inputs *inputs, char *const *words, size_t count);

/* cli_plan_inputs_drop - remove the workloads of items without a share that no other item has. */
void cli_plan_inputs_drop(struct cli_plan_inputs *inputs);

void cli_plan_inputs_release(struct cli_plan_inputs *inputs);

#endif
