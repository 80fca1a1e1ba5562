/* unfinished.h - the collector of an unfinished recording: at work, or gone.
 *
 * recording.json names it by process id, start time, boot and pid namespace (docs/format.md), so that neither a later
 * process of that id nor one of another machine is taken for it; and names the directory that it writes to, so that a
 * copy of a recording is not taken for the recording. */
#ifndef MALLAB_CONVERT_RECORDING_UNFINISHED_H
#define MALLAB_CONVERT_RECORDING_UNFINISHED_H

#include "convert/base/survey_counts.h"
#include "convert/recording/recording_json.h"

/* conv_unfinished_judge - judge the fate of an unfinished recording's collector: fills survey's
 * recording_state, collector_pid and unfinished_why. */
void conv_unfinished_judge(const struct conv_recording *recording, const char *directory,
                           struct conv_survey *survey);

/* conv_unfinished_is_left - whether the shared memory of an unfinished recording is there and ours: of a dead
 * collector's `mallab-collect --recover` writes what is in it. */
bool conv_unfinished_is_left(const struct conv_recording *recording, const char *directory);

/* conv_unfinished_ask_lock - whether the collector lives, by the lock of its shared memory, which it holds for as long: the
 * only sign of one in another pid namespace, as in a container.
 * Returns  false where that cannot be looked at from here. */
bool conv_unfinished_ask_lock(const struct conv_recording *recording, const char *directory, bool *ret_alive);

/* conv_unfinished_process_gone - whether a recorded process, of an unfinished recording, is seen from here not to be there
 * any more. False also where that cannot be seen (another pid namespace, another machine). */
bool conv_unfinished_process_gone(const struct conv_recording *recording, uint32_t pid);

#endif
