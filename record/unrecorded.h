/* unrecorded.h - programs of a recorded tree that are not recorded, as recording.json names them: for info, top, record --status.
 *
 * The collector writes them there while the recording goes on (shim/collect/collect_tell.c). */
#ifndef MALLAB_RECORD_UNRECORDED_H
#define MALLAB_RECORD_UNRECORDED_H

#include <jansson.h>

/* cli_unrecorded_of - what a recording's JSON says: an array of objects with `name`, `pid` (0: not known) and `why`; empty
 * where it says nothing. The caller's reference.
 * cli_unrecorded_load - likewise of a recording's directory, or of the path of its recording.json. */
json_t *cli_unrecorded_of(const json_t *recording);
json_t *cli_unrecorded_load(const char *path);

/* cli_unrecorded_words - of one of its objects: "'postgres' (process 4711) could not ...". The caller's to free. */
char *cli_unrecorded_words(const json_t *object);

#endif
