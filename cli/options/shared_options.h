/* shared_options.h - the options that several verbs have: on their answer, on how a run is made, on what of an input is converted.
 *
 * Each has one meaning, one message when its value is none, and one line of help, whichever verb has it. A verb puts the groups that
 * it wants among its rows: {.group = cli_answer_json, .at = offsetof(struct settings, answer)}. */
#ifndef MALLAB_CLI_OPTIONS_SHARED_OPTIONS_H
#define MALLAB_CLI_OPTIONS_SHARED_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/cli.h"
#include "cli/options/option_table.h"
#include "convert/convert.h"
#include "results/measure/run/run.h"

/* ---- the answer: where it goes, in which form, and what is told beside it ---- */

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

/* cli_answer_take_format - take the value of a verb's row of --format, whose words are the formats that it knows;
 * `at` is a struct cli_answer. */
int cli_answer_take_format(const struct cli_verb *verb, const struct cli_option *row, const char *value,
                           void *at);

struct cli_answer cli_answer_defaults(void);

/* cli_answer_check - before any work: can the answer be written where -o says? Returns CLI_DONE, or
 * CLI_FAILED, told. */
int cli_answer_check(const struct cli_verb *verb, const struct cli_answer *answer);

/* cli_answer_write - a text to where -o says, or stdout. Returns CLI_DONE, or CLI_FAILED, told. */
int cli_answer_write(const struct cli_verb *verb, const struct cli_answer *answer, const char *text);

/* ---- how a run is made: of which candidates, how often, how long, on what ---- */

#define CLI_ROUNDS_MAX 1000u /* of each kind */

/* Begin with cli_measure_defaults. Strings are borrowed from the command line. */
struct cli_measure {
    const char *allocators; /* -a: a list for cli_choose; of `replay` the one. NULL: not given */
    const char *baseline;   /* -b; NULL: not given */
    uint64_t rounds;        /* 0: not given */
    uint64_t seed;          /* a drawn one where none is given */
    uint64_t timeout_ns, limit_bytes;
    uint64_t processors;             /* 0: as recorded */
    const char *limit_by, *limit_in; /* "cgroup" or "data"; a directory; NULL: not said */
    bool one_thread;
};

/* Groups of a struct cli_measure. */
extern const struct cli_option cli_measure_baseline[], cli_measure_rounds[], cli_measure_seed[],
    cli_measure_one_thread[], cli_measure_timeout[];
extern const struct cli_option cli_measure_allocators[]; /* -a LIST */
extern const struct cli_option cli_measure_limit[];      /* --limit, --limit-by, --limit-in */

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

/* Groups of a struct conv_options. */
extern const struct cli_option cli_select_trust_owner[];
extern const struct cli_option cli_select_process[], cli_select_part[];
extern const struct cli_option cli_select[]; /* all of them; --trust-owner among them */

/* cli_select_format - the values of --from, which convert and info have, with what they mean, by number from 0. */
bool cli_select_format(size_t number, const char **ret_word, const char **ret_meaning);

/* cli_select_check - when all are taken: which exclude each other. Returns -1, or CLI_MISUSE, told. */
int cli_select_check(const struct cli_verb *verb, const struct conv_options *options);

/* cli_select_any - whether something was selected, processes among it. */
bool cli_select_any(const struct conv_options *options);

/* cli_select_parse_when - "0", "90s", "250ms", "12.5%", "end" to a moment. False: none of these. */
bool cli_select_parse_when(const char *text, struct conv_when *ret_when);

#endif
