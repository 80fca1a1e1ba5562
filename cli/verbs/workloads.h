/* workloads.h - what the verbs do with inputs on the way to a workload. */
#ifndef MALLAB_CLI_VERBS_WORKLOADS_H
#define MALLAB_CLI_VERBS_WORKLOADS_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "convert/convert.h"
#include "results/measure/experiment/experiment.h"

/* cli_convert_file - convert one file, telling what happened on stderr in the name of `verb`; a signal that ends the
 * process leaves no half file.
 * ret_report  the report as JSON, a new reference, left alone where it failed; may be NULL.
 * Returns     an exit code. */
int cli_convert_file(const struct cli_verb *verb, const char *input, const char *output,
                     const struct conv_options *options, bool quiet, enum cli_progress_when progress,
                     json_t **ret_report);

/* cli_output_name - the default output for an input: its name with another ending. The caller's to free.
 * cli_workload_name - with ".wl". */
char *cli_output_name(const char *input, const char *new_ending);
char *cli_workload_name(const char *input);

/* cli_survey_json - what an input holds, with the keys that DESIGN promises for `info --json`. A new reference. */
json_t *cli_survey_json(const struct conv_survey *survey);

/* cli_workload_facts - open a workload and read its summary. One without a call is refused.
 * input         what it was made of, for messages: `path` where it was given as it is.
 * ret_workload  name and path point into `path`.
 * Returns       CLI_DONE; else an exit code, the cause being told on stderr in the name of `verb`. */
int cli_workload_facts(const struct cli_verb *verb, const char *path, const char *input,
                       struct res_workload *ret_workload);

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
