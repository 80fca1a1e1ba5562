/* replay_options.h - the command line of mallab-replay-NAME. */
#ifndef MALLAB_REPLAY_REPLAY_OPTIONS_H
#define MALLAB_REPLAY_REPLAY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/proof/settings.h"
#include "replay/system/run_limit.h"

enum rep_exit {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_MISUSE = 2,
    EXIT_BAD_INPUT = 3,
};

/* All text is borrowed from argv. */
struct rep_options {
    const char *workload; /* NULL with settings_only */
    const char *candidate;
    const char *expected_library; /* NULL: what this program is linked against */
    const char *proof_kind;       /* NULL: by what is expected */
    unsigned idle_ms, timeout_s;  /* 0: no idle time; no timeout */
    unsigned processors;          /* that the allocator is told of; 0: those of the recording */
    struct rep_limit_options limit;
    bool recorded_clock;
    bool expects_clock;
    bool settings_only; /* check those that were given, and end */
    bool unproven;      /* settings of which the allocator tells nothing may pass */
    bool json, serial, check, waste, report_failure;
    bool latency;                  /* a pass of its own, as check is */
    struct rep_settings *settings; /* the caller's: named and expected ones are noted there */
};

/* rep_options_parse - fill options from the command line; calls no malloc. Ends the program for --help and, with a line
 * on stderr, for misuse.
 * settings  zeroed by the caller; borrowed for the options' life. */
void rep_options_parse(int argc, char **argv, struct rep_settings *settings, struct rep_options *ret_options);

#endif
