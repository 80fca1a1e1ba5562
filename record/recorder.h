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

/* ---- signals that are sent to `mallab record` and meant for the command that it records (relay.c) ----
 *
 *   witness   a child of ours that takes signals and does nothing but remember them: what reached it too was sent to the
 *             whole process group, or to the whole control group, and so has reached the command by itself. Its comm and
 *             the first word of its command line are "signals"; it is in our process group, session and control group */

/* rec_relay_prepare - start the witness; before any descriptor is opened that somebody waits for the end of. Without one
 * (no process to be had) every signal counts as sent to us alone.
 * arguments   the command's, which the witness is shown with by ps(1), so that a pattern which finds the command by them
 *             finds both (pkill -f).
 * rec_relay_begin - from here on hand to the command what supervisors and containers stop, reload and rotate servers
 * with; one command at a time. What is ignored already, as under nohup, stays ignored. */
void rec_relay_prepare(char *const *arguments);
void rec_relay_begin(pid_t command);

/* rec_relay_pause - hand nothing on any more: the command has ended, and its number may become another's. */
void rec_relay_pause(void);

/* rec_relay_asked_to_end - the last SIGINT, SIGTERM or SIGHUP since rec_relay_prepare, to us or
 * to the group, but not from the command; 0: none. */
int rec_relay_asked_to_end(void);

/* rec_relay_end - dispositions as they were, and no witness any more; also after prepare alone. */
void rec_relay_end(void);

#endif
