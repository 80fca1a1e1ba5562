/* workloads.h - what the verbs do with inputs on the way to a workload. */
#ifndef MALLAB_CLI_VERBS_WORKLOADS_H
#define MALLAB_CLI_VERBS_WORKLOADS_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "convert/convert.h"
#include "results/measure/experiment/experiment.h"

/* cli_say_other_kind - tell that a file is no workload but something known, and how it becomes one, or what reads it. */
void cli_say_other_kind(const struct cli_verb *verb, const char *path, enum conv_kind kind);

/* How inputs are converted on the way. */
struct cli_prepare {
    const char *directory;              /* where the workloads go */
    const struct conv_options *convert; /* what is selected; `overwrite` is set from force */
    bool force;                         /* existing ones may be replaced */
    bool quiet;                         /* no summary */
    enum cli_progress_when progress;
};

/* cli_workload_prepare - a workload as it is, anything else converted first.
 * number    of the input on this command line, from 0: keeps names apart.
 * ret_path  set on CLI_DONE, the caller's to free.
 * Returns   CLI_DONE; else an exit code, the cause being told on stderr. */
int cli_workload_prepare(const struct cli_verb *verb, const struct cli_prepare *prepare, const char *input,
                         size_t number, char **ret_path);

#endif
