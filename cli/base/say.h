/* say.h - lines on stderr: messages in the name of a verb, and one line that says how far long work is. */
#ifndef MALLAB_CLI_BASE_SAY_H
#define MALLAB_CLI_BASE_SAY_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/cli.h"
#include "convert/convert.h"

/* cli_say - "mallab VERB: ..." and a newline on stderr; verb NULL: "mallab: ...". */
void cli_say(const struct cli_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* cli_misuse - the same, then the hint. Returns CLI_MISUSE. */
int cli_misuse(const struct cli_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* cli_say_problem - the same of words that are freed then. Returns CLI_FAILED. */
int cli_say_problem(const struct cli_verb *verb, char *problem);

/* ---- progress: only for people, only after a second; rewritten in place, and removed at the end so that nothing of it stays
 * among the messages ---- */

struct cli_progress {
    bool enabled;
    bool shown;
    uint64_t begin_ns, last_ns;
    const char *what; /* of a conversion */
};

/* cli_progress_begin - start the clock. quiet: nothing is shown, as where stderr is no terminal. */
void cli_progress_begin(struct cli_progress *progress, bool quiet);

/* cli_progress_of - the same, and `options` are to show how far a reading of events is, in the words `what`. */
void cli_progress_of(struct cli_progress *progress, const char *what, bool quiet,
                     struct conv_options *options);

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
