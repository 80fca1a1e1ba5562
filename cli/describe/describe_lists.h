/* describe_lists.h - the lists at the end of what is said of a recording: its windows, programs and processes. */
#ifndef MALLAB_CLI_DESCRIBE_DESCRIBE_LISTS_H
#define MALLAB_CLI_DESCRIBE_DESCRIBE_LISTS_H

#include <jansson.h>

#include "convert/convert.h"

/* Of all its processes; the peak is that of the largest. */
struct cli_program {
    const char *name; /* the survey's */
    uint64_t processes, events;
    uint64_t cpu_ns, rss_peak_bytes; /* FP_USAGE_UNKNOWN: of none of them is it known */
};

/* cli_programs - the programs of a recording, those with most events first. The caller's to free. */
struct cli_program *cli_programs(const struct conv_survey *survey, size_t *ret_count);

/* cli_survey_lists_json - set `process_list`; of a recording, `window_list` and `program_list` too. */
void cli_survey_lists_json(json_t *object, const struct conv_survey *survey);

/* cli_survey_lists_print - the same as tables on stdout. cli_programs_print - only the programs of a recording of several processes. */
void cli_survey_lists_print(const struct conv_survey *survey);
void cli_programs_print(const struct conv_survey *survey);

/* cli_threads_json, cli_selection_json - the threads that made a call, and what was selected (null: all). New references.
 * cli_threads_print, cli_selection_print - the same on stdout: those with most calls; a line or two, or nothing. */
json_t *cli_threads_json(const struct conv_survey *survey);
json_t *cli_selection_json(const struct conv_selected *selected);
void cli_threads_print(const struct conv_survey *survey);
void cli_selection_print(const struct conv_selected *selected);

#endif
