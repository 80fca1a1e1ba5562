/* window_counts.h - what each window of a recording holds. Private to convert/.
 *
 *   share   a process' part of a window: counted while all of the process' parts are surveyed as one. Each event counts
 *           for the part in which its mark stands, so that a share says what the part by itself would
 *   window  the shares of all processes in it */
#ifndef MALLAB_CONVERT_WINDOWS_WINDOW_COUNTS_H
#define MALLAB_CONVERT_WINDOWS_WINDOW_COUNTS_H

#include "convert/base/request.h"
#include "convert/base/source.h"
#include "convert/recording/parts.h"

struct conv_share {
    struct conv_window window; /* of one process */
    size_t process;
    bool last; /* the process is gone after it */
};

/* Zero-initialise. */
struct conv_shares {
    struct conv_share *shares;
    size_t count, capacity;
    bool salvaged; /* blocks were left out: whose marks those were that came is not known */
};

/* conv_shares_survey - conv_pass_run without a writer, which adds the process' shares besides.
 * process   its number, different from those before.
 * ran_on    it went on when recording ended.
 * Returns   as conv_pass_run. */
enum fp_status conv_shares_survey(struct conv_shares *shares, size_t process, bool ran_on,
                                  const struct conv_input *input, const struct conv_parts *parts,
                                  const struct conv_options *options, struct conv_survey *survey,
                                  struct conv_error *error);

/* conv_shares_sum - make survey->window_list of them. What is live at a window's end is that of the processes with a
 * share in it, and of those between two of their own, or that ran on after their last. There is none of a salvaged recording. False: no memory. */
bool conv_shares_sum(struct conv_shares *shares, struct conv_survey *survey);

void conv_shares_release(struct conv_shares *shares);

#endif
