/* site_costs.h - what call sites hold of memory, as a step of `ab`. */
#ifndef MALLAB_CLI_VERBS_SITE_COSTS_H
#define MALLAB_CLI_VERBS_SITE_COSTS_H

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "cli/verbs/site_reading.h"
#include "convert/base/request.h"
#include "results/measure/experiment/experiment.h"
#include "results/measure/result/result.h"

/* cli_site_costs - measure what the sites of each workload hold, and put it into its result (`sites`). A workload of which it
 * cannot be told says why there.
 * sources   by workload: what it was converted from, which knows where the program's files are; as convert says. */
void cli_site_costs(const struct cli_verb *verb, const struct res_experiment *experiment,
                    char *const *sources, const struct conv_options *convert, enum cli_progress_when progress,
                    struct res_result *result);

#endif
