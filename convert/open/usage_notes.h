/* usage_notes.h - what a process used as a whole, in a workload's meta data: docs/format.md, "Meta". */
#ifndef MALLAB_CONVERT_OPEN_USAGE_NOTES_H
#define MALLAB_CONVERT_OPEN_USAGE_NOTES_H

#include "footprint/fp/usage.h"
#include "footprint/wl/workload.h"

/* conv_usage_note - note it. usage: NULL where it is not known, and nothing is noted. Returns the writer's status.
 * conv_usage_read - the notes back; false: there are none, and ret_usage knows nothing. */
enum fp_status conv_usage_note(struct wl_writer *writer, const struct fp_usage *usage);
bool conv_usage_read(const struct wl_reader *reader, struct fp_usage *ret_usage);

#endif
