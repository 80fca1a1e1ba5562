/* describe_brief.h - what an input holds, in six lines. */
#ifndef MALLAB_CLI_DESCRIBE_DESCRIBE_BRIEF_H
#define MALLAB_CLI_DESCRIBE_DESCRIBE_BRIEF_H

#include "convert/base/survey_counts.h"

/* cli_survey_print_brief - six lines on stdout, and one for each thing that is out of the ordinary: a selection, a pause, a loss. Behind them the programs of a recording. Nothing is said of what is not known.
 * Programs that are not recorded are in the words of what is missing.
 * path  as the user gave it. */
void cli_survey_print_brief(const struct conv_survey *survey, const char *path);

#endif
