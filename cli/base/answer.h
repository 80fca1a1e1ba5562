/* answer.h - the options that verbs share on their answer: where it goes, in which form, and what is told beside it.
 *
 * Each has one meaning, one message when its value is none, and one line of help, whichever verb has it. A verb names the
 * rows that it has in its table, and "@force FILE" and the like in its help (cli_help_text). */
#ifndef MALLAB_CLI_BASE_ANSWER_H
#define MALLAB_CLI_BASE_ANSWER_H

#include <getopt.h>
#include <stdbool.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"

enum {
    CLI_ANSWER_JSON = 700, /* above the verbs' own, select_options.h's, and below measure_options.h's */
    CLI_ANSWER_FORMAT,
    CLI_ANSWER_COLOR,
    CLI_ANSWER_DETAILS,
    CLI_ANSWER_KEEP,
    CLI_ANSWER_PROGRESS,
    CLI_ANSWER_NO_PROGRESS,
    CLI_ANSWER_MAX_MEMORY,
    CLI_ANSWER_END,
};

/* Rows for a verb's table of options. */
/* clang-format off */
#define CLI_ANSWER_OUTPUT_ROW  {"output", required_argument, NULL, 'o'}
#define CLI_ANSWER_FORCE_ROW   {"force", no_argument, NULL, 'f'}
#define CLI_ANSWER_QUIET_ROW   {"quiet", no_argument, NULL, 'q'}
#define CLI_ANSWER_HELP_ROW    {"help", no_argument, NULL, 'h'}
#define CLI_ANSWER_JSON_ROW    {"json", no_argument, NULL, CLI_ANSWER_JSON}
#define CLI_ANSWER_FORMAT_ROW  {"format", required_argument, NULL, CLI_ANSWER_FORMAT}
#define CLI_ANSWER_COLOR_ROW   {"color", required_argument, NULL, CLI_ANSWER_COLOR}
#define CLI_ANSWER_DETAILS_ROW {"details", no_argument, NULL, CLI_ANSWER_DETAILS}
#define CLI_ANSWER_KEEP_ROW    {"keep", required_argument, NULL, CLI_ANSWER_KEEP}
#define CLI_ANSWER_PROGRESS_ROWS                                      \
    {"progress", no_argument, NULL, CLI_ANSWER_PROGRESS},             \
    {"no-progress", no_argument, NULL, CLI_ANSWER_NO_PROGRESS}
/* What a file may ask for: kept in the environment (footprint/base/memory_bound.h), so replays that are started have it, too. */
#define CLI_ANSWER_MAX_MEMORY_ROW {"max-memory", required_argument, NULL, CLI_ANSWER_MAX_MEMORY}
/* Of verbs whose answer is a result, kept by -o and shown beside it. */
#define CLI_ANSWER_RESULT_ROWS                                        \
    CLI_ANSWER_OUTPUT_ROW,                                            \
    CLI_ANSWER_FORCE_ROW,                                             \
    CLI_ANSWER_JSON_ROW,                                              \
    CLI_ANSWER_PROGRESS_ROWS,                                         \
    CLI_ANSWER_QUIET_ROW,                                             \
    CLI_ANSWER_HELP_ROW
/* clang-format on */

enum cli_format { CLI_FORMAT_TABLE, CLI_FORMAT_MARKDOWN, CLI_FORMAT_CSV, CLI_FORMAT_JSON, CLI_FORMAT_HTML };

/* cli_format_name - as --format takes it. */
const char *cli_format_name(enum cli_format format);

/* Begin with cli_answer_defaults. Strings are argv's. */
struct cli_answer {
    unsigned formats;   /* of --format: bits 1 << CLI_FORMAT_... that the verb knows */
    const char *output; /* -o; NULL: not given */
    const char *keep;   /* --keep DIR; NULL: not given */
    enum cli_format format;
    bool force, quiet, help, json, colour, details;
    enum cli_progress_when progress; /* never, where it is quiet and not asked for */
};

struct cli_answer cli_answer_defaults(void);

/* cli_answer_has - whether an option that getopt_long found is one of these. */
bool cli_answer_has(int option);

/* cli_answer_take - one of them. Returns -1; CLI_MISUSE when its value is none, told on stderr. */
int cli_answer_take(const struct cli_verb *verb, int option, const char *value, struct cli_answer *answer);

/* cli_answer_settle - when all are taken: what one makes of another. */
void cli_answer_settle(struct cli_answer *answer);

/* cli_answer_check - before any work: can the answer be written where -o says? Returns CLI_DONE, or CLI_FAILED, told. */
int cli_answer_check(const struct cli_verb *verb, const struct cli_answer *answer);

/* cli_answer_write - a text to where -o says, or stdout. Returns CLI_DONE, or CLI_FAILED, told. */
int cli_answer_write(const struct cli_verb *verb, const struct cli_answer *answer, const char *text);

/* cli_answer_help_line - what stands for a line of a help text that begins with '@': the help of a shared option.
 * line    behind the '@', without its end: "force FILE", "color , for tables".
 * column  in which descriptions begin.
 * Returns the line with its end, the caller's to free; NULL: no such one. */
char *cli_answer_help_line(const char *line, size_t column);

#endif
