/* top_options.h - the command line of `mallab top`. Private to cli/. */
#ifndef MALLAB_CLI_OPTIONS_TOP_OPTIONS_H
#define MALLAB_CLI_OPTIONS_TOP_OPTIONS_H

#include <stdint.h>

#include "cli/base/answer.h"

struct cli_top_options {
    struct cli_answer answer;
    uint64_t interval_ns, count, process_id, lines;
    const char *process; /* by name, of which process_id is not known yet; else NULL */
    const char *path;
};

/* cli_top_help - the text of --help. */
extern const char cli_top_help[];

/* cli_top_take_options - defaults, then what argv says. Strings are argv's.
 * Returns  -1 to go on, else an exit code; the fault has been told. */
int cli_top_take_options(int argc, char **argv, struct cli_top_options *ret_options);

#endif
