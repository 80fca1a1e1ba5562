/* confirm_step.h - a program itself, run in pairs, as a step of `ab` and as all of `confirm`: runs, progress, what is told. */
#ifndef MALLAB_CLI_VERBS_CONFIRM_STEP_H
#define MALLAB_CLI_VERBS_CONFIRM_STEP_H

#include "cli/base/cli.h"
#include "results/measure/confirm/confirm_service.h"
#include "results/measure/confirm/confirming.h"

struct cli_confirm_step {
    struct res_confirm_options runs; /* without runner, stop and progress */
    uint64_t timeout_ns;             /* of one run; 0: none */
    const char *group;               /* as of struct res_confirm_command */
    bool quiet;
    bool shown; /* the answer is no JSON: who failed is told there */
    bool no_progress;
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

/* cli_confirm_once - what one run of a command under the baseline takes; 0: it failed, or was stopped. */
uint64_t cli_confirm_once(const struct cli_verb *verb, const struct cli_confirm_step *step, char **command,
                          int exit_code);

/* cli_confirm_service_words - its options as they are typed. The caller's to free; NULL: it has none. */
char *cli_confirm_service_words(const struct res_confirm_service *service);

#endif
