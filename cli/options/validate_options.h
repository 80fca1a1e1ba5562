/* validate_options.h - the command line of `mallab validate`. Private to cli/. */
#ifndef MALLAB_CLI_OPTIONS_VALIDATE_OPTIONS_H
#define MALLAB_CLI_OPTIONS_VALIDATE_OPTIONS_H

#include <stdint.h>

#include "cli/base/answer.h"
#include "cli/options/measure_options.h"

struct cli_validate_options {
    struct cli_answer answer;
    struct cli_measure measure;
    const char *process;
    uint64_t step_ns, recordings;
    char **command;
};

/* cli_validate_help - the text of --help. */
extern const char cli_validate_help[];

/* cli_validate_take_options - defaults, then what argv says. Strings are argv's.
 * Returns  -1 to go on, else an exit code; the fault has been told. */
int cli_validate_take_options(int argc, char **argv, struct cli_validate_options *ret_options);

#endif
