/* tune_options.h - the command line of `mallab tune`. Private to cli/. */
#ifndef MALLAB_CLI_OPTIONS_TUNE_OPTIONS_H
#define MALLAB_CLI_OPTIONS_TUNE_OPTIONS_H

#include <stdint.h>

#include "cli/base/answer.h"
#include "cli/options/measure_options.h"
#include "convert/convert.h"
#include "results/report/table/tune_report.h"

struct cli_tune_options {
    struct cli_answer answer;
    struct cli_measure measure;
    struct conv_options convert;
    enum res_tune_memory memory;
    uint64_t budget_ns;
    const char *input; /* NULL: there is a command */
    char **command;    /* NULL: none */
};

/* cli_tune_help - the text of --help. */
extern const char cli_tune_help[];

/* cli_tune_take_options - defaults, then what argv says. Strings are argv's.
 * Returns  -1 to go on, else an exit code; the fault has been told. */
int cli_tune_take_options(int argc, char **argv, struct cli_tune_options *ret_options);

#endif
