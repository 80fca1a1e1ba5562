/* cli.h - the verbs of `mallab`, and exit codes.
 *
 *   verb     the word behind `mallab`; its function gets argv with the verb as argv[0]
 *   misuse   a command line that cannot be meant: one line and a hint on stderr, exit code 2
 *
 * stdout carries the answer, stderr everything else. The programs are single-threaded. */
#ifndef MALLAB_CLI_BASE_CLI_H
#define MALLAB_CLI_BASE_CLI_H

#include <stdbool.h>

/* DESIGN: exit codes. `record` has more (record/target.h). */
enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,
    CLI_MISUSE = 2,
    CLI_UNREADABLE = 3,
    CLI_CHECK_OVER = 4,         /* of check only */
    CLI_CHECK_INCONCLUSIVE = 5, /* of check only */
};

/* The place of the command to run, for verbs that take one. */
enum cli_command_at {
    CLI_COMMAND_NONE = 0,      /* it takes none */
    CLI_COMMAND_IS_OPERANDS,   /* from the first operand on: options behind it are the command's */
    CLI_COMMAND_BEHIND_DASHES, /* behind "--"; operands before it are the verb's */
};

/* Texts are wrapped where they are printed; '\n' ends a line. */
struct cli_verb {
    const char *name;
    const char *summary;              /* for the list of verbs */
    const char *usage;                /* a line each, without "mallab NAME" */
    const char *purpose;              /* what it does, above the options */
    const struct cli_option *options; /* its rows (options/option_table.h); NULL: only --help */
    const char *notes;                /* a paragraph below the options; NULL: none */
    const char *examples;             /* a line each */
    const char *exit_codes;
    enum cli_command_at command_at;
    const char *completes; /* what completion says for operands (options/complete.h); NULL: nothing */
    int (*run)(int argc, char **argv);
};

#endif
