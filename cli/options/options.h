/* options.h - options as rows: those of one verb, those of several, candidates, completion. */
#ifndef MALLAB_CLI_OPTIONS_OPTIONS_H
#define MALLAB_CLI_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/cli.h"
#include "results/measure/candidate/candidates.h"
#include "results/measure/experiment/experiment.h"
#include "results/measure/run/run.h"

/* ---- the options of a verb as rows, and all that is made of the rows.
 *
 *   row    one option: its names, its argument, one paragraph of help, how its value is taken and
 *          where it goes
 *   group  an array of rows that several verbs share (shared_options.c)
 *   list   a verb's rows with its groups put in, as getopt, --help, "did you mean", completion and
 *          the man pages use it
 *
 * An array of rows ends with a row of zeros. The row of --help is added to every list. A new option
 * is one row. */

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
    /* One of these four is set. */
    const char *name;             /* of an option, without its dashes */
    const char *heading;          /* a line above the rows that follow */
    const struct cli_option *row; /* a row that is put here, as a group's are */
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

/* cli_options_take - take all options into the verb's settings, which hold the defaults, and see that there are as many operands
 * as the verb takes. --help is answered, whatever else is missing.
 * Returns -1 to go on; else an exit code: of --help, or of misuse, which has been told. */
int cli_options_take(const struct cli_verb *verb, int argc, char **argv, void *settings,
                     struct cli_operands *ret_operands);

/* ---- help (option_help.c) ---- */

/* cli_option_help - what `mallab help VERB` prints, all: with seldom options and notes: 80 columns at most. The caller's to free.
 * cli_option_rows - its rows for docs/man/make_page.py, a line each, with tabs between: heading WORDS; option LETTER NAME ARGUMENT HELP, and
 *   behind it value WORD MEANING for each that help lists. The caller's to free. */
char *cli_option_help(const struct cli_verb *verb, bool all);
char *cli_option_rows(const struct cli_verb *verb);

/* ---- the candidates that a command line names. */

/* Without a list, those of these take part that are installed. */
#define CLI_DEFAULT_LIST "glibc,jemalloc,tcmalloc,mimalloc"

/* cli_registry_load - read all candidates, with `none`; files left out are told on stderr.
 * Returns   CLI_DONE; CLI_FAILED when there is no directory of candidates, told on stderr. */
int cli_registry_load(const struct cli_verb *verb, struct res_registry *registry);

/* cli_candidate_named - a candidate by its name, or a library by its path (a word with '/'), or one of these with
 * settings (BASE+SETTING=VALUE, results/measure/candidate/variables.c); resolved.
 * Returns   NULL when it is unknown or cannot be used: told on stderr, with the names that are known, and
 *           ret_code is CLI_MISUSE for a name, CLI_FAILED for a path. Valid until the registry is released. */
struct res_candidate *cli_candidate_named(const struct cli_verb *verb, struct res_registry *registry,
                                          const char *name, int *ret_code);

/* The candidates that take part in an experiment. */
struct cli_choice {
    struct res_registry registry;            /* owns the candidates */
    const struct res_candidate **candidates; /* the baseline first */
    size_t candidate_count;
    const struct res_candidate *floor; /* NULL when mallab-replay-none is not there: then it is in missing */
    struct res_missing *missing;
    size_t missing_count;
};

/* cli_choose - the candidates of a list.
 * list      names and paths separated by commas; NULL: the default list, of which those take part that are here.
 * baseline  NULL: glibc when it is in the list, else the first. Added to the list when it is not in it.
 * Returns   CLI_DONE with at least one candidate; CLI_FAILED when one that was named is missing, or all are;
 *           CLI_MISUSE for an unknown name; told on stderr. End ret_choice with cli_choice_release in every case. */
int cli_choose(const struct cli_verb *verb, const char *list, const char *baseline,
               struct cli_choice *ret_choice);

/* cli_choice_common - what the recorded programs run on; NULL where that is not known of all, or not the same.
 * cli_choice_runs_on - where nobody named a baseline it is that one; added when it takes no part. Told where that changes the choice. */
const char *cli_choice_common(const struct res_workload *workloads, size_t count);
void cli_choice_runs_on(const struct cli_verb *verb, struct cli_choice *choice, const char *name);
void cli_choice_release(struct cli_choice *choice);

/* ---- the options that several verbs have: on their answer, on how a run is made, on what of an input is converted.
 *
 * Each has one meaning, one message when its value is none, and one line of help, whichever verb has it. A verb puts those that
 * it wants among its rows: {.row = &cli_answer_json, .at = offsetof(struct settings, answer)}. */

/* ---- the answer: where it goes, in which form, and what is told beside it ---- */

/* In the order of the words of --format. */
enum cli_format { CLI_FORMAT_TABLE, CLI_FORMAT_MARKDOWN, CLI_FORMAT_JSON, CLI_FORMAT_HTML, CLI_FORMAT_CSV };

enum cli_colour { CLI_COLOUR_AUTO, CLI_COLOUR_ALWAYS, CLI_COLOUR_NEVER };

/* All zero where nothing is said. Strings are argv's. */
struct cli_answer {
    const char *output; /* -o; NULL: not given */
    const char *keep;   /* --keep DIR; NULL: not given */
    const char *label;  /* of a result; NULL: not given */
    enum cli_format format;
    enum cli_colour colour;
    bool force, quiet, details;
};

