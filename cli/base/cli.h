/* cli.h - what the verbs of `mallab` share: exit codes, misuse, help, output, places.
 *
 *   verb     the word behind `mallab`; its function gets argv with the verb as argv[0]
 *   misuse   a command line that cannot be meant: one line and a hint on stderr, exit code 2
 *
 * stdout carries the answer, stderr everything else. The programs are single-threaded. */
#ifndef MALLAB_CLI_BASE_CLI_H
#define MALLAB_CLI_BASE_CLI_H

#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* DESIGN: exit codes. `record` keeps 125-127 for itself, as env(1) does. */
enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,
    CLI_MISUSE = 2,
    CLI_UNREADABLE = 3,
    CLI_CHECK_OVER = 4,         /* of check only */
    CLI_CHECK_INCONCLUSIVE = 5, /* of check only */
    CLI_RECORD_FAILED = 125,
    CLI_RECORD_NOT_EXECUTABLE = 126,
    CLI_RECORD_NOT_FOUND = 127,
};

/* Where the command to run stands that a verb takes. */
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
    const char *completes; /* what completion says for operands (complete/complete.h); NULL: nothing */
    int (*run)(int argc, char **argv);
};

extern const struct cli_verb CLI_AB, CLI_RECORD, CLI_CONVERT, CLI_INFO, CLI_REPLAY, CLI_REPORT,
    CLI_ALLOCATORS, CLI_DOCTOR, CLI_HELP, CLI_TOP, CLI_TUNE, CLI_VALIDATE, CLI_COMPARE, CLI_CHECK;

/* cli_verb_find - by name; NULL when unknown. cli_verbs - all, NULL-terminated. */
const struct cli_verb *cli_verb_find(const char *name);
const struct cli_verb *const *cli_verbs(void);

/* cli_verb_unknown - word that a name is no verb, in the name of `verb` (NULL: mallab), with the nearest one. Returns
 * CLI_MISUSE. (help.c) */
int cli_verb_unknown(const struct cli_verb *verb, const char *name);

/* cli_print_verbs - how the program is used, and the list of verbs. */
void cli_print_verbs(FILE *out);

/* cli_say - "mallab VERB: ..." and a newline on stderr. */
void cli_say(const struct cli_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* cli_misuse - the same, then the hint. Returns CLI_MISUSE. */
int cli_misuse(const struct cli_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* cli_parse_size - "4096", "64K", "1.5G" (times 1024) to bytes. Returns false for anything else, 0 and overflow.
 * cli_parse_duration - "90", "90s", "250ms", "5m", "8h", "2d" to nanoseconds; likewise.
 * cli_parse_count - a decimal number in least .. most. */
bool cli_parse_size(const char *text, uint64_t *ret_bytes);
bool cli_parse_duration(const char *text, uint64_t *ret_ns);
bool cli_parse_count(const char *text, uint64_t least, uint64_t most, uint64_t *ret_count);

/* cli_draw_seed - a random one for who names none. */
#define CLI_SEED_BITS 53 /* of seeds that are named: a whole number in every JSON reader */
uint64_t cli_draw_seed(void);

/* cli_parse_color - "auto", "always", "never" to whether stdout is to be coloured. */
bool cli_parse_color(const char *text, bool *ret_colour);
bool cli_colour_by_default(void);

/* cli_locale_is_utf8 - whether the terminal's character set is UTF-8. main has called setlocale. */
bool cli_locale_is_utf8(void);

/* ---- output (output.c) ---------------------------------------------------------------------- */

/* cli_output_check - before long work: can `path` be written? "-" always can.
 * ret_problem  set to one line when not; the caller's to free. */
bool cli_output_check(const char *path, bool force, char **ret_problem);

/* cli_output_write - write a file whole or not at all (beside it, then renamed), mode 0666 less umask.
 * path   "-" is stdout. force: an existing file may be replaced. */
bool cli_output_write(const char *path, bool force, const char *text, size_t length, char **ret_problem);

/* cli_put - to stdout, for what may be longer than its buffer: why it cannot be written is kept for cli_stdout_end.
 * cli_stdout_end - at the end of the program: see that everything has arrived, or say on stderr why not.
 * Returns  code; CLI_FAILED instead of CLI_DONE when something is missing. A reader that has gone is no failure. */
void cli_put(const char *text, size_t length);
int cli_stdout_end(int code);

/* cli_print_json - to stdout, indented, ending in a newline; takes over the reference. Returns an exit code. */
int cli_print_json(json_t *value);

/* ---- temporary files (temporary.c) ---------------------------------------------------------- */

/* cli_temporary_directory - a new private directory below $TMPDIR, removed with its contents at exit of the process
 * that made it. NULL when it cannot be made, told on stderr. Valid to the end. */
const char *cli_temporary_directory(const struct cli_verb *verb);

/* cli_tree_remove - remove a directory with its contents; what cannot be removed stays. */
void cli_tree_remove(const char *path);

/* cli_temporary_remove - remove it now: before a death by signal, which no atexit handler sees. */
void cli_temporary_remove(void);

#endif
