/* usage_notes.h - what a process used as a whole, in a workload's meta data. Private to convert/open. */
#ifndef MALLAB_CONVERT_OPEN_USAGE_NOTES_H
#define MALLAB_CONVERT_OPEN_USAGE_NOTES_H

#include "convert/base/survey_counts.h"
#include "footprint/wl/workload.h"

/* conv_usage_note - note it; nothing where it is not known.
 * conv_usage_read - the notes back into survey->usage; NULL where there is none. */
enum fp_status conv_usage_note(struct wl_writer *writer, const struct fp_usage *usage);
void conv_usage_read(const struct wl_reader *reader, struct conv_survey *survey);

#endif
