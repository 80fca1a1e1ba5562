/* plan_losers.h - which workloads of a plan get more blocks: those named by label, and those that a verdict over many names. */
#ifndef MALLAB_CLI_VERBS_PLAN_LOSERS_H
#define MALLAB_CLI_VERBS_PLAN_LOSERS_H

#include "cli/base/cli.h"
#include "results/measure/plan/plan.h"

struct cli_plan_losers {
    struct res_plan_wanted *wanted; /* their labels are its own */
    size_t count;
};

/* cli_plan_losers_add - one more. digest: of its file, in hexadecimal; NULL: any of that label. */
void cli_plan_losers_add(struct cli_plan_losers *losers, const char *label, const char *digest);

/* cli_plan_losers_read - those that what cli_result_load reads names as losers of a candidate, or as nearest to that. Returns CLI_DONE; CLI_UNREADABLE, or CLI_FAILED where none is named, told. */
int cli_plan_losers_read(const struct cli_verb *verb, const char *path, struct cli_plan_losers *losers);

void cli_plan_losers_release(struct cli_plan_losers *losers);

#endif
