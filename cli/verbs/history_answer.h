/* history_answer.h - results in directories: kept there by -o DIR/, and shown by `mallab report DIR`. */
#ifndef MALLAB_CLI_VERBS_HISTORY_ANSWER_H
#define MALLAB_CLI_VERBS_HISTORY_ANSWER_H

#include "cli/base/cli.h"
#include "footprint/base/support.h"
#include "results/report/table/table.h"

/* cli_keeps_in_directory - whether an -o means a directory: it is one, or its name ends in '/'. */
bool cli_keeps_in_directory(const char *path);

/* cli_keep_check - before long work: as cli_output_check; makes the directory where it is not there. */
bool cli_keep_check(const char *path, bool force, char **ret_problem);

/* cli_keep - write a result: as cli_output_write; in a directory, under a name of its own that is free
 * (res_history_name).
 * ret_name  the file's, the caller's to free; set on success, NULL where it is `path` itself. */
bool cli_keep(const char *path, bool force, const struct res_result *result, const char *document,
              char **ret_name, char **ret_problem);

/* cli_history_asked - whether one of the paths is a directory. */
bool cli_history_asked(char **paths, int count);

/* cli_history_show - results of directories (*.json in them) and files as a history, added to text. format: "table", "md",
 * "csv", "json" or "html". What in a directory is no result is left out, and said.
 * Returns an exit code: CLI_UNREADABLE, with a text, where a result was damaged; without one where there was none at all;
 * CLI_FAILED where this mallab was built without the charts of "html". */
int cli_history_show(const struct cli_verb *verb, char **paths, int count, const char *format,
                     const struct res_style *style, struct res_text *text);

#endif
