/* watch.h - processes of a recorded command's tree that are not recorded, and why.
 *
 *   look        a walk over the command's descendants, as /proc shows them
 *   obstacle    why a process has no recorder in it
 *
 *   note        what a process says itself: its recorder could not reach the recording, or it starts a program that
 *               can have none
 *
 * Looks miss a process that lives for less than a few milliseconds; notes miss one that is started by a process without
 * recorder, or by other calls than shim/exec.c knows. */
#ifndef MALLAB_CLI_WATCH_H
#define MALLAB_CLI_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/news.h"
#include "cli/notes.h"

#define CLI_WATCH_MAX 32 /* of each kind: programs named, and processes that need a second look */

struct cli_verb;

struct cli_unrecorded {
    char name[64];                   /* the executable's base name, or what it calls itself */
    char obstacle[CLI_NOTES_REASON]; /* text */
    bool guessed;                    /* from outside; a note of its own tells better */
    bool told;                       /* on stderr */
    pid_t pid;                       /* of the first one seen */
    uint64_t start_ticks;
    uint64_t seen_ns; /* CLOCK_MONOTONIC at its first look */
};

struct cli_watch {
    bool alone; /* only the command itself was to be recorded (--no-follow): the others are no surprise */
    bool over;  /* recording has ended for good, before the command */
    const char *only;            /* names that are to be recorded, patterns between commas; NULL: all */
    const struct cli_verb *verb; /* in whose name it is told what is found, while the command runs */
    const char *directory;       /* of the recording: found is kept there for others (unrecorded.h) */
    bool changed;                /* since then */
    struct cli_unrecorded found[CLI_WATCH_MAX], doubtful[CLI_WATCH_MAX];
    size_t found_count, doubtful_count;
    size_t more; /* programs beyond those */
};

/* cli_watch_until_end - wait until a child of ours can be waited for, looking at its tree meanwhile.
 * segment         path of the shared memory that recorded processes have mapped.
 * notes           descriptor of cli_notes_open, or -1.
 * news            of the collector; said as they come.
 * collector       waited for at once when it ends first, and then set to -1: the recorded processes take a dead
 *                 process that nobody waited for to be alive, and would wait for it. */
void cli_watch_until_end(struct cli_watch *watch, pid_t command, const char *segment, int notes,
                         struct cli_news *news, pid_t *collector, int *ret_collector_status);

/* cli_watch_take_notes - those that are there now. */
void cli_watch_take_notes(struct cli_watch *watch, pid_t command, int notes);

/* cli_watch_report - one line on stderr for each program that was not told while the command ran, with the reason: a recording may look whole and lack the
 * program that it was made for. */
void cli_watch_report(const struct cli_verb *verb, struct cli_watch *watch);

/* cli_watch_maps_file - whether a process has that file mapped; false also when it cannot be told. */
bool cli_watch_maps_file(pid_t pid, const char *path);

#endif
