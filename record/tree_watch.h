/* tree_watch.h - while a recorded command runs: which of its processes are not recorded and why, and what the collector says.
 *
 *   look       a walk over the command's descendants, as /proc shows them
 *   obstacle   why a process has no recorder in it
 *   note       what a process itself tells the collector: its recorder could not reach the recording, or it starts a
 *              program that can have none. What a look finds is told in the same way. The collector keeps the list
 *   message    a line of the collector's, on the socket by which it also notices our end: "stopped CAUSE NS",
 *              "resumed NS", "unrecorded INDEX PID NAME\tWHY" (shim/collect/collect_tell.c). It is said on stderr when it
 *              comes, as nobody would know later why a night is missing
 *
 * Looks miss a process that lives for a few milliseconds only. Notes miss one that is started by a process without
 * recorder, or by a call that shim/preload/exec.c does not know. */
#ifndef MALLAB_RECORD_TREE_WATCH_H
#define MALLAB_RECORD_TREE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "footprint/base/process.h"

#define REC_WATCH_MAX      32 /* processes of which nobody knows yet */
#define REC_UNRECORDED_MAX 32 /* programs named */

/* A program of the tree that is not recorded. */
struct rec_unrecorded {
    char name[64]; /* as text */
    char why[256];
    pid_t pid; /* of the first one; 0: not known */
    bool told; /* on stderr */
    uint64_t heard_ns;
};

struct rec_messages {
    const char *verb; /* in whose name it is said on stderr */
    bool quiet;       /* say nothing but what is not recorded */
    int fd;           /* of the collector's; -1: none */
    char line[512];   /* what has come of the next one */
    size_t length;
    bool seen; /* the collector has looked at the command, which has ended */
    bool over; /* recording has ended for good: what is not recorded from here on is no surprise */
    struct rec_unrecorded unrecorded[REC_UNRECORDED_MAX];
    size_t unrecorded_count;
};

struct rec_look {
    char name[64]; /* the executable's base name */
    const char *obstacle;
    bool guessed; /* it may be recorded yet, and a note of its own tells better */
    pid_t pid;
    uint64_t start_ticks;
};

#define REC_PRINTED_MOST (64 << 20) /* bytes kept of what a command prints on a file of ours */
struct rec_watch {
    bool alone;     /* only the command itself is to be recorded (--no-follow) */
    int printed_to; /* file of ours that the command prints on; below 1: none */
    struct rec_messages messages;
    struct rec_look doubtful[REC_WATCH_MAX];
    size_t doubtful_count;
};

/* rec_messages_take - say what has come, without waiting. A program that is not recorded is named after two seconds, or
 * by rec_messages_report: a short command's own output comes first. */
void rec_messages_take(struct rec_messages *messages);

/* rec_messages_wait_seen - after the collector was told that the command has ended: wait for its answer, a moment at most. */
void rec_messages_wait_seen(struct rec_messages *messages);

/* rec_messages_report - one line for each program that was not named while the command ran, with the reason. */
void rec_messages_report(struct rec_messages *messages);

/* rec_watch_tell - tell the collector that a process is not recorded, and why, as the process would itself.
 * path  of its executable. */
void rec_watch_tell(pid_t pid, const char *path, const char *why, const char *segment);

/* rec_watch_until_end - wait until `command` can be waited for; look at its tree and say what the collector tells.
 * segment     path of the shared memory that recorded processes have mapped.
 * collector   waited for at once when it ends first: the recorded processes take a dead process that nobody waited for
 *             to be alive, and would wait for it. */
void rec_watch_until_end(struct rec_watch *watch, pid_t command, const char *segment,
                         struct fp_process *collector);

/* rec_start_ticks - when a process began, in clock ticks since the machine did; 0: there is none, or it has ended. */
uint64_t rec_start_ticks(pid_t pid);

/* rec_watch_maps_file - whether a process has that file mapped; false also when it cannot be told. */
bool rec_watch_maps_file(pid_t pid, const char *path);

#endif
