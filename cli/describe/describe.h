/* describe.h - what a footprint, recording, workload or trace holds: for people, and as JSON. */
#ifndef MALLAB_CLI_DESCRIBE_DESCRIBE_H
#define MALLAB_CLI_DESCRIBE_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "convert/convert.h"

/* cli_survey_print - six lines on stdout, and one for each thing that is out of the ordinary: a selection, a pause, a loss. Behind
 * them the programs of a recording. Nothing is said of what is not known.
 * path     as the user gave it.
 * details  all that is known, behind these lines. utf8: draw its histogram with blocks, else with '#'. */
void cli_survey_print(const struct conv_survey *survey, const char *path, bool details, bool utf8);

/* cli_survey_json - what an input holds, with the keys that DESIGN promises for `info --json`. A new reference. */
json_t *cli_survey_json(const struct conv_survey *survey);

/* cli_live_words - what follows where not all that was live is known (convert.h), for people. Static. */
const char *cli_live_words(enum conv_liveness live);

#endif
