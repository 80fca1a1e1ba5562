/* recorder.h - run a command with the shim in it and a collector beside it.
 *
 *   command    the recorded program: our child, in our process group, as if started by the shell
 *   collector  mallab-collect: our child too, in its own session, untouched by Ctrl-C
 *
 * The command is forked first and waits on a pipe, because the default directory carries its process id; it is
 * let go when the collector has said that it is ready. It holds no descriptor of ours once it runs. */
#ifndef MALLAB_CLI_RECORDER_H
#define MALLAB_CLI_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/watch.h"

struct cli_record {
    const char *directory; /* NULL: ./mallab-NAME.PID */
    uint64_t memory_bytes; /* of the shared segment; 0: the collector's default. Likewise the others */
    uint64_t size_limit_bytes;
    uint64_t duration_ns;
    uint64_t window_ns; /* cut into windows so long; 0: not */
    uint64_t keep;      /* windows; 0: all */
    const char *only;   /* names of the programs to record, patterns between commas; NULL: all */
    bool paused;        /* begin without recording */
    bool no_follow;
    const char *order;     /* "epochs" or "stamps"; NULL: default */
    const char *on_full;   /* "wait" or "drop"; NULL: default */
    bool stdout_to_stderr; /* for `ab`, whose own answer goes to stdout */
};

struct cli_recorded {
    int code; /* 0: the command ran; else 125-127 and problem is set */
    char *problem;
    int status;          /* as from waitpid, of the command */
    char *directory;     /* of the recording; absolute when not given */
    pid_t still_running; /* another process of the tree that still runs, and the collector with it; 0: none */
    pid_t collector;
    struct cli_watch watch; /* what was seen not to be recorded */
    int collector_status;   /* as from waitpid; 0 when it ended as it should, and while it runs on */
};

/* cli_record_run - record a command to its end.
 * path        file to execute (cli_target_find); arguments: argv, arguments[0] included.
 * ret         strings are the caller's: cli_recorded_release. */
void cli_record_run(const struct cli_record *record, const char *path, char *const *arguments,
                    struct cli_recorded *ret);
void cli_recorded_release(struct cli_recorded *recorded);

/* What the recording says of itself, from its recording.json; of an unfinished one, what its footprints hold. */
struct cli_totals {
    bool known;      /* either could be read */
    bool unfinished; /* events is then about right: some marks are no events; bytes, lost and stalls are 0 */
    bool complete;
    uint64_t events, processes, bytes, lost, stalls;
    double bytes_per_event;
    char lost_by_cause[256]; /* "disk_full 12, size_limit 3"; "" when nothing was lost */
    uint64_t unattached;     /* processes that were more than can be recorded at one time */
    uint64_t others;         /* processes whose names `only` leaves out */
    char other_names[256];   /* "'a', 'b'": of some of them */
    uint64_t pauses, paused_ns;
    uint64_t windows, windows_removed, events_removed;
    char silent[256]; /* "'a', 'b'": programs that loaded the recorder and made no call */
};

/* cli_record_totals - read them. */
struct cli_totals cli_record_totals(const char *directory);

#endif
