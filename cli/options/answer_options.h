/* answer_options.h - the options that verbs share on their answer: where it goes, in which form,
 * and what is told beside it.
 *
 * Each has one meaning, one message when its value is none, and one line of help, whichever verb
 * has it. A verb puts the groups that it wants among its rows:
 * {.group = cli_answer_json, .at = offsetof(struct settings, answer)}. */
#ifndef MALLAB_CLI_OPTIONS_ANSWER_OPTIONS_H
#define MALLAB_CLI_OPTIONS_ANSWER_OPTIONS_H

#include <stdbool.h>

#include "cli/base/cli.h"
#include "cli/options/option_table.h"

enum cli_format { CLI_FORMAT_TABLE, CLI_FORMAT_MARKDOWN, CLI_FORMAT_CSV, CLI_FORMAT_JSON, CLI_FORMAT_HTML };

/* Begin with cli_answer_defaults. Strings are argv's. */
struct cli_answer {
    const char *output; /* -o; NULL: not given */
    const char *keep;   /* --keep DIR; NULL: not given */
    const char *label;  /* of a result; NULL: not given */
    enum cli_format format;
    bool force, quiet, json, colour, details;
};

/* Groups, each of the rows that its name says; of a struct cli_answer. */
extern const struct cli_option cli_answer_output[], cli_answer_force[], cli_answer_json[], cli_answer_color[],
    cli_answer_details[], cli_answer_keep[], cli_answer_quiet[], cli_answer_max_memory[];
extern const struct cli_option
    cli_answer_result[]; /* -o, -f, --max-memory, --json, --title of a verb that makes a result */

/* cli_answer_take_format - for a verb's row of --format, whose words are the formats that it knows;
 * `at` is a struct cli_answer. */
int cli_answer_take_format(const struct cli_verb *verb, const struct cli_option *row, const char *value,
                           void *at);

struct cli_answer cli_answer_defaults(void);

/* cli_answer_check - before any work: can the answer be written where -o says? Returns CLI_DONE, or
 * CLI_FAILED, told. */
int cli_answer_check(const struct cli_verb *verb, const struct cli_answer *answer);

/* cli_answer_write - a text to where -o says, or stdout. Returns CLI_DONE, or CLI_FAILED, told. */
int cli_answer_write(const struct cli_verb *verb, const struct cli_answer *answer, const char *text);

#endif
