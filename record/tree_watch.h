/* tree_watch.h - processes of a recorded command's tree that are not recorded, and why.
 *
 *   look        a walk over the command's descendants, as /proc shows them
 *   obstacle    why a process has no recorder in it
 *
 *   note        what a process says itself to the collector: its recorder could not reach the recording, or it starts a
 *               program that can have none. What a look finds is told to the collector in the same way, which keeps the
 *               list, has it in recording.json, and tells us of it in a message (shim/collect/collect_tell.c)
 *
 * Looks miss a process that lives for less than a few milliseconds; notes miss one that is started by a process without
 * recorder, or by other calls than shim/preload/exec.c knows. */
#ifndef MALLAB_RECORD_TREE_WATCH_H
#define MALLAB_RECORD_TREE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "footprint/base/process.h"
#include "record/collector_messages.h"

#define REC_WATCH_MAX 32 /* processes that need a second look */

struct rec_look {
    char name[64]; /* the executable's base name */
    const char *obstacle;
    bool guessed; /* a note of its own tells better */
    pid_t pid;
    uint64_t start_ticks;
    uint64_t seen_ns; /* CLOCK_MONOTONIC at its first look */
};

struct rec_watch {
    bool alone; /* only the command itself is to be recorded (--no-follow) */
    struct rec_messages messages;
    struct rec_look doubtful[REC_WATCH_MAX];
    size_t doubtful_count;
};

/* rec_watch_tell - tell the collector that a process is not recorded, and why, as the process would itself.
 * path  of its executable. */
void rec_watch_tell(pid_t pid, const char *path, const char *why, const char *segment);

/* rec_watch_until_end - wait until a child of ours can be waited for, looking at its tree meanwhile, and say what the collector
 * has to tell.
 * segment         path of the shared memory that recorded processes have mapped.
 * collector       waited for at once when it ends first: the recorded processes take a dead
 *                 process that nobody waited for to be alive, and would wait for it. */
void rec_watch_until_end(struct rec_watch *watch, pid_t command, const char *segment,
                         struct fp_process *collector);

/* rec_watch_maps_file - whether a process has that file mapped; false also when it cannot be told. */
bool rec_watch_maps_file(pid_t pid, const char *path);

#endif
