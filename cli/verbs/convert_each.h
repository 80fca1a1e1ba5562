/* convert_each.h - several processes of a recording, each into a workload of its own. */
#ifndef MALLAB_CLI_VERBS_CONVERT_EACH_H
#define MALLAB_CLI_VERBS_CONVERT_EACH_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "convert/convert.h"

struct cli_each {
    const struct cli_verb *verb;
    const char *input;     /* a recording's directory */
    const char *directory; /* where the workloads go; made when it is not there */
    const char *ending;    /* of their names */
    bool all;              /* processes; else the group that `convert` chooses, whose choice is told */
    const struct conv_options *convert; /* for each of them */
    bool quiet;
    bool no_progress;
};

/* cli_convert_each - one process after the other; what goes wrong with one is told and leaves the others alone.
 * ret_report  what was made, as JSON, a new reference; left alone where nothing was tried. May be NULL.
 * Returns     the worst exit code. */
int cli_convert_each(const struct cli_each *each, json_t **ret_report);

/* cli_is_group - whether several processes of a recording are meant. False where that cannot be told, too: converting it
 * tells why. */
bool cli_is_group(const char *input, const struct conv_options *options);

#endif
