/* confirm_plan.h - what `ab --confirm` runs of a program itself, and for how long. */
#ifndef MALLAB_CLI_VERBS_CONFIRM_PLAN_H
#define MALLAB_CLI_VERBS_CONFIRM_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "cli/base/cli.h"
#include "cli/options/choice.h"
#include "cli/verbs/confirm_step.h"
#include "results/measure/result/result.h"

/* What was asked for, and what the replays took. */
struct cli_confirm_times {
    uint64_t said_ns;   /* --confirm=T; 0: not said */
    uint64_t budget_ns; /* of the replays; 0: none */
    uint64_t replays_ns;
};

/* cli_confirm_most_ns - for how long: as said, else at most as long as the replays took, and were to take, or RES_CONFIRM_BUDGET_NS. */
uint64_t cli_confirm_most_ns(const struct cli_confirm_times *times);

/* cli_confirm_advised - the baseline, and each candidate that is advised.
 * ret_candidates  room for RES_TRIED_MAX + 1. Returns how many. */
size_t cli_confirm_advised(const struct cli_choice *choice, const struct res_result *result,
                           const struct res_candidate **ret_candidates);

/* cli_confirm_fit - settle how many of the candidates have time for the pairs that a verdict takes, and for how long; who is left out is told.
 * exit_code  of the command that is expected
 * run_ns     what a run takes. A recorded one takes longer than others: where it is too long, another one tells.
 * step       its runs' candidates are there; gets their number, run_ns and budget_ns. One candidate: there is no time for any pair. */
void cli_confirm_fit(const struct cli_verb *verb, const struct cli_confirm_times *times, char **command,
                     int exit_code, uint64_t *run_ns, struct cli_confirm_step *step);

#endif
