/* site_removals.h - what a program would save if it did without some of its call sites, measured by replaying it with and without
 * them: `mallab sites --cost`, `--without` and `mallab ab --cost`. */
#ifndef MALLAB_CLI_VERBS_SITE_REMOVALS_H
#define MALLAB_CLI_VERBS_SITE_REMOVALS_H

#include "cli/base/cli.h"
#include "cli/options/choice.h"
#include "cli/verbs/site_reading.h"
#include "results/measure/experiment/experiment.h"
#include "results/measure/result/result.h"
#include "sites/stacks/groups.h"

#define CLI_REMOVALS      5u  /* sites, where nobody says how many */
#define CLI_REMOVALS_MOST 50u /* a replay each, in each round */

struct cli_removals {
    const struct cli_verb *verb;
    const struct cli_sites
        *reading; /* what the workload is made of: a recording or workload of one process */
    const struct cli_choice *choice;
    struct res_options
        options; /* of replays: of workloads, candidates and progress nothing is taken. rounds 0: as many as fit in
                    time_budget_ns, which is a minute where it is 0, and 8 at least; 6 of time alone */
    struct cli_without
        *without; /* words: those sites together; without any, each of the largest groups alone: */
    enum site_by by;
    const char *sort, *filter; /* as of site_groups_sort, site_groups_make; NULL: most calls first, all */
    size_t most;
    bool may_be_fewer; /* where a minute is too short for them and rounds and time_budget_ns are 0, told */
};

/* cli_removals_measure - replay all in turn.
 * path        of the workload; NULL: it is made.
 * ret_result  of the workload as it is, with its removals; on CLI_DONE, to be released.
 * Returns     CLI_DONE; else an exit code, told. ret_failed: whether a candidate failed, told. */
int cli_removals_measure(const struct cli_removals *removals, const char *path, struct res_result *ret_result,
                         bool *ret_failed);

#endif
