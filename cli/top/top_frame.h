/* top_frame.h - frames of `mallab top`: one look at a recording, as text or as JSON.
 *
 *   frame   what is shown at a time
 *   moment  when it was looked at, and what its rates are of: of the interval since the frame before, in the first
 *           frame since recording began */
#ifndef MALLAB_CLI_TOP_TOP_FRAME_H
#define MALLAB_CLI_TOP_TOP_FRAME_H

#include "convert/view/view.h"
#include "footprint/base/support.h"

struct cli_top_moment {
    uint64_t time_unix_ns;
    uint64_t duration_ns; /* of the recording so far */
    uint64_t interval_ns; /* that rates are of; not 0 */
    bool is_first;
    bool is_last;   /* the recording has ended */
    bool is_silent; /* the collector was asked for fresh figures and has not answered */
    bool was_asked;
    bool catching_up;
    unsigned percent; /* of what was found, read so far */
};

/* cli_top_state - "recording", "paused", or the recording's state. Static. */
const char *cli_top_state(const struct conv_view *view);

/* cli_top_inexact - why what is live is not exactly known, in words; NULL when it is. The caller's to free. */
char *cli_top_inexact(const struct conv_view *view);

/* cli_top_program - the name of the process with most events; "" when unknown. Lasts as long as the view. */
const char *cli_top_program(const struct conv_view *view);

/* cli_top_per_second - what a figure grew by within the interval. */
double cli_top_per_second(const struct cli_top_moment *moment, uint64_t now, uint64_t before);

/* ---- the busiest ---------------------------------------------------------------- */

struct cli_top_thread {
    const struct conv_view_process *process;
    uint32_t lane;
};

/* cli_top_threads - by events within the interval, then in all. ret_threads has room for `most`. Returns how many. */
size_t cli_top_threads(const struct conv_view *view, struct cli_top_thread *ret_threads, size_t most);

/* cli_top_processes - likewise; those that run first. */
size_t cli_top_processes(const struct conv_view *view, const struct conv_view_process **ret_processes,
                         size_t most);

struct cli_top_numbers {
    uint64_t processes_running, threads, threads_running;
};

/* cli_top_count - sums over the processes. */
struct cli_top_numbers cli_top_count(const struct conv_view *view);

#endif
