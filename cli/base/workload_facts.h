/* workload_facts.h - what a workload is, as experiments have it. */
#ifndef MALLAB_CLI_BASE_WORKLOAD_FACTS_H
#define MALLAB_CLI_BASE_WORKLOAD_FACTS_H

#include "cli/base/cli.h"
#include "results/measure/experiment/experiment.h"

/* cli_workload_facts - open a workload and read its summary. One without a call is refused.
 * input         what it was made of, for messages: `path` where it was given as it is.
 * ret_workload  name and path point into `path`.
 * Returns       CLI_DONE; else an exit code, the cause being told on stderr in the name of `verb`. */
int cli_workload_facts(const struct cli_verb *verb, const char *path, const char *input,
                       struct res_workload *ret_workload);

#endif
