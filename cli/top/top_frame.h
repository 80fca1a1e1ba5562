/* top_frame.h - frames of `mallab top`: one look at a recording, as text or as JSON.
 *
 *   moment  when it was looked at, and what its rates are of: of the interval since the frame before, in the first
 *           frame since recording began */
#ifndef MALLAB_CLI_TOP_TOP_FRAME_H
#define MALLAB_CLI_TOP_TOP_FRAME_H

#include <jansson.h>

#include "convert/view/view.h"

struct cli_top_moment {
    uint64_t time_unix_ns;
    uint64_t duration_ns; /* of the recording so far */
    uint64_t interval_ns; /* that rates are of; not 0 */
    bool is_first;
    bool was_asked; /* the collector, for fresh figures */
    bool is_silent; /* it was, and has not answered */
};

/* By what processes are sorted, the highest first. */
enum cli_top_sort {
    CLI_TOP_BY_RATE, /* those that run before the others */
    CLI_TOP_BY_CALLS,
    CLI_TOP_BY_LIVE,
    CLI_TOP_SORTS,
};
#define CLI_TOP_SORT_WORDS "rate calls live" /* in their order */

/* cli_top_text - facts, then the processes, sorted. Lines, each ending in a newline; the caller's to free. */
char *cli_top_text(const struct conv_view *view, const struct cli_top_moment *moment, enum cli_top_sort sort);

/* cli_top_json - the same and threads as an object, docs/man/mallab-top.1. A new reference. */
json_t *cli_top_json(const struct conv_view *view, const struct cli_top_moment *moment,
                     enum cli_top_sort sort);

#endif
