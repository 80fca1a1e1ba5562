/* limit_options.h - `--limit`, `--limit-by` and `--limit-in`: by which of the kernel's means, decided before the first run. */
#ifndef MALLAB_CLI_OPTIONS_LIMIT_OPTIONS_H
#define MALLAB_CLI_OPTIONS_LIMIT_OPTIONS_H

#include "cli/base/cli.h"
#include "cli/options/measure_options.h"
#include "results/measure/run/control_group.h"

struct cli_limit {
    struct res_group_place place; /* without a directory: by RLIMIT_DATA, or no limit */
    char *why;                    /* owned: why not by control groups; NULL: they are, or nobody asked */
};

/* cli_limit_settle - find a place for control groups, and try one there, unless they are not wanted. Where they were not asked
 * for by name and there can be none, RLIMIT_DATA serves, and the reason is said once.
 * Returns  CLI_DONE; CLI_MISUSE of options that do not go together; CLI_FAILED where what was asked for cannot be had. The
 *          fault is told. Either way ended with cli_limit_release. */
int cli_limit_settle(const struct cli_verb *verb, const struct cli_measure *measure,
                     struct cli_limit *ret_limit);
void cli_limit_release(struct cli_limit *limit);

/* cli_limit_place - for requests; NULL: by RLIMIT_DATA. */
const struct res_group_place *cli_limit_place(const struct cli_limit *limit);

#endif
