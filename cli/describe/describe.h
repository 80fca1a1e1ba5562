/* describe.h - the content of a footprint, recording, workload or trace: for people, and as JSON. */
#ifndef MALLAB_CLI_DESCRIBE_DESCRIBE_H
#define MALLAB_CLI_DESCRIBE_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "convert/convert.h"
#include "footprint/fp/usage.h"
#include "results/report/grid/grid.h"

/* cli_survey_print - six lines on stdout, and one for each thing that is out of the ordinary: a selection, a pause, a loss. Behind
 * them the programs of a recording. Nothing is said of what is not known.
 * path     as the user gave it.
 * details  all that is known, behind these lines. */
void cli_survey_print(const struct conv_survey *survey, const char *path, bool details);

/* cli_survey_json - what an input holds, with the keys that DESIGN promises for `info --json`. A new reference. */
json_t *cli_survey_json(const struct conv_survey *survey);

/* cli_live_words - what follows where not all that was live is known (convert.h), for people. Static. */
const char *cli_live_words(enum conv_liveness live);

/* ---- its lists: windows, programs, processes, threads (describe_lists.c) ---- */

/* cli_survey_lists_json - set `process_list`, `thread_list` and `selection`; of a recording, `window_list` and `program_list` too. */
void cli_survey_lists_json(json_t *object, const struct conv_survey *survey);

/* cli_survey_lists_print - the same as tables on stdout; without details only the programs of a recording of several processes. */
void cli_survey_lists_print(const struct conv_survey *survey, bool details);

/* ---- a list of a document as a table (describe_lists.c) ---- */

enum cli_shown {
    CLI_SHOWN_TEXT,
    CLI_SHOWN_WHERE,     /* the heading where it is true */
    CLI_SHOWN_WHERE_NOT, /* the heading where it is false */
    CLI_SHOWN_ID,        /* a number; those that follow are numbers, too */
    CLI_SHOWN_COUNT,     /* digits in groups */
    CLI_SHOWN_BYTES,
    CLI_SHOWN_SPAN,   /* of nanoseconds */
    CLI_SHOWN_MOMENT, /* nanoseconds since 1970: month, day, hour */
};

struct cli_column {
    const char *heading; /* NULL behind the last one */
    const char *key;     /* of the rows' objects; what has none, or null, is "-" */
    enum cli_shown how;
};

#define CLI_TABLE_COLUMNS 10u /* at most */

/* cli_table_add - an empty line and the rows, an array of objects, `most` of them and how many more there are; nothing of no row.
 * A column in which nothing is told is left out. */
void cli_table_add(struct res_text *text, const struct cli_column *columns, const json_t *rows, size_t most);

/* ---- what its processes used (describe_lists.c) ---- */

/* cli_usage_json - set the keys of a usage; null for what is not known, as all is where usage is NULL.
 * ended  the key of {how, code}: a process of a list has a word called `ended` of its own. */
void cli_usage_json(json_t *object, const struct fp_usage *usage, const char *ended);

/* cli_usage_end_json - {how, code}. cli_usage_series_json - its looks over time. New references. */
json_t *cli_usage_end_json(const struct fp_usage *usage);
json_t *cli_usage_series_json(const struct fp_usage *usage);

/* cli_usage_words - "runs on glibc 2.36 (libc); 1.2 s of processor time; ...", without what is not known. Returns a text that the
 * caller frees; "" where nothing is known.
 * detailed  faults, and how old the figures were when the process ended, too. */
char *cli_usage_words(const struct fp_usage *usage, bool detailed);

#endif
