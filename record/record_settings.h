/* record_settings.h - how a command is to be recorded; the part of it that the collector is told, and the recorder's own. Types only. */
#ifndef MALLAB_RECORD_RECORD_SETTINGS_H
#define MALLAB_RECORD_RECORD_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

struct rec_settings {
    const char *directory; /* NULL: ./mallab-NAME.PID */
    bool numbered;         /* where that holds something, take DIRECTORY.2, .3 ... instead of failing */
    uint64_t memory_bytes; /* of the shared segment; 0: the collector's default. Likewise the others */
    uint64_t size_limit_bytes;
    uint64_t duration_ns;
    uint64_t window_ns; /* cut into windows so long; 0: not */
    uint64_t keep;      /* windows; 0: all */
    const char *only;   /* names of the programs to record, patterns between commas; NULL: all */
    bool paused;        /* begin without recording */
    bool no_follow;
    bool no_residency;     /* do not note how much of large objects is in memory */
    const char *order;     /* "epochs" or "stamps"; NULL: default */
    const char *on_full;   /* "wait" or "drop"; NULL: default */
    bool stdout_to_stderr; /* for `ab`, whose own answer goes to stdout */
    bool stdout_dropped;   /* for `validate`, whose runs of the command are all alike */
    const char *verb;      /* in whose name it is said on stderr what happens while the command runs */
    bool quiet;            /* say only where the recording is, if not where it was to be */
};

#endif
