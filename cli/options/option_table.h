/* option_table.h - the options of a verb as rows, and all that is made of the rows.
 *
 *   row    one option: its names, its argument, one paragraph of help, how its value is taken and
 *          where it goes
 *   group  an array of rows that several verbs share (shared_options.h)
 *   list   a verb's rows with its groups put in, as getopt, --help, "did you mean", completion and
 *          the man pages use it
 *
 * An array of rows ends with a row of zeros. The row of --help is added to every list. A new option
 * is one row. */
#ifndef MALLAB_CLI_OPTIONS_OPTION_TABLE_H
#define MALLAB_CLI_OPTIONS_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/cli.h"

/* The way that a value is taken, and the type of the variable at the row's offset. */
enum cli_how {
    CLI_FLAG,     /* bool; the option has no argument */
    CLI_SET,      /* int or an enum: it becomes the row's `least`; no argument */
    CLI_TEXT,     /* const char *, of argv; not empty where the row says what it takes */
    CLI_WORD,     /* const char *: one of the row's words or values */
    CLI_CHOICE,   /* int or an enum: the place of the value among the row's words, the first is `least` */
    CLI_COUNT,    /* uint64_t: a number from `least` to `most` */
    CLI_SIZE,     /* uint64_t, bytes: 64M, 1.5G */
    CLI_DURATION, /* uint64_t, nanoseconds: 90s, 5m; where `zero` also 0 */
    CLI_CALL,     /* what the row's function makes of it */
};

/* Completion offers these for an argument. */
enum cli_offer {
    CLI_OFFER_BY_NAME, /* the row's words or values; else directories for DIR, files for FILE, OUT, OLD and BUDGET */
    CLI_OFFER_CANDIDATE,
    CLI_OFFER_CANDIDATES, /* several, with commas between them */
};

struct cli_option {
    /* One of these three is set. */
    const char *name;    /* of an option, without its dashes */
    const char *heading; /* a line above the rows that follow */
    const struct cli_option
        *group;  /* rows that are put here, `at` added to theirs; `argument` and `help`, where they are
                                       set, replace those of its first row */
    char letter; /* short form; '\0': none */
    const char
        *argument;    /* as help names it; "[LIST]": may be left out, value NULL then; NULL: it takes none */
    const char *help; /* one paragraph without line ends, with [the default] */
    enum cli_how how;
    size_t at;            /* offset in the settings of the verb */
    uint64_t least, most; /* bounds of a count, size or duration; most 0: none */
    bool zero;
    bool seldom;       /* told where all options are asked for only; of a group: of its rows */
    const char *words; /* with blanks between them */
    /* Words with their meaning, by number from 0; false: there are fewer. `lists`: help lists them
     * below. */
    bool (*values)(size_t number, const char **ret_word, const char **ret_meaning);
    bool lists;
    const char
        *takes; /* what is said of a wrong value: "--NAME takes ..., not 'VALUE'"; NULL: made of the row */
    /* CLI_CALL. at: where the row's offset points. Returns -1; else an exit code, told:
     * cli_option_refuse words one. */
    int (*take)(const struct cli_verb *verb, const struct cli_option *row, const char *value, void *at);
    enum cli_offer offer;
};

#define CLI_OPTIONS_MAX 64u /* rows of a list, headings among them */

/* cli_option_list - a verb's rows, groups put in, with --help at the end. Strings are the rows'.
 * Returns how many there are. */
size_t cli_option_list(const struct cli_verb *verb, struct cli_option ret_rows[CLI_OPTIONS_MAX]);

/* cli_option_refuse - say what the option takes. Returns CLI_MISUSE. */
int cli_option_refuse(const struct cli_verb *verb, const struct cli_option *row, const char *value);

/* cli_option_number - the place of a value among the words of the row; -1: it is none of them. */
int cli_option_number(const struct cli_option *row, const char *value);

/* cli_option_value - a word of the row by number, from `words` or `values`. False: there are fewer.
 * ret_length  of the word. ret_meaning  may be NULL. */
bool cli_option_value(const struct cli_option *row, size_t number, const char **ret_word, size_t *ret_length,
                      const char **ret_meaning);

/* The words that are left of a command line; of argv. */
struct cli_operands {
    char **words;
    int count;
    char **command; /* NULL-terminated; NULL: none was given */
};

/* cli_options_take - take all options into the verb's settings, which hold the defaults. --help is
 * answered, whatever else is missing.
 * Returns -1 to go on; else an exit code: of --help, or of misuse, which has been told. */
int cli_options_take(const struct cli_verb *verb, int argc, char **argv, void *settings,
                     struct cli_operands *ret_operands);

/* cli_operands_none - see that there is no operand. Returns as cli_options_take.
 * cli_operands_one - see that there is just one. none, several: the message otherwise. */
int cli_operands_none(const struct cli_verb *verb, const struct cli_operands *operands);
int cli_operands_one(const struct cli_verb *verb, const struct cli_operands *operands, const char *none,
                     const char *several);

/* ---- help (option_help.c) ---- */

/* cli_option_help - what `mallab help VERB` prints, all: with seldom options and notes: 80 columns at most. The caller's to free.
 * cli_option_roff - the OPTIONS of its man page: headings as .SS, options as .TP. The caller's to
 * free. */
char *cli_option_help(const struct cli_verb *verb, bool all);
char *cli_option_roff(const struct cli_verb *verb);

#endif
