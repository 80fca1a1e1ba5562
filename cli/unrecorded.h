/* unrecorded.h - what `mallab record` saw not to be recorded, kept beside the recording (not-recorded.json), so that those
 * who look at a recording that goes on hear of it as well: info, top, record --status.
 *
 * The file is written anew, in whole, whenever something is added; where it cannot be, the recording goes on without. */
#ifndef MALLAB_CLI_UNRECORDED_H
#define MALLAB_CLI_UNRECORDED_H

#include <jansson.h>

#include "cli/watch.h"

/* cli_unrecorded_keep - write what the watch found into the recording's directory. */
void cli_unrecorded_keep(const struct cli_watch *watch, const char *directory);

/* cli_unrecorded_load - what stands there: an array of objects with `name`, `pid` (0: not known) and `why`; empty without
 * the file, or where it is damaged. directory: or the path of its recording.json. The caller's reference. */
json_t *cli_unrecorded_load(const char *directory);

/* cli_unrecorded_words - of one of its objects: "'postgres' (process 4711) could not ...". The caller's to free. */
char *cli_unrecorded_words(const json_t *object);

#endif
