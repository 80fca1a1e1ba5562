/* collector.h - mallab-collect, as its starter sees it: our child, in its own session, untouched by Ctrl-C. */
#ifndef MALLAB_RECORD_COLLECTOR_H
#define MALLAB_RECORD_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cli_record;

struct cli_collector {
    pid_t pid;
    int control; /* closed when the command has ended; it sends news by it (record/collector_messages.h) */
    char *segment;
    char *directory; /* another one than it was told, which was taken; else NULL */
    char *problem;
};

/* cli_collector_start - start it and wait until it is ready, or says why not.
 * program, directory   its file; where it is to record.
 * not_its_own          two descriptors of ours that it is not to keep.
 * library              of the directory of a copy of the shim, which it is to keep (footprint/base/library_copy.h); -1: none.
 * ret_collector        strings are the caller's, whatever is returned; segment is set when it is ready, else problem. */
bool cli_collector_start(const struct cli_record *record, const char *program, const char *directory,
                         const int *not_its_own, int library, struct cli_collector *ret_collector);

/* cli_collector_ends - whether it ends within that time; ret_status is set then, as from waitpid. */
bool cli_collector_ends(const struct cli_collector *collector, uint64_t within_ns, int *ret_status);

#endif
