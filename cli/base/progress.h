/* progress.h - one line on stderr that says how far long work is: only for people, only after a second.
 *
 * The line is rewritten in place and removed at the end, so that nothing of it stays among the messages. */
#ifndef MALLAB_CLI_BASE_PROGRESS_H
#define MALLAB_CLI_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct cli_progress {
    bool enabled;
    bool shown;
    uint64_t begin_ns, last_ns;
};

/* cli_progress_begin - start the clock. quiet: nothing is shown, as where stderr is no terminal. */
void cli_progress_begin(struct cli_progress *progress, bool quiet);

/* cli_progress_show - how far it is.
 * what         a few words.
 * unit, count  what is counted for the rate, and how many so far: "events"; NULL, 0: no rate is shown.
 * done, total  share of the whole, in whatever it is measured in; total 0: unknown, then neither share nor remaining
 *              time is shown. The remaining time is at the rate so far.
 * Shown at most ten times a second. */
void cli_progress_show(struct cli_progress *progress, const char *what, const char *unit, uint64_t count,
                       uint64_t done, uint64_t total);

/* cli_progress_end - take the line away. */
void cli_progress_end(struct cli_progress *progress);

#endif
