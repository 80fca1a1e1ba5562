/* confirm_step.h - a program itself, run in pairs, as a step of `ab` and as all of `confirm`: runs, progress, what is told. */
#ifndef MALLAB_CLI_VERBS_CONFIRM_STEP_H
#define MALLAB_CLI_VERBS_CONFIRM_STEP_H

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "results/measure/confirm/confirming.h"

struct cli_confirm_step {
    const struct res_candidate *const *candidates; /* the baseline first */
    size_t candidate_count;
    uint64_t pairs, budget_ns, timeout_ns, seed; /* as of res_confirm_run */
    uint64_t run_ns;                             /* what one run takes; 0: not known */
    bool quiet;
    bool shown; /* the answer is no JSON: who failed is told there */
    enum cli_progress_when progress;
};

/* A service, in lines for sh(1); NULL: not given. */
struct cli_confirm_service {
    const char *start, *load, *stop, *ready;
};

/* cli_confirm_command - run a command; cli_confirm_service - a service.
 * command    argv, NULL at the end.
 * exit_code  that is expected
 * result     gets `confirmation` and `confirmed`.
 * Returns    CLI_DONE; CLI_FAILED where a candidate failed or nothing could be run, told. A stop by Ctrl-C is no failure. */
int cli_confirm_command(const struct cli_verb *verb, const struct cli_confirm_step *step, char **command,
                        int exit_code, struct res_result *result);
int cli_confirm_service(const struct cli_verb *verb, const struct cli_confirm_step *step,
                        const struct cli_confirm_service *service, struct res_result *result);

/* cli_confirm_once - what one run of a command under the baseline takes; 0: it failed, or was stopped. */
uint64_t cli_confirm_once(const struct cli_verb *verb, const struct cli_confirm_step *step, char **command,
                          int exit_code);

/* cli_confirm_service_words - its options as they are typed. The caller's to free; NULL: it has none. */
char *cli_confirm_service_words(const struct cli_confirm_service *service);

#endif
