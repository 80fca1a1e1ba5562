/* convert_report.h - the report of `mallab convert`. Private to cli/. */
#ifndef MALLAB_CLI_VERBS_CONVERT_REPORT_H
#define MALLAB_CLI_VERBS_CONVERT_REPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/base/cli.h"
#include "convert/convert.h"

/* cli_convert_file - convert one file, telling what happened on stderr in the name of `verb`; a signal that ends the
 * process leaves no half file.
 * ret_report  the report as JSON, a new reference, left alone where it failed; may be NULL.
 * Returns     an exit code. */
int cli_convert_file(const struct cli_verb *verb, const char *input, const char *output,
                     const struct conv_options *options, bool quiet, bool no_progress, json_t **ret_report);

/* cli_conv_failed - tell why something could not be read or converted. Returns the exit code for it. */
int cli_conv_failed(const struct cli_verb *verb, const struct conv_error *error);

/* cli_choice_tell - tell on stderr which processes of a recording are chosen, with their share of all
 * calls, and the programs that could be instead. left_out: of the same name, because they are too many. */
void cli_choice_tell(const struct cli_verb *verb, const struct conv_survey *survey, size_t left_out);

/* cli_output_name - the default output for an input: its name with another ending. The caller's to free. */
char *cli_output_name(const char *input, const char *new_ending);

/* cli_meant - what to say behind the message that a path is not there: a recording or workload of another ending that is. The
 * caller's to free; "": there is none. */
char *cli_meant(const char *path);

/* ---- several processes of a recording, each into a workload of its own (workloads.c) ---- */

struct cli_each {
    const struct cli_verb *verb;
    const char *input;     /* a recording's directory */
    const char *directory; /* where the workloads go; made when it is not there */
    const char *ending;    /* of their names */
    bool all;              /* processes; else the group that `convert` chooses, whose choice is told */
    const struct conv_options *convert; /* for each of them */
    bool quiet;
    bool no_progress;
};

/* cli_convert_each - one process after the other; what goes wrong with one is told and leaves the others alone.
 * ret_report  what was made, as JSON, a new reference; left alone where nothing was tried. May be NULL.
 * Returns     the worst exit code. */
int cli_convert_each(const struct cli_each *each, json_t **ret_report);

/* cli_is_group - whether several processes of a recording are meant. False where that cannot be told, too: converting it
 * tells why.
 * ret_bytes  of the footprints that are meant, by their share of the calls; 0: not known. May be NULL. */
bool cli_is_group(const char *input, const struct conv_options *options, uint64_t *ret_bytes);

#endif
