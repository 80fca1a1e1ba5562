/* describe.h - what a footprint, recording, workload or trace holds: for people, and as JSON. */
#ifndef MALLAB_CLI_DESCRIBE_DESCRIBE_H
#define MALLAB_CLI_DESCRIBE_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "convert/convert.h"

/* cli_survey_print_all - all that is known, as aligned text on stdout.
 * path  as the user gave it. utf8: draw the histogram with blocks, else with '#'. */
void cli_survey_print_all(const struct conv_survey *survey, const char *path, bool utf8);

/* cli_processes_of - how many processes the survey is of.
 * cli_pauses_print, cli_losses_print - the lines on pauses, and on what is lost or irregular. */
uint64_t cli_processes_of(const struct conv_survey *survey);
void cli_pauses_print(const struct conv_survey *survey);
void cli_losses_print(const struct conv_survey *survey);

/* cli_survey_json - what an input holds, with the keys that DESIGN promises for `info --json`. A new reference. */
json_t *cli_survey_json(const struct conv_survey *survey);

/* cli_live_words - what follows where not all that was live is known (convert.h), for people. Static. */
const char *cli_live_words(enum conv_liveness live);

#endif
