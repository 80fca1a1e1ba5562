/* describe_usage.h - what a process used as a whole, for people and as JSON. */
#ifndef MALLAB_CLI_DESCRIBE_DESCRIBE_USAGE_H
#define MALLAB_CLI_DESCRIBE_DESCRIBE_USAGE_H

#include <jansson.h>

#include "footprint/fp/usage.h"

/* cli_usage_json - set the keys of a usage; null for what is not known, as all is where usage is NULL.
 * ended  the key of {how, code}: a process of a list has a word called `ended` of its own. */
void cli_usage_json(json_t *object, const struct fp_usage *usage, const char *ended);

/* cli_usage_series_json - its looks over time. A new reference. */
json_t *cli_usage_series_json(const struct fp_usage *usage);

/* cli_usage_words - "runs on glibc 2.36 (libc); 1.2 s of processor time; ...", without what is not known. Returns a text that the
 * caller frees; "" where nothing is known.
 * detailed  faults, and how old the figures were when the process ended, too. */
char *cli_usage_words(const struct fp_usage *usage, bool detailed);

#endif
