/* recording.h - the content of a recording's directory, finished or not. Private to convert/ and cli/.
 *
 *   finished    its collector has ended in good order: recording.json lists the processes
 *   unfinished  recorded still, or its collector was killed, or recording.json is damaged or missing: then every
 *               *.fp of the directory is taken, in the order of their names' bytes
 *
 * A directory may change while it is read: footprints appear and grow. What is whole when it is looked at counts. */
#ifndef MALLAB_CONVERT_RECORDING_RECORDING_H
#define MALLAB_CONVERT_RECORDING_RECORDING_H

#include "convert/base/survey_counts.h"

/* conv_recording_list - the processes of a recording's directory, without reading their events.
 * path           the directory or its recording.json.
 * survey         zeroed; processes (events: marks where they are not listed), program, start, input, recording_state,
 *                collector_pid, unfinished_why and recording_why are filled. End it with conv_survey_release, whatever
 *                the status.
 * Returns        FP_OK, with one process at least; else the status in error: FP_ERR_READ when nothing is written. */
enum fp_status conv_recording_list(const char *path, struct conv_survey *survey, struct conv_error *error);

/* conv_recording_judge - what was made of a recording, or of one process of it, is not complete where something of the recorded tree is
 * missing, and says what. After the pass, which says anew what is complete.
 * of_one  it is of one process: what that lacks itself was told before. */
void conv_recording_judge(struct conv_survey *survey, bool of_one);

#endif
