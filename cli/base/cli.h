/* cli.h - the common part of all verbs of `mallab`. */
#ifndef MALLAB_CLI_BASE_CLI_H
#define MALLAB_CLI_BASE_CLI_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "convert/convert.h"
#include "footprint/base/support.h"

/* ---- the verbs of `mallab`, and exit codes.
 *
 *   verb     the word behind `mallab`; its function gets argv with the verb as argv[0]
 *   misuse   a command line that cannot be meant: one line and a hint on stderr, exit code 2
 *
 * stdout carries the answer, stderr everything else. The programs are single-threaded. */

/* DESIGN: exit codes. `record` has more (record/recorder.h). */
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
    const struct cli_option *options; /* its rows (options/options.h); NULL: only --help */
    const char *notes;                /* a paragraph below the options; NULL: none */
    const char *examples;             /* a line each */
    const char *exit_codes;
    enum cli_command_at command_at;
    const char *operand;   /* it takes just one of these: "recording"; NULL: none */
    bool takes_any;        /* any number of them, which its function looks at */
    const char *completes; /* what completion says for operands (options/options.h); NULL: nothing */
    int (*run)(int argc, char **argv);
};

/* ---- lines on stderr: messages in the name of a verb, and one line that says how far long work is. */

/* cli_say - "mallab VERB: ..." and a newline on stderr; verb NULL: "mallab: ...". */
void cli_say(const struct cli_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* cli_misuse - the same, then the hint. Returns CLI_MISUSE. */
int cli_misuse(const struct cli_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* cli_say_problem - the same of words that are freed then. Returns CLI_FAILED. */
int cli_say_problem(const struct cli_verb *verb, char *problem);

/* ---- progress: only for people, only after a second; rewritten in place, and removed at the end so that nothing of it stays
 * among the messages ---- */

struct cli_progress {
    bool enabled;
    bool shown;
    uint64_t begin_ns, last_ns;
    const char *what; /* of a conversion */
};

/* cli_progress_begin - start the clock. quiet: nothing is shown, as where stderr is no terminal. */
void cli_progress_begin(struct cli_progress *progress, bool quiet);

/* cli_progress_of - the same, and `options` are to show how far a reading of events is, in the words `what`. */
void cli_progress_of(struct cli_progress *progress, const char *what, bool quiet,
                     struct conv_options *options);

/* cli_progress_show - how far it is.
 * what         a few words.
 * unit, count  what is counted for the rate, and how many so far: "events"; NULL, 0: no rate is shown.
 * done, total  share of the whole, in whatever it is measured in; total 0: unknown, then neither share nor remaining
 *              time is shown. The remaining time is at the rate so far.
 * Shown at most ten times a second. */
void cli_progress_show(struct cli_progress *progress, const char *what, const char *unit, uint64_t count,
                       uint64_t done, uint64_t total);

/* cli_progress_end - take the line away. */
void cli_progress_end(struct cli_progress *progress);

/* ---- the answer: whole files or none, text and JSON on stdout, and how stdout is to be written to. */

/* cli_write_remedy - what to do where a file could not be written for this errno: words to put behind it, or "". */
const char *cli_write_remedy(int error);

/* cli_output_check - before long work: can `path` be written? "-" always can.
 * ret_problem  set to one line when not; the caller's to free. */
bool cli_output_check(const char *path, bool force, char **ret_problem);

/* cli_output_write - write a file whole or not at all (beside it, then renamed), mode 0666 less umask.
 * path   "-" is stdout. force: an existing file may be replaced. */
bool cli_output_write(const char *path, bool force, const char *text, size_t length, char **ret_problem);

/* cli_put - to stdout, for what may be longer than its buffer: why it cannot be written is kept for cli_stdout_end.
 * cli_put_own - likewise a string, which is freed.
 * cli_put_through - what was put so far leaves our buffer. Returns false where it cannot.
 * cli_stdout_end - at the end of the program: see that everything has arrived, or say on stderr why not.
 * Returns  code; CLI_FAILED instead of CLI_DONE when something is missing. A reader that has gone is no failure. */
void cli_put(const char *text, size_t length);
void cli_put_own(char *text);
bool cli_put_through(void);
int cli_stdout_end(int code);

/* cli_json_document - a value as a text, indented, ending in a newline; takes over the reference. The caller's to free.
 * cli_print_json - likewise to stdout, numbers a line each. Returns CLI_DONE. */
char *cli_json_document(json_t *value);
int cli_print_json(json_t *value);

/* cli_colour_by_default - whether stdout is to be coloured where nobody says so. */
bool cli_colour_by_default(void);

/* cli_locale_is_utf8 - whether the terminal's character set is UTF-8. main has called setlocale. */
bool cli_locale_is_utf8(void);

/* ---- Ctrl-C in the midst of an experiment: note it, end in order, then die of it; and
 * the temporary directory, which is gone then, too. */

extern volatile sig_atomic_t cli_stopped_by; /* the signal; 0 while none came */

/* cli_stops_take - from now on SIGINT, SIGTERM and SIGHUP are only noted; those that are ignored,
 * as under nohup, stay so. */
void cli_stops_take(void);

/* cli_stops_end - when all is written: where a signal was noted, end by it, so that the shell sees
 * that. Temporary files are removed before. Returns where none was. */
void cli_stops_end(void);

/* cli_temporary_parent - where temporary files go: $TMPDIR, else /tmp. */
const char *cli_temporary_parent(void);

/* cli_temporary_directory - a new private directory in cli_temporary_parent, removed with its contents at exit of the process that
 * made it; after SIGKILL by the next process that makes one. NULL when it cannot be made, told on stderr. Valid to the end. */
const char *cli_temporary_directory(const struct cli_verb *verb);

/* ---- reading a word of the command line: numbers, and the word that was probably meant. */

/* cli_parse_size - "4096", "64K", "1.5G" (times 1024) to bytes. Returns false for anything else, 0 and overflow.
 * cli_parse_duration - "90", "90s", "250ms", "5m", "8h", "2d" to nanoseconds; likewise.
 * cli_parse_percent - "12.5%" to a share, 0 .. 1.
 * cli_parse_count - a decimal number in least .. most. */
bool cli_parse_size(const char *text, uint64_t *ret_bytes);
bool cli_parse_duration(const char *text, uint64_t *ret_ns);
bool cli_parse_percent(const char *text, double *ret_share);
bool cli_parse_count(const char *text, uint64_t least, uint64_t most, uint64_t *ret_count);

/* cli_draw_seed - a random one for who names none. */
#define CLI_SEED_BITS 53 /* of seeds that are named: a whole number in every JSON reader */
uint64_t cli_draw_seed(void);

/* cli_is_near - whether a word that was typed is meant for one that there is: but for two neighbouring letters at most, they are alike. */
bool cli_is_near(const char *typed, const char *offered);

/* ---- values of our output that any input may have put out of JSON's bounds. ---- */

/* cli_json_number - an integer; the highest that JSON's have where it is more. A new reference. */
static inline json_t *cli_json_number(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* cli_json_text - a string without what is no plain text; null for none and for an empty one. A new reference. */
static inline json_t *cli_json_text(const char *value)
{
    char *plain = res_text_plain(value != NULL ? value : "");
    json_t *string = *plain != '\0' ? json_string(plain) : json_null();
    free(plain);
    return string;
}

/* cli_json_known - a number; null for 0, which says that it is not known. A new reference. */
static inline json_t *cli_json_known(uint64_t value)
{
    return value != 0 ? cli_json_number(value) : json_null();
}

static inline json_t *cli_json_truth(bool value)
{
    return json_boolean(value);
}

static inline json_t *cli_json_itself(json_t *value)
{
    return value;
}

/* cli_json_set - a key of an object: a number, text, truth value, or JSON, whose reference it takes over. */
#define cli_json_set(object, key, value)                                                                     \
    ((void)json_object_set_new(object, key,                                                                 \
                               _Generic((value),                                                            \
                                   json_t *: cli_json_itself,                                               \
                                   char *: cli_json_text,                                                   \
                                   const char *: cli_json_text,                                             \
                                   bool: cli_json_truth,                                                    \
                                   double: json_real,                                                       \
                                   unsigned: cli_json_number,                                               \
                                   uint64_t: cli_json_number)(value)))

#endif
