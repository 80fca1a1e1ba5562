/* collect_options.h - the command line of mallab-collect. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_OPTIONS_H
#define MALLAB_SHIM_COLLECT_COLLECT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct collect_options {
    const char *out;
    uint64_t memory_bytes;
    uint64_t max_size_bytes; /* 0: none */
    uint64_t duration_ns;    /* 0: none */
    uint64_t command_pid;    /* of the command that is recorded, a child of our starter's; 0: not known */
    uint64_t leader_pid;     /* 0: whoever attaches first */
    int ready_fd;            /* -1: none */
    int control_fd;          /* -1: none */
    bool attached;        /* to a program that ran already: the control descriptor's end is our starter's */
    bool no_follow;       /* SEG_FLAG_NO_FOLLOW */
    bool drop;            /* SEG_FLAG_DROP */
    bool no_residency;    /* not SEG_FLAG_RESIDENT */
    bool sites;           /* SEG_FLAG_SITES */
    uint64_t sites_bytes; /* seg_fixed.sites_bytes */
    bool no_tsc;          /* CLOCK_MONOTONIC even where the TSC would serve */
    bool unique;          /* take another directory when `out` holds something */
    bool join;            /* hand out the segment of a recording that is going on in `out` */
    bool recover;         /* take over what a killed collector left of `out` */
    bool paused;          /* begin without recording, until told to start */
    uint64_t window_ns;   /* a new window so often; 0: one for all */
    uint64_t keep;        /* windows kept, the present one among them; 0: all */
    const char *only;     /* as --only says, for recording.json; the shim has it from its environment */
    const char *label;    /* of the host (footprint/base/label.h); NULL: none */
};

extern const char COLLECT_USAGE[];

/* collect_parse_number - decimal digits up to `most`, and nothing else. */
bool collect_parse_number(const char *text, uint64_t most, uint64_t *ret_number);

/* collect_parse_options - the command line. Text is borrowed from argv; slashes at the directory's end are cut off there.
 * Returns 0 to go on, 1 when help was asked for, 2 on misuse. */
int collect_parse_options(int argc, char **argv, struct collect_options *ret_options);

#endif
