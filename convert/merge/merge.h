/* merge.h - several processes of a recording as one input: each one's lanes become lanes of its own, its addresses lie in
 * a space of their own (regions.h). Private to convert/.
 *
 *   member   one process image that takes part
 *
 * Order within a member is as without merging. Between members it is that of recorded time, which all processes of a
 * recording take from one clock (docs/format.md): the member whose next event is earliest comes next, of equal ones the
 * one that the recording lists first. A member is open from its first event to its last, so memory follows those that run
 * at the same time. Forked members begin without their parents' objects: docs/notes/selections.md. */
#ifndef MALLAB_CONVERT_MERGE_MERGE_H
#define MALLAB_CONVERT_MERGE_MERGE_H

#include "convert/base/request.h"
#include "convert/base/source.h"

/* conv_merge_open - open the processes that a selection means.
 * directory  of the recording, already listed in survey (conv_recording_list).
 * members    as conv_selection.merge: ids and names between commas; "" for all.
 * survey     processes: `chosen` is set; kind, program, start_unix_ns, file_bytes, selected.merged_processes are filled.
 * Returns    FP_OK; FP_ERR_ARGUMENT when one that is named is not there, FP_ERR_LIMIT for more than WL_THREADS_MAX
 *            lanes; what opening a member may return; in ret_error. */
enum fp_status conv_merge_open(const char *directory, const char *members, const struct conv_options *options,
                               struct conv_survey *survey, struct conv_error *ret_error,
                               struct conv_input *ret_input);

#endif
