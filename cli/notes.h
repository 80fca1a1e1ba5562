/* notes.h - what processes of a recorded tree say when they cannot be recorded.
 *
 *   note   a datagram, "NAME\0REASON", of a process whose recorder could not reach the recording, or that becomes a
 *          program without one; "NAME\0REASON\0" of one that starts such a child (shim/note.c, shim/exec.c)
 *
 * They come from processes of any user: bytes and numbers are believed no further than that they are shown. */
#ifndef MALLAB_CLI_NOTES_H
#define MALLAB_CLI_NOTES_H

#include <stdbool.h>
#include <sys/types.h>

#define CLI_NOTES_NAME   40  /* of the socket, as $MALLAB_NOTES has it */
#define CLI_NOTES_REASON 208 /* what is kept of a reason */

struct cli_note {
    char program[64];
    char reason[CLI_NOTES_REASON];
    pid_t pid; /* as this process sees it; 0 unknown */
};

/* cli_notes_open - a socket to be told at.
 * ret_name  what the processes are to find in $MALLAB_NOTES.
 * Returns   the descriptor, close-on-exec and never waiting; -1 where there can be none: then they say it on stderr. */
int cli_notes_open(char ret_name[CLI_NOTES_NAME]);

/* cli_notes_take - the next note that is there. Returns false when there is none. */
bool cli_notes_take(int fd, struct cli_note *ret_note);

#endif
