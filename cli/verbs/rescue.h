/* rescue.h - a result that cannot be kept where -o says: what took an hour to measure is not thrown away for that. */
#ifndef MALLAB_CLI_VERBS_RESCUE_H
#define MALLAB_CLI_VERBS_RESCUE_H

#include <stdbool.h>

/* cli_rescue - write a result into a new file, mallab-result-XXXXXX.json, in the first of these that takes it whole: $TMPDIR,
 * /tmp, /var/tmp, /dev/shm. It is the user's from then on. Returns its path, the caller's to free; NULL: none of them does. */
char *cli_rescue(const char *document);

#endif