static inline bool cli_is_json(const struct cli_answer *answer)
{
    return answer->format == CLI_FORMAT_JSON;
}

/* Rows, each the option that its name says; of a struct cli_answer. */
extern const struct cli_option cli_answer_output, cli_answer_force, cli_answer_json, cli_answer_color,
    cli_answer_details, cli_answer_keep, cli_answer_quiet, cli_answer_max_memory;
extern const struct cli_option
    cli_answer_result[]; /* -o, -f, --max-memory, --json, --title of a verb that makes a result */

/* cli_answer_check - before any work: can the answer be written where -o says? Returns CLI_DONE, or
 * CLI_FAILED, told. */
int cli_answer_check(const struct cli_verb *verb, const struct cli_answer *answer);

/* cli_answer_write - a text to where -o says, or stdout. Returns CLI_DONE, or CLI_FAILED, told. */
int cli_answer_write(const struct cli_verb *verb, const struct cli_answer *answer, const char *text);

/* ---- how a run is made: of which candidates, how often, how long, on what ---- */

#define CLI_ROUNDS_MAX 1000u /* of each kind */

/* Begin with cli_measure_defaults. Strings are borrowed from the command line. */
struct cli_measure {
    const char *allocators;          /* -a: a list for cli_choose; of `replay` the one. NULL: not given */
    const char *baseline;            /* -b; NULL: not given */
    uint64_t rounds;                 /* 0: not given */
    const char *limit_by, *limit_in; /* "cgroup" or "data"; a directory; NULL: not said */
    struct res_options
        run; /* what the others say: a drawn seed where none is given; without workloads and candidates */
};

/* Rows and groups of a struct cli_measure. */
extern const struct cli_option cli_measure_baseline, cli_measure_rounds, cli_measure_seed,
    cli_measure_one_thread[], cli_measure_timeout;
extern const struct cli_option cli_measure_allocators; /* -a LIST */
extern const struct cli_option cli_measure_limit[];    /* --limit, --limit-by, --limit-in */

struct cli_measure cli_measure_defaults(void);

/* The kernel's means by which memory is limited, decided before the first run. */
struct cli_limit {
    struct res_group_place place; /* without a directory: by RLIMIT_DATA, or no limit */
    char *why;                    /* owned: why not by control groups; NULL: they are, or nobody asked */
};

/* cli_limit_settle - find a place for control groups, and try one there, unless they are not wanted. Where they were not asked
 * for by name and there can be none, RLIMIT_DATA serves, and the reason is said once.
 * Returns  CLI_DONE; CLI_MISUSE of options that do not go together; CLI_FAILED where what was asked for cannot be had. The
 *          fault is told. Either way ended with cli_limit_release. */
int cli_limit_settle(const struct cli_verb *verb, const struct cli_measure *measure,
                     struct cli_limit *ret_limit);
void cli_limit_release(struct cli_limit *limit);

/* cli_limit_place - the place of groups, for requests; NULL: the limit is RLIMIT_DATA. */
const struct res_group_place *cli_limit_place(const struct cli_limit *limit);

/* ---- what of an input is converted ---- */

/* Rows and groups of a struct conv_options. */
extern const struct cli_option cli_select_trust_owner;
extern const struct cli_option cli_select_process, cli_select_part[];
extern const struct cli_option cli_select[]; /* all of them; --trust-owner among them */

/* cli_select_format - the values of --from, which convert and info have, with what they mean, by number from 0. */
bool cli_select_format(size_t number, const char **ret_word, const char **ret_meaning);

/* cli_select_any - whether something was selected, processes among it. */
bool cli_select_any(const struct conv_options *options);

/* cli_select_parse_when - "0", "90s", "250ms", "12.5%", "end" to a moment. False: none of these. */
bool cli_select_parse_when(const char *text, struct conv_when *ret_when);

/* ---- the program: the whole `mallab`, or the recorder's, which has fewer verbs and needs fewer libraries; and
 * completion of its command line, for the shells (completion/). */

struct cli_program {
    const struct cli_verb *const *verbs; /* NULL behind the last one */
    const char *purpose, *example;       /* for its help */
    const char *rest;                    /* where the other verbs are; NULL: these are all */
    /* begin - before anything else. Returns -1 to go on, else an exit code. */
    int (*begin)(int argc, char **argv);
    /* offer - complete a value that is no word of its row; NULL: nothing is offered.
     * before  what of the word is no part of the value, "--format=" */
    void (*offer)(enum cli_offer kind, const char *before, const char *typed);
};

extern const struct cli_program CLI_PROGRAM; /* whole_program.c or recorder_program.c, whichever is linked */

/* cli_program_verb - a verb by its name. NULL: it has none of that name. */
const struct cli_verb *cli_program_verb(const struct cli_program *program, const char *name);

/* cli_offer - print a word, if it begins as `typed` does.
 * before       what of the word on the command line is no part of it, "--format="
 * description  NULL: none */
void cli_offer(const char *typed, const char *before, const char *word, const char *description);

/* cli_complete - print what the last of these words may become, on a line each: the whole word, and after a tab what it is;
 * and directives, which begin with a colon:
 *   :files EXT...   files of these endings (all, where there are none) and directories
 *   :directories    directories
 *   :nospace        more may follow the word at once
 *   :command        a command line of its own begins behind the word '--'
 * words    behind `mallab`, one at least.
 * Returns  an exit code; nothing to offer is no failure. */
int cli_complete(const struct cli_program *program, int count, char **words);

#endif
