/* collector.h - mallab-collect, as its starter sees it: our child, in its own session, untouched by Ctrl-C. */
#ifndef MALLAB_RECORD_COLLECTOR_H
#define MALLAB_RECORD_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "footprint/base/process.h"

/* The settings of a recording: those that the collector is told, and those that the recorder itself needs. */
struct rec_settings {
    const char *directory; /* NULL: ./mallab-NAME.PID */
    const char *shown;     /* where the directory is given as ".", as the user would write it; else NULL */
    bool numbered;         /* where that holds something, take DIRECTORY.2, .3 ... instead of failing */
    uint64_t memory_bytes; /* of the shared segment; 0: the collector's default. Likewise the others */
    uint64_t size_limit_bytes;
    uint64_t duration_ns;
    uint64_t window_ns; /* cut into windows so long; 0: not */
    uint64_t keep;      /* windows; 0: all */
    const char *label;  /* of this host (footprint/base/label.h); NULL: none */
    const char *only;   /* names of the programs to record, patterns between commas; NULL: all */
    bool paused;        /* begin without recording */
    bool attached;      /* to a program that ran already: end the recording when we end */
    int phases_fd; /* of that: gets REC_PHASE_BEGUN, and REC_PHASE_OVER when no more is recorded; 0: none */
    bool follow_cleared; /* into programs whose environment was cleared */
    bool no_follow;
    bool no_residency;    /* do not note how much of large objects is in memory */
    bool sites;           /* record the call stack of each allocation */
    uint64_t sites_bytes; /* or of a sample of this mean (footprint/fp/fp_sites.h); 0: all */
    const char *on_full;  /* "wait" or "drop"; NULL: default */
    int stdout_to;        /* for `ab`, whose own answer goes to stdout: as of struct fp_process_plan */
    const char *verb;     /* in whose name it is said on stderr what happens while the command runs */
    bool quiet;           /* say only where the recording is, if not where it was to be */
};

#define REC_PHASE_BEGUN 'b'
#define REC_PHASE_OVER  'o'

struct rec_collector {
    struct fp_process process;
    int control; /* its messages come by it (record/tree_watch.h); closed when the command has ended */
    char *segment;
    char *directory; /* another one than it was told, which was taken; else NULL */
    char *problem;
};

/* rec_collector_start - start it and wait until it is ready, or says why not.
 * program, directory   its file; where it is to record.
 * command              its process, which runs by then.
 * ret_collector        ended with rec_collector_release, whatever is returned; segment is set when it is ready, else problem.
 *                      directory and problem are the caller's. */
bool rec_collector_start(const struct rec_settings *settings, const char *program, const char *directory,
                         pid_t command, struct rec_collector *ret_collector);
void rec_collector_release(struct rec_collector *collector);

/* rec_sites_are_possible - whether call stacks can be recorded on this machine. */
bool rec_sites_are_possible(void);

/* rec_recover - if path is a recording whose collector was killed and whose shared memory is still there, let
 * mallab-collect write what it holds into the recording, telling on stderr in the name of `verb` how that went. Else
 * nothing happens: looking costs a file's reading.
 * Returns  whether something was recovered. */
bool rec_recover(const char *verb, const char *path);

#endif
