/* target.h - can this command be recorded, before it is started.
 *
 * The shim gets into a program by LD_PRELOAD, which the dynamic loader honours: not in static programs, not in
 * programs that change their user, group or capabilities when they start, not across machine types. Such a program
 * would run and leave an empty recording, so it is refused with the remedy. */
#ifndef MALLAB_RECORD_TARGET_H
#define MALLAB_RECORD_TARGET_H

#include <stdbool.h>

/* Exit codes that `record` keeps for itself, as env(1) does. */
enum rec_exit {
    REC_FAILED = 125, /* it could not be recorded, and did not begin to run */
    REC_NOT_EXECUTABLE = 126,
    REC_NOT_FOUND = 127,
};

struct rec_target {
    char *path;    /* what to execute; set when code is 0 */
    int code;      /* 0: can be recorded; else the exit code for `record` (125, 126, 127) */
    char *problem; /* one line when code is not 0 */
};

/* rec_target_find - look a command up as execvp does, follow '#!' to the interpreter, look at its ELF header.
 * Only what is known before the start is checked: what the program starts in turn is not.
 * ret_target  strings are the caller's: rec_target_release. */
void rec_target_find(const char *command, struct rec_target *ret_target);
/* rec_target_obstacle - why the recorder cannot be preloaded into an executable; NULL when it can.
 * ret_sure   false where it depends on who runs it. */
const char *rec_target_obstacle(int fd, bool *ret_sure);

/* rec_target_sanitizer - why a program is run without the recorder: a sanitizer's library would
 * end it. NULL: it is not. The caller's to free. */
char *rec_target_sanitizer(const char *path);

void rec_target_release(struct rec_target *target);

#endif
