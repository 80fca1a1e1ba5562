/* command_line.h - a verb's words taken apart: shared options by their groups (answer.h, select_options.h, measure_options.h), the verb's own
 * by itself, what is left as operands or as the command to run. */
#ifndef MALLAB_CLI_OPTIONS_COMMAND_LINE_H
#define MALLAB_CLI_OPTIONS_COMMAND_LINE_H

#include <getopt.h>

#include "cli/base/answer.h"
#include "cli/base/cli.h"
#include "cli/options/measure_options.h"
#include "convert/convert.h"

/* Where the command to run stands that a verb takes. */
enum cli_command_at {
    CLI_COMMAND_NONE = 0,      /* it takes none */
    CLI_COMMAND_IS_OPERANDS,   /* from the first operand on: options behind it are the command's */
    CLI_COMMAND_BEHIND_DASHES, /* behind "--"; operands before it are the verb's */
};

struct cli_command_line {
    const struct cli_verb *verb;
    const struct option
        *options; /* ends with a row of zeros; rows whose value is a letter have that short form */
    enum cli_command_at command_at;
    /* One of the verb's own, its value in optarg. Returns -1 when it was taken, else an exit code, told. NULL: none. */
    int (*take)(int option, void *settings);
    void *settings;
    struct cli_answer *answer;   /* for the rows of answer.h: filled */
    struct conv_options *select; /* likewise, of select_options.h; NULL: the verb has none */
    struct cli_measure *measure; /* likewise, of measure_options.h */
};

/* What is left; of argv. */
struct cli_operands {
    char **words;
    int count;
    char **command; /* NULL-terminated; NULL: none was given */
};

/* cli_command_line_take - take all options. --help is answered, whatever else is missing.
 * Returns -1 to go on; else an exit code: of --help, or of misuse, which has been told. */
int cli_command_line_take(const struct cli_command_line *line, int argc, char **argv,
                          struct cli_operands *ret_operands);

/* cli_command_line_none - that there is no operand. As above. */
int cli_command_line_none(const struct cli_verb *verb, const struct cli_operands *operands);

/* cli_command_line_one - that there is just one operand. none, several: what is said otherwise. As above. */
int cli_command_line_one(const struct cli_verb *verb, const struct cli_operands *operands, const char *none,
                         const char *several);

#endif
