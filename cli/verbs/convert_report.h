/* convert_report.h - what `mallab convert` says of what it made. Private to cli/. */
#ifndef MALLAB_CLI_VERBS_CONVERT_REPORT_H
#define MALLAB_CLI_VERBS_CONVERT_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "convert/convert.h"

/* cli_convert_file - convert one file, telling what happened on stderr in the name of `verb`; a signal that ends the
 * process leaves no half file.
 * ret_report  the report as JSON, a new reference, left alone where it failed; may be NULL.
 * Returns     an exit code. */
int cli_convert_file(const struct cli_verb *verb, const char *input, const char *output,
                     const struct conv_options *options, bool quiet, bool no_progress, json_t **ret_report);

/* cli_conv_failed - tell why something could not be read or converted. Returns the exit code for it. */
int cli_conv_failed(const struct cli_verb *verb, const struct conv_error *error);

/* cli_choice_tell - of a recording of several processes, on stderr: which are chosen, with their share of all
 * calls, and the programs that could be instead. left_out: of the same name, because they are too many. */
void cli_choice_tell(const struct cli_verb *verb, const struct conv_survey *survey, size_t left_out);

/* cli_output_name - the default output for an input: its name with another ending. The caller's to free. */
char *cli_output_name(const char *input, const char *new_ending);

#endif
