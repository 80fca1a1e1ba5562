/* ab_options.h - the command line of `mallab ab`. Private to cli/. */
#ifndef MALLAB_CLI_OPTIONS_AB_OPTIONS_H
#define MALLAB_CLI_OPTIONS_AB_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/answer.h"
#include "cli/options/measure_options.h"
#include "cli/verbs/hyperfine_step.h"
#include "convert/convert.h"

struct cli_ab_options {
    struct cli_answer answer;
    struct cli_measure measure;
    struct conv_options convert;
    struct cli_whole whole;
    uint64_t memory_rounds, time_budget_ns;
    double until;         /* a share; 0: not asked */
    unsigned rounds_long; /* results/measure/experiment/until.h; 0: -n said how many */
    bool check, latency, no_syscalls, no_placement;
    char **inputs;
    size_t input_count;
    char **command; /* NULL: none */
};

/* cli_ab_help - the text of --help. */
extern const char cli_ab_help[];

/* cli_ab_take_options - defaults, then what argv says. Strings are argv's.
 * Returns  -1 to go on, else an exit code; the fault has been told. */
int cli_ab_take_options(int argc, char **argv, struct cli_ab_options *ret_options);

#endif
