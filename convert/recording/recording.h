/* recording.h - what stands in a recording's directory, finished or not. Private to convert/ and cli/.
 *
 *   finished    its collector has ended in good order: recording.json lists the processes
 *   unfinished  recorded still, or its collector was killed, or recording.json is damaged or missing: then every
 *               *.fp of the directory is taken, in the order of their names' bytes
 *
 * A directory may change while it is read: footprints appear and grow. What is whole when it is looked at counts. */
#ifndef MALLAB_CONVERT_RECORDING_RECORDING_H
#define MALLAB_CONVERT_RECORDING_RECORDING_H

#include <jansson.h>

#include "convert/convert.h"

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

/* conv_recording_directory - the directory meant by path: itself, or that of its recording.json. */
void conv_recording_directory(const char *path, char ret_directory[CONV_PATH_BYTES]);

/* conv_recording_choose - the process image to convert: options.process_file's, by its footprint, else by its
 * program's name, if one process alone has that; else of those of options.process_id (exec
 * leaves several), or of all, the one with most calls, lost ones counted, of equal ones the first; one of which no
 * footprint could be written only if there is no other. With options.salvage one whose footprint is missing is passed
 * over where another will do.
 * directory    for messages.
 * ret_process  marked chosen.
 * Returns      FP_OK; FP_ERR_ARGUMENT when there is none, FP_ERR_OPEN when its footprint is missing, FP_ERR_READ when
 *              it went with its windows, in error. */
enum fp_status conv_recording_choose(const char *directory, const struct conv_options *options,
                                     struct conv_survey *survey, struct conv_process **ret_process,
                                     struct conv_error *error);

/* conv_process_lost - calls of a process that were lost, as the recording's list has them. */
uint64_t conv_process_lost(const struct conv_process *process);

/* conv_choice_judge - of a survey whose process conv_recording_choose took, unasked: it becomes incomplete, and names the
 * process, when another one made more calls that are all lost. After the pass, which says anew what is complete. */
void conv_choice_judge(const struct conv_options *options, struct conv_survey *survey);

/* conv_recording_leave_missing - of the chosen processes, leave out those whose footprints are missing; survey becomes
 * incomplete then, and names the first.
 * directory  for messages.
 * Returns    FP_OK; FP_ERR_OPEN, in error, without options.salvage, or when none is left. */
enum fp_status conv_recording_leave_missing(const char *directory, const struct conv_options *options,
                                            struct conv_survey *survey, struct conv_error *error);

/* conv_process_is_file - whether a process' footprint is meant by its name, with or without its ending; of one in windows
 * by that of any window, or by what they have in common. */
bool conv_process_is_file(const struct conv_process *process, const char *name);

/* conv_recording_choose_some - mark the processes meant by a list as chosen; those that are absent or removed are not.
 * directory  for the message.
 * list       as conv_selection.merge: ids, names and footprints' names between commas; "" for all.
 * Returns    FP_OK; FP_ERR_ARGUMENT when an item means none; FP_ERR_MEMORY. */
enum fp_status conv_recording_choose_some(const char *directory, const char *list, struct conv_survey *survey,
                                          struct conv_error *error);

/* conv_processes_name - " 4711 nginx, 4712 nginx", and how many more, for messages that one is not there. */
void conv_processes_name(const struct conv_survey *survey, char *ret_text, size_t size);

/* conv_recording_open - a recording's directory, through the door (footprint/base/trusted.h), to be read.
 * Returns  a descriptor, the caller's to close; -1 with the reason in error. */
int conv_recording_open(const char *directory, struct conv_error *error);

/* conv_recording_load - recording.json of a directory, both through the door, whatever JSON it holds.
 * ret_root  NULL, with FP_OK, when there is none. The caller's reference.
 * Returns   FP_OK; FP_ERR_OPEN, FP_ERR_UNTRUSTED, FP_ERR_FOREIGN, FP_ERR_CORRUPT (no JSON), in error. */
enum fp_status conv_recording_load(const char *directory, json_t **ret_root, struct conv_error *error);

/* conv_recording_check - whether it is the JSON of a recording that this version reads: FP_OK, FP_ERR_FOREIGN,
 * FP_ERR_VERSION, in error. */
enum fp_status conv_recording_check(const char *path, const json_t *root, struct conv_error *error);

/* conv_recording_stop_words - why recording stopped, or pauses against its will, while the program runs on, from
 * recording.json: "--max-size is reached", ... Static; NULL: it does not say. */
const char *conv_recording_stop_words(const json_t *root);

/* conv_unfinished_judge - from an unfinished recording.json, what became of the collector: fills survey's
 * recording_state, collector_pid and unfinished_why.
 * root       its JSON, of any shape. */
void conv_unfinished_judge(const json_t *root, const char *directory, struct conv_survey *survey);

/* conv_unfinished_is_left - whether the shared memory of an unfinished recording, by its JSON, is there and ours: of a dead
 * collector's `mallab-collect --recover` writes what is in it. */
bool conv_unfinished_is_left(const json_t *root, const char *directory);

/* conv_unfinished_process_gone - whether a recorded process, of an unfinished recording, is seen from here not to be there
 * any more. False also where that cannot be seen (another pid namespace, another machine). */
bool conv_unfinished_process_gone(const json_t *root, uint32_t pid);

#endif
