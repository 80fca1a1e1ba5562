/* convert_report.h - what `mallab convert` says of what it made. Private to cli/. */
#ifndef MALLAB_CLI_VERBS_CONVERT_REPORT_H
#define MALLAB_CLI_VERBS_CONVERT_REPORT_H

#include <stdbool.h>

#include <jansson.h>
#include <stdbool.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "convert/convert.h"

/* cli_convert_tell - how it went, in a line on stderr, and a line for each thing that casts doubt on the recording.
 * output   its name, "-" for stdout.
 * by_file  the process was chosen by its footprint: that there are others is known.
 * quiet    the doubts only. */
void cli_convert_tell(const struct cli_verb *verb, const struct conv_report *report, const char *output,
                      bool by_file, bool quiet);

/* cli_convert_json - the same as JSON. A new reference. */
json_t *cli_convert_json(const struct conv_report *report, const char *output);

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

#endif
