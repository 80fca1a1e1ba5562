/* collector.h - mallab-collect, as its starter sees it: our child, in its own session, untouched by Ctrl-C. */
#ifndef MALLAB_RECORD_COLLECTOR_H
#define MALLAB_RECORD_COLLECTOR_H

#include <stdbool.h>

#include "footprint/base/process.h"

struct rec_settings;

struct rec_collector {
    struct fp_process process;
    int control; /* closed when the command has ended; its messages come by it (record/collector_messages.h) */
    char *segment;
    char *directory; /* another one than it was told, which was taken; else NULL */
    char *problem;
};

/* rec_collector_start - start it and wait until it is ready, or says why not.
 * program, directory   its file; where it is to record.
 * library              of the directory of a copy of the shim, which it is to keep (footprint/base/library_copy.h); -1: none.
 * ret_collector        ended with rec_collector_release, whatever is returned; segment is set when it is ready, else problem.
 *                      directory and problem are the caller's. */
bool rec_collector_start(const struct rec_settings *settings, const char *program, const char *directory,
                         int library, struct rec_collector *ret_collector);
void rec_collector_release(struct rec_collector *collector);

/* rec_recover - if path is a recording whose collector was killed and whose shared memory is still there, let
 * mallab-collect write what it holds into the recording, telling on stderr in the name of `verb` how that went. Else
 * nothing happens: looking costs a file's reading.
 * Returns  whether something was recovered. */
bool rec_recover(const char *verb, const char *path);

#endif
