/* measure_options.h - options of `ab`, `tune`, `validate` and `replay` that say how a run is made: of which candidates,
 * how often, how long, on what. */
#ifndef MALLAB_CLI_OPTIONS_MEASURE_OPTIONS_H
#define MALLAB_CLI_OPTIONS_MEASURE_OPTIONS_H

#include <getopt.h>
#include <stdint.h>

#include "cli/base/cli.h"

/* Numbers of their options, apart from each verb's own (which begin at 256), select_options.h's and answer.h's. */
enum {
    CLI_MEASURE_PIN = 900,
    CLI_MEASURE_NICE,
    CLI_MEASURE_SEED,
    CLI_MEASURE_TOUCH,
    CLI_MEASURE_IDLE,
    CLI_MEASURE_TIMEOUT,
    CLI_MEASURE_LIMIT,
    CLI_MEASURE_LIMIT_BY,
    CLI_MEASURE_LIMIT_IN,
    CLI_MEASURE_ONE_THREAD,
    CLI_MEASURE_END,
};

/* Rows for a verb's table of options, and lines for its help. */
/* clang-format off */
#define CLI_MEASURE_OPTIONS                             \
    {"pin", required_argument, NULL, CLI_MEASURE_PIN},  \
    {"nice", required_argument, NULL, CLI_MEASURE_NICE}
#define CLI_MEASURE_CANDIDATES_ROWS                      \
    {"allocators", required_argument, NULL, 'a'},       \
    {"baseline", required_argument, NULL, 'b'}
#define CLI_MEASURE_ROUNDS_ROW  {"rounds", required_argument, NULL, 'n'}
#define CLI_MEASURE_SEED_ROW    {"seed", required_argument, NULL, CLI_MEASURE_SEED}
#define CLI_MEASURE_TOUCH_ROW   {"touch", required_argument, NULL, CLI_MEASURE_TOUCH}
#define CLI_MEASURE_IDLE_ROW    {"idle", required_argument, NULL, CLI_MEASURE_IDLE}
#define CLI_MEASURE_TIMEOUT_ROW {"timeout", required_argument, NULL, CLI_MEASURE_TIMEOUT}
#define CLI_MEASURE_LIMIT_ROWS                                       \
    {"limit", required_argument, NULL, CLI_MEASURE_LIMIT},           \
    {"limit-by", required_argument, NULL, CLI_MEASURE_LIMIT_BY},     \
    {"limit-in", required_argument, NULL, CLI_MEASURE_LIMIT_IN}
#define CLI_MEASURE_ONE_THREAD_ROW {"one-thread", no_argument, NULL, CLI_MEASURE_ONE_THREAD}

#define CLI_MEASURE_HELP                                                                \
    "      --pin HOW          no; auto: each thread on a processor of its own; or\n"      \
    "                         processors to keep to: 0,2-3 [no]\n"                        \
    "      --nice N           priority, from -20 (high) to 19 [as it is]\n"
#define CLI_MEASURE_LIMIT_HELP                                                          \
    "      --limit SIZE       let each allocator have no more: 64M, 1.5G [no limit]\n"    \
    "      --limit-by WHAT    cgroup: what is in memory, as a container counts, whose\n"  \
    "                         kernel kills at the limit; data: what is mapped, where\n"   \
    "                         calls fail [cgroup where one can be made, else data]\n"     \
    "      --limit-in DIR     make the cgroups in this directory of /sys/fs/cgroup\n"     \
    "                         [mallab's own, else the one above it]\n"
#define CLI_MEASURE_ONE_THREAD_HELP                                                   \
    "      --one-thread       all threads' calls on one thread, in their order\n"
/* clang-format on */

#define CLI_ONE_THREAD_HINT "; to replay all calls on one thread: --one-thread"

#define CLI_ROUNDS_MAX 1000u /* of each kind */

/* Strings borrowed from the command line. A verb sets its own defaults before. */
struct cli_measure {
    const char *options[7]; /* --pin, --nice and --threads, for the replay program; NULL-terminated */
    unsigned count;
    const char *allocators; /* -a: a list for cli_choose; of `replay` the one. NULL: not given */
    const char *baseline;   /* -b; NULL: not given */
    const char *touch;      /* NULL: the replay's default */
    uint64_t rounds, seed, idle_ns, timeout_ns, limit_bytes;
    const char *limit_by, *limit_in; /* "cgroup" or "data"; a directory; NULL: not said */
    bool has_rounds, has_seed, one_thread;
};

/* cli_measure_has - whether an option that getopt_long found is one of these. */
bool cli_measure_has(int option);

/* cli_measure_take - take one of them. Returns -1, or an exit code when its value is none: a processor that this
 * process may not use is misuse too. */
int cli_measure_take(const struct cli_verb *verb, int option, const char *value, struct cli_measure *measure);

/* cli_measure_seed - that of --seed, else a random one. */
uint64_t cli_measure_seed(const struct cli_measure *measure);

/* cli_measure_idle_ms - of --idle, no less than it. */
uint64_t cli_measure_idle_ms(const struct cli_measure *measure);

#endif
