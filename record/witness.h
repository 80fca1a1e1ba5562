/* witness.h - the process that tells whether a signal was sent to more than us; see relay.h.
 *
 * Its comm and the first word of its command line are "signals"; it is in our process group, in our session and in our
 * control group, and ends when we do. */
#ifndef MALLAB_RECORD_WITNESS_H
#define MALLAB_RECORD_WITNESS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#define CLI_WITNESS_NS 100000000 /* between the first and the last process of a control group that is told */

struct cli_witness {
    pid_t pid; /* 0: there is none */
    int fd;    /* questions out, answers in */
};

/* cli_witness_start - fork it. signals: those that it is asked about; arguments: see cli_relay_prepare. */
void cli_witness_start(struct cli_witness *witness, const sigset_t *signals, char *const *arguments);

/* cli_witness_saw - whether it got this signal from the same sender, and was not asked about it before
 * (or only just now, as two may have come as one); or gets it within
 * CLI_WITNESS_NS, so waits that long when it does not. Async-signal-safe; signals are to be blocked. */
bool cli_witness_saw(const struct cli_witness *witness, int number, pid_t sender);

/* cli_witness_end - end it, and wait for it. */
void cli_witness_end(struct cli_witness *witness);

#endif
