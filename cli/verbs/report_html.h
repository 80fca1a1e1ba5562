/* report_html.h - `mallab report --format html`: all results in one page. */
#ifndef MALLAB_CLI_VERBS_REPORT_HTML_H
#define MALLAB_CLI_VERBS_REPORT_HTML_H

#include "cli/base/cli.h"
#include "footprint/base/support.h"

/* cli_report_html - read every result, then write the page into ret_text (zero-initialised, the caller's to free).
 * Returns  CLI_DONE; CLI_FAILED where this mallab was built without the charts; CLI_UNREADABLE. The cause is told on
 *          stderr in the name of `verb`. */
int cli_report_html(const struct cli_verb *verb, char **paths, int count, struct res_text *ret_text);

#endif
