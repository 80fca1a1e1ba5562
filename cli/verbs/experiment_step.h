/* experiment_step.h - an experiment from its options to a result: what `ab` and `cell` have in common. */
#ifndef MALLAB_CLI_VERBS_EXPERIMENT_STEP_H
#define MALLAB_CLI_VERBS_EXPERIMENT_STEP_H

#include <stdbool.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "cli/options/choice.h"
#include "results/measure/experiment/experiment.h"
#include "results/measure/result/result.h"

/* cli_experiment_step - run it; tell on stderr which entries failed and, unless quiet, what allocators said.
 * progress        begun and ended here; options->progress shows it.
 * ret_experiment  to be released by the caller in any case, behind the result.
 * ret_result      figures, samples and what disturbed them; on CLI_DONE, to be released.
 * ret_failed      whether any entry did.
 * Returns         CLI_DONE; CLI_FAILED when it was stopped before the first round was finished, told. */
int cli_experiment_step(const struct cli_verb *verb, const struct res_options *options,
                        const struct cli_choice *choice, struct cli_progress *progress,
                        enum cli_progress_when when, bool quiet, struct res_experiment *ret_experiment,
                        struct res_result *ret_result, bool *ret_failed);

#endif
