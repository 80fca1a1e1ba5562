/* describe_sites.h - how many call stacks a recording has, and how many of its allocations have one that is cut. */
#ifndef MALLAB_CLI_DESCRIBE_DESCRIBE_SITES_H
#define MALLAB_CLI_DESCRIBE_DESCRIBE_SITES_H

#include <jansson.h>

#include "convert/base/survey_counts.h"

/* cli_sites_json - set `sites` and `cut` of a footprint, or of all of a recording's; nothing where none has stacks. */
void cli_sites_json(json_t *object, const struct conv_survey *survey);

/* cli_sites_words - "438 of 62,335 allocations; ...", and with details why some are cut, and how many frames have a name here. Returns a text that the caller frees; ""
 * where there are none. */
char *cli_sites_words(const struct conv_survey *survey, bool details);

#endif
