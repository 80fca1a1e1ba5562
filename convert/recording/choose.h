/* choose.h - which processes of a recording are meant. */
#ifndef MALLAB_CONVERT_RECORDING_CHOOSE_H
#define MALLAB_CONVERT_RECORDING_CHOOSE_H

#include "convert/base/request.h"
#include "convert/base/survey_counts.h"
#include "convert/recording/group.h"

/* conv_recording_choose - the process images that are meant: options.process_file's, by its footprint, else the group of
 * its program's name; else of those of options.process_id (exec leaves several) the one with most calls; else what the
 * recording is about (group.h). Where nothing of these can be converted, it is the one that is nearest to it.
 * With options.salvage footprints that are missing are passed over where others will do.
 * directory   for messages.
 * ret_choice  of one member or more.
 * Returns     FP_OK; FP_ERR_ARGUMENT when there is none, FP_ERR_OPEN when a footprint is missing, FP_ERR_READ when
 *             it went with its windows, in error. */
enum fp_status conv_recording_choose(const char *directory, const struct conv_options *options,
                                     struct conv_survey *survey, struct conv_choice *ret_choice,
                                     struct conv_error *error);

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

/* conv_recording_choose_all - mark all processes as chosen, but for those that are absent or removed.
 * directory  for the message.
 * Returns    FP_OK; FP_ERR_READ when none is left. */
enum fp_status conv_recording_choose_all(const char *directory, struct conv_survey *survey,
                                         struct conv_error *error);

#endif
