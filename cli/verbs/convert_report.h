/* convert_report.h - what `mallab convert` says of what it made. Private to cli/. */
#ifndef MALLAB_CLI_VERBS_CONVERT_REPORT_H
#define MALLAB_CLI_VERBS_CONVERT_REPORT_H

#include <stdbool.h>

#include "cli/base/cli.h"
#include "convert/convert.h"

/* cli_convert_tell - how it went, in a line on stderr, and a line for each thing that casts doubt on the recording.
 * output   its name, "-" for stdout.
 * by_file  the process was chosen by its footprint: that there are others is known.
 * quiet    the doubts only. */
void cli_convert_tell(const struct cli_verb *verb, const struct conv_report *report, const char *output,
                      bool by_file, bool quiet);

/* cli_convert_json - the same as JSON. A new reference. */
json_t *cli_convert_json(const struct conv_report *report, const char *output);

#endif
