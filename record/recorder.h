/* recorder.h - run a command with the shim in it and a collector beside it.
 *
 *   command    the recorded program: our child, in our process group, as if started by the shell
 *   collector  mallab-collect: our child too, in its own session, untouched by Ctrl-C
 *
 * The command is forked first and waits on a pipe, because the default directory carries its process id; it is
 * let go when the collector has said that it is ready. It holds no descriptor of ours once it runs. */
#ifndef MALLAB_RECORD_RECORDER_H
#define MALLAB_RECORD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/watch.h"

struct cli_record {
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
    bool no_residency;           /* do not note how much of large objects is in memory */
    const char *order;           /* "epochs" or "stamps"; NULL: default */
    const char *on_full;         /* "wait" or "drop"; NULL: default */
    bool stdout_to_stderr;       /* for `ab`, whose own answer goes to stdout */
    bool stdout_dropped;         /* for `validate`, whose runs of the command are all alike */
    const struct cli_verb *verb; /* in whose name it is said on stderr what happens while the command runs */
    bool quiet;                  /* say only where the recording is, if not where it was to be */
};

struct cli_recorded {
    int code; /* 0: the command ran; else 125-127, problem is set, and at 125 it did not begin to run */
    char *problem;
    int status;          /* as from waitpid, of the command */
    char *directory;     /* of the recording; absolute when not given */
    char *shown;         /* the same as the user would write it */
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

/* cli_above_standard - another number, from 3 up, for a descriptor that took one of the standard ones: the user may have
 * started us with those closed, and CMD is to find them so. Returns it, or fd itself; -1 with errno set. */
int cli_above_standard(int fd);

/* cli_make_pipe - pipe2(2) with O_CLOEXEC and both ends above the standard ones. cli_close_end - close it if it is open,
 * and set it to -1. */
bool cli_make_pipe(int *ret_ends);
void cli_close_end(int *fd);

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
    char stopped_by[16]; /* as cli_control_stop has it; "": nothing stopped it before the command's end */
    uint64_t stopped_ns; /* since recording began */
    uint64_t windows, windows_removed, events_removed;
    char silent[256]; /* "'a', 'b'": programs that loaded the recorder and made no call */
};

/* cli_record_report - the summary on stderr; what a killed collector left is written first. quiet: only what is missing. */
void cli_record_report(const struct cli_recorded *recorded, bool quiet);

/* cli_record_warn_of_nothing - why a recording holds no call, on stderr. others_were_not: programs of the tree could not be recorded. */
void cli_record_warn_of_nothing(const struct cli_verb *verb, const char *directory,
                                const struct cli_totals *totals, bool others_were_not);

/* cli_record_totals - read them. */
struct cli_totals cli_record_totals(const char *directory);

#endif
