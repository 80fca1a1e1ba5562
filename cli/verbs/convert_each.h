/* convert_each.h - `mallab convert --each`: every process of a recording into a workload of its own, one after the
 * other. */
#ifndef MALLAB_CLI_VERBS_CONVERT_EACH_H
#define MALLAB_CLI_VERBS_CONVERT_EACH_H

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "convert/convert.h"

struct cli_each {
    const char *input;     /* a recording's directory */
    const char *directory; /* where the workloads go; made when it is not there */
    const char *list;      /* ids and names of processes between commas; "" for all */
    const char *ending;    /* of the outputs' names */
    const struct conv_options *options;
    bool quiet, json;
    enum cli_progress_when progress;
};

/* cli_convert_each - convert them; what goes wrong with one is told and leaves the others alone.
 * Returns an exit code: CLI_DONE, or the worst of them. */
int cli_convert_each(const struct cli_verb *verb, const struct cli_each *each);

#endif
