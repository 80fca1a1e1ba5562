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
#include <sys/types.h>

#include "record/collector.h"
#include "record/tree_watch.h"

struct rec_recorded {
    int code; /* 0: the command ran; else 125-127, problem is set, and at 125 it did not begin to run */
    char *problem;
    int status;          /* as from waitpid, of the command */
    char *directory;     /* of the recording; absolute when not given */
    char *shown;         /* the same as the user would write it */
    pid_t still_running; /* another process of the tree that still runs, and the collector with it; 0: none */
    pid_t collector;
    struct rec_watch watch; /* what was seen not to be recorded */
    const char *
        ended_by; /* what ended it, where we did and the recording can only say --end; static; NULL: it says it itself */
    int collector_status; /* as from waitpid; 0 when it ended as it should, and while it runs on */
};

/* rec_run - record a command to its end.
 * path        file to execute (rec_target_find); arguments: argv, arguments[0] included.
 * ret         strings are the caller's: rec_recorded_release. */
void rec_run(const struct rec_settings *record, const char *path, char *const *arguments,
             struct rec_recorded *ret);
void rec_recorded_release(struct rec_recorded *recorded);

/* rec_recorded_take_place - where the collector took another directory than it was told, it becomes the recording's. That is
 * told even if we are to be quiet: the one that was named is there too, and holds something else. */
void rec_recorded_take_place(const struct rec_settings *settings, const struct rec_collector *collector,
                             struct rec_recorded *recorded);

#endif
