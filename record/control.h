/* control.h - a recording that goes on, from outside: pause it, go on, cut a window, end it, ask for fresh figures.
 *
 *   answer   recording.json counts what it heeded by kind, so that one who paused it knows it was heeded although another
 *            has let it go on since
 *
 * Requests are signals to the collector (shim/collect/collect_control.c), which answers in recording.json; so they need the
 * right to signal it, and the recorded program notices nothing. */
#ifndef MALLAB_RECORD_CONTROL_H
#define MALLAB_RECORD_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/collector_proof.h"

enum cli_request {
    CLI_REQUEST_STATUS, /* write every call made so far, and recording.json anew */
    CLI_REQUEST_PAUSE,
    CLI_REQUEST_RESUME,
    CLI_REQUEST_WINDOW, /* begin a new window, in a recording with windows */
    CLI_REQUEST_END,    /* finish the recording; its processes run on */
};

struct cli_control {
    char *directory;
    struct cli_proof proof;
    json_t *recording; /* recording.json, as it was read last */
};

enum cli_control_state {
    CLI_CONTROL_OPEN,
    CLI_CONTROL_ENDED,  /* the recording has ended in good order, and recording holds its figures */
    CLI_CONTROL_KILLED, /* its collector has gone before it had finished */
    CLI_CONTROL_FAILED,
};

/* cli_control_open - find the collector of a recording that goes on.
 * ret_problem  one line unless CLI_CONTROL_OPEN; the caller's to free.
 * End it with cli_control_release, whatever it returned. */
enum cli_control_state cli_control_open(const char *directory, struct cli_control *ret_control,
                                        char **ret_problem);
void cli_control_release(struct cli_control *control);

/* cli_control_ask - send a request and wait for the answer, which is in control->recording then.
 * within_ns    so long at most.
 * Returns      whether it was answered; if not, ret_problem is one line, the caller's to free. */
bool cli_control_ask(struct cli_control *control, enum cli_request request, uint64_t within_ns,
                     char **ret_problem);

/* cli_control_stop - why nothing is recorded although a program runs, "disk_full", "size_limit", "duration" or "end", and
 * since when, as recording.json has it; NULL: it is recorded. Valid as long as recording. */
const char *cli_control_stop(const json_t *recording, uint64_t *ret_after_ns);

/* cli_control_stop_words - the same for people, behind "recording stopped after 3 s, ". Valid to the end. */
const char *cli_control_stop_words(const char *stop);

/* cli_control_is_paused - as control->recording says. cli_control_windows - the present window's number, 0 without. */
bool cli_control_is_paused(const struct cli_control *control);
uint64_t cli_control_windows(const struct cli_control *control);

#endif
