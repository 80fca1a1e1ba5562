/* measure_options.h - options of `ab` and `replay` that say how a run is made: of which candidates,
 * how often, how long, on what. */
#ifndef MALLAB_CLI_OPTIONS_MEASURE_OPTIONS_H
#define MALLAB_CLI_OPTIONS_MEASURE_OPTIONS_H

#include <stdint.h>

#include "cli/base/cli.h"
#include "cli/options/option_table.h"
#include "results/measure/run/control_group.h"

#define CLI_ROUNDS_MAX 1000u /* of each kind */

/* Begin with cli_measure_defaults. Strings are borrowed from the command line. */
struct cli_measure {
    const char *allocators; /* -a: a list for cli_choose; of `replay` the one. NULL: not given */
    const char *baseline;   /* -b; NULL: not given */
    uint64_t rounds;        /* 0: not given */
    uint64_t seed;          /* a drawn one where none is given */
    uint64_t timeout_ns, limit_bytes;
    const char *limit_by, *limit_in; /* "cgroup" or "data"; a directory; NULL: not said */
    bool one_thread;
};

/* Groups of a struct cli_measure. */
extern const struct cli_option cli_measure_baseline[], cli_measure_rounds[], cli_measure_seed[],
    cli_measure_one_thread[], cli_measure_timeout[];
extern const struct cli_option cli_measure_allocators[]; /* -a LIST */
extern const struct cli_option cli_measure_limit[];      /* --limit, --limit-by, --limit-in */

struct cli_measure cli_measure_defaults(void);

/* By which of the kernel's means memory is limited, decided before the first run. */
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
