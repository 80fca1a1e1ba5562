/* choose.h - the choice of a recording's processes, and how they belong together. */
#ifndef MALLAB_CONVERT_RECORDING_CHOOSE_H
#define MALLAB_CONVERT_RECORDING_CHOOSE_H

#include "convert/base/request.h"
#include "convert/base/survey_counts.h"

/* ---- the processes that a recording is about, where it holds several --------------------------------
 *
 *   own      the last image of the command's own process: of a wrapper that executes a program, the program
 *   workers  processes of own's name that it forked, and theirs
 *   group    all processes of one name. They are replayed one by one, and their figures are summed
 *
 * What was recorded before own began was the way to it, and does not count. Own it is with its workers, where both made at
 * least half of all calls; else the group of the name whose processes made most calls: the compilers below a make, the
 * server that a script has started. Of a group whose others made less than a hundredth of its calls it is the lead alone. */

#define CONV_MEMBERS_MAX 32u /* processes of a group: of more, those with most calls are taken */

/* The processes that are meant, in the order of the recording's list. */
struct conv_choice {
    struct conv_process *members[CONV_MEMBERS_MAX];
    size_t count;
    size_t left_out; /* of that name, beyond the maximum */
    struct conv_process
        *lead; /* the member with most calls, of equal ones the first; NULL: there is no member */
};

/* conv_calls_of - calls that a process made, kept or lost: a full disk must not make another process the busiest one. */
uint64_t conv_calls_of(const struct conv_process *process);

/* conv_group_default - the processes that a recording is about, by the rule above; none where no process can be
 * converted, or none of them made a call.
 * salvage  processes whose footprints are missing are passed over. */
void conv_group_default(const struct conv_survey *survey, bool salvage, struct conv_choice *ret_choice);

/* conv_group_named - likewise, all processes of a name. */
void conv_group_named(const struct conv_survey *survey, const char *name, bool salvage,
                      struct conv_choice *ret_choice);

/* conv_recording_choose - the process images that are meant: options.process_file's, by its footprint, else the group of
 * its program's name; else of those of options.process_id (exec leaves several) the one with most calls; else what the
 * recording is about (above). Where nothing of these can be converted, it is the one that is nearest to it.
 * With options.salvage footprints that are missing are passed over where others will do.
 * directory   for messages.
 * ret_choice  of one member or more.
 * Returns     FP_OK; FP_ERR_ARGUMENT when there is none, FP_ERR_OPEN when a footprint is missing, FP_ERR_READ when
 *             it went with its windows, in error. */
enum fp_status conv_recording_choose(const char *directory, const struct conv_options *options,
                                     struct conv_survey *survey, struct conv_choice *ret_choice,
                                     struct conv_error *error);

/* conv_choice_judge - judge a survey whose process conv_recording_choose took, unasked: it becomes incomplete, and names the
 * process, when another one made more calls that are all lost. After the pass, which says anew what is complete. */
void conv_choice_judge(const struct conv_options *options, struct conv_survey *survey);

/* conv_recording_leave_missing - leave out the chosen processes whose footprints are missing; survey becomes
 * incomplete then, and names the first.
 * directory  for messages.
 * Returns    FP_OK; FP_ERR_OPEN, in error, without options.salvage, or when none is left. */
enum fp_status conv_recording_leave_missing(const char *directory, const struct conv_options *options,
                                            struct conv_survey *survey, struct conv_error *error);

/* conv_process_is_file - whether a process' footprint is meant by its name, with or without its ending; of one in windows
 * by that of any window, or by what they have in common. */
bool conv_process_is_file(const struct conv_process *process, const char *name);

#endif
