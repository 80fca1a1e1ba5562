/* confirm_step.h - a program itself, run in pairs, as a step of `ab` and as all of `confirm`: runs, progress, what is told. */
#ifndef MALLAB_CLI_VERBS_CONFIRM_STEP_H
#define MALLAB_CLI_VERBS_CONFIRM_STEP_H

#include "cli/base/cli.h"
#include "cli/options/choice.h"
#include "results/measure/confirm/confirming.h"

struct cli_confirm_step {
    struct res_confirm_options runs; /* without runner, stop and progress */
    uint64_t timeout_ns;             /* of one run; 0: none */
    const char *group;               /* as of struct res_confirm_command */
    bool quiet;
    bool shown; /* the answer is no JSON: who failed is told there */
};

/* cli_confirm_command - run a command; cli_confirm_service - a service.
 * command    argv, NULL at the end.
 * exit_code  that is expected
 * service    its lines
 * result     gets `confirmation` and `confirmed`.
 * Returns    CLI_DONE; CLI_FAILED where a candidate failed or nothing could be run, told. A stop by Ctrl-C is no failure. */
int cli_confirm_command(const struct cli_verb *verb, const struct cli_confirm_step *step, char **command,
                        int exit_code, struct res_result *result);
int cli_confirm_service(const struct cli_verb *verb, const struct cli_confirm_step *step,
                        const struct res_confirm_service *service, struct res_result *result);

/* ---- what `ab --confirm` runs, and for how long ---- */

#define CLI_CONFIRM_PAIRS 30u /* where nobody said for how long: more take longer than replays did */

/* cli_confirm_most_ns - the longest time of a confirmation: as said (0: not said), else at most as long as the replays took, and were to take (budget_ns; 0:
 * any time), or RES_CONFIRM_BUDGET_NS. */
uint64_t cli_confirm_most_ns(uint64_t said_ns, uint64_t budget_ns, uint64_t replays_ns);

/* cli_confirm_advised - the baseline, and each candidate that is advised.
 * ret_candidates  room for RES_TRIED_MAX + 1. Returns how many. */
size_t cli_confirm_advised(const struct cli_choice *choice, const struct res_result *result,
                           const struct res_candidate **ret_candidates);

#endif
