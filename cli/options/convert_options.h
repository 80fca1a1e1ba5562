/* convert_options.h - the command line of `mallab convert`. Private to cli/. */
#ifndef MALLAB_CLI_OPTIONS_CONVERT_OPTIONS_H
#define MALLAB_CLI_OPTIONS_CONVERT_OPTIONS_H

#include "cli/base/answer.h"
#include "convert/convert.h"
#include "convert/export/export.h"

struct cli_convert_options {
    struct cli_answer answer; /* output "-" is stdout; NULL: named after the input */
    struct conv_options convert;
    struct conv_export_facts format;
    const char *each; /* --each's list; NULL: one workload */
    unsigned jobs;    /* 0: as there are processors */
    const char *input;
};

/* cli_convert_help - the text of --help. */
extern const char cli_convert_help[];

/* cli_convert_take_options - defaults, then what argv says. Strings are argv's.
 * Returns  -1 to go on, else an exit code; the fault has been told. */
int cli_convert_take_options(int argc, char **argv, struct cli_convert_options *ret_options);

#endif
