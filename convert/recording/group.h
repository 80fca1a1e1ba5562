/* group.h - the processes that a recording is about, where it holds several.
 *
 *   own      the last image of the command's own process: of a wrapper that executes a program, the program
 *   workers  processes of own's name that it forked, and theirs
 *   group    all processes of one name. They are replayed one by one, and their figures are summed
 *
 * What was recorded before own began was the way to it, and does not count. Own it is with its workers, where both made at
 * least half of all calls; else the group of the name whose processes made most calls: the compilers below a make, the
 * server that a script has started. Of a group whose others made less than a hundredth of its calls it is the lead alone. */
#ifndef MALLAB_CONVERT_RECORDING_GROUP_H
#define MALLAB_CONVERT_RECORDING_GROUP_H

#include "convert/base/survey_counts.h"

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

/* conv_choice_one - a choice of one process. */
struct conv_choice conv_choice_one(struct conv_process *process);

#endif
