/* measure.h - options of `replay` and `ab` that say how a run is held still: processors and priority. */
#ifndef MALLAB_CLI_MEASURE_H
#define MALLAB_CLI_MEASURE_H

#include <getopt.h>
#include <stdint.h>

#include "cli/cli.h"

/* Numbers of their options, apart from each verb's own (which begin at 256) and from select.h's. */
enum {
    CLI_MEASURE_PIN = 900,
    CLI_MEASURE_NICE,
    CLI_MEASURE_END,
};

/* Rows for a verb's table of options, and lines for its help. */
/* clang-format off */
#define CLI_MEASURE_OPTIONS                             \
    {"pin", required_argument, NULL, CLI_MEASURE_PIN},  \
    {"nice", required_argument, NULL, CLI_MEASURE_NICE}

#define CLI_MEASURE_HELP                                                                \
    "      --pin HOW          no; auto: each thread on a processor of its own; or\n"      \
    "                         processors to keep to: 0,2-3 [no]\n"                        \
    "      --nice N           priority, from -20 (high) to 19 [as it is]\n"
/* clang-format on */

/* Words for the replay program; NULL-terminated. Strings borrowed from the command line. */
struct cli_measure {
    const char *options[5];
    unsigned count;
};

/* cli_measure_take - take one of them. Returns -1, or an exit code when its value is none: a processor that this
 * process may not use is misuse too. */
int cli_measure_take(const struct cli_verb *verb, int option, const char *value, struct cli_measure *measure);

#endif
