/* hyperfine_step.h - `ab --hyperfine`: whole processes behind the rounds, into the result and into a file of hyperfine's form. */
#ifndef MALLAB_CLI_VERBS_HYPERFINE_STEP_H
#define MALLAB_CLI_VERBS_HYPERFINE_STEP_H

#include <jansson.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "results/measure/experiment/experiment.h"
#include "results/measure/result/result.h"

/* Zero-initialise. */
struct cli_hyperfine {
    bool wanted;
    const char *path; /* of the export; NULL: none */
    char *program;    /* found by cli_hyperfine_check */
};

/* cli_hyperfine_check - before long work: is hyperfine there, and can the file be written? Returns an exit code, the cause being
 * told on stderr. Release with cli_hyperfine_release in every case. */
int cli_hyperfine_check(const struct cli_verb *verb, struct cli_hyperfine *hyperfine, bool force);
void cli_hyperfine_release(struct cli_hyperfine *hyperfine);

/* cli_hyperfine_measure - run the rounds, and put their figures into result. directory: for files that nobody keeps. Returns an exit
 * code, what failed being told on stderr. */
int cli_hyperfine_measure(const struct cli_verb *verb, const struct cli_hyperfine *hyperfine,
                          const struct res_experiment *experiment, const char *directory,
                          enum cli_progress_when when, struct res_result *result);

/* cli_hyperfine_export - write the file, when one is wanted. Returns an exit code, the cause being told on stderr. */
int cli_hyperfine_export(const struct cli_verb *verb, const struct cli_hyperfine *hyperfine, bool force,
                         const struct res_result *result);

#endif
