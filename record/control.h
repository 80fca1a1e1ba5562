/* control.h - a recording that goes on, from outside: pause it, go on, cut a window, end it, ask for fresh figures.
 *
 *   request   a signal to the collector (shim/collect/collect_loop.c): it takes the right to signal it, and the
 *             recorded program notices nothing
 *   answer    recording.json counts by kind what was heeded: so one who paused it knows that it was heeded, although
 *             another has let it go on since
 *   proof     that a process is the collector of the recording, before a signal is sent to it, as recording.json only
 *             names a process id. The process is held by a descriptor, so that its id cannot become another's. While it
 *             is held it was seen to be ours, to run mallab-collect, and to have started when the file says; and the
 *             lock of the recording's segment is held */
#ifndef MALLAB_RECORD_CONTROL_H
#define MALLAB_RECORD_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum rec_request {
    REC_REQUEST_STATUS, /* write every call made so far, and recording.json anew */
    REC_REQUEST_PAUSE,
    REC_REQUEST_RESUME,
    REC_REQUEST_WINDOW, /* begin a new window, in a recording with windows */
    REC_REQUEST_END,    /* finish the recording; its processes run on */
};

struct rec_proof {
    pid_t collector; /* 0: none is proven */
    int pidfd;       /* -1: the kernel has none; then it is proven again before each signal */
};

struct rec_control {
    char *directory;
    struct rec_proof proof;
    json_t *recording; /* recording.json, as it was read last */
};

enum rec_control_state {
    REC_CONTROL_OPEN,
    REC_CONTROL_ENDED,  /* the recording has ended in good order, and recording holds its figures */
    REC_CONTROL_KILLED, /* its collector has gone before it had finished */
    REC_CONTROL_FAILED,
};

/* rec_control_open - find the collector of a recording that goes on.
 * ret_problem  one line unless REC_CONTROL_OPEN; the caller's to free.
 * End it with rec_control_release, whatever it returned. */
enum rec_control_state rec_control_open(const char *directory, struct rec_control *ret_control,
                                        char **ret_problem);
void rec_control_release(struct rec_control *control);

/* rec_control_ask - send a request and wait for the answer, which is in control->recording then.
 * within_ns    so long at most.
 * Returns      whether it was answered; if not, ret_problem is one line, the caller's to free. */
bool rec_control_ask(struct rec_control *control, enum rec_request request, uint64_t within_ns,
                     char **ret_problem);

/* rec_control_do - the same, for as long as such an answer may take, and with fresh figures. */
bool rec_control_do(struct rec_control *control, enum rec_request request, char **ret_problem);

/* rec_status_text - how a recording stands, by its recording.json, in lines for people. alive: its collector is at work. The
 * caller's to free.
 * rec_status_json - the same as an object (docs/schema/mallab-status-1.schema.json). A new reference. */
char *rec_status_text(const json_t *recording, bool alive);
json_t *rec_status_json(const json_t *recording, bool alive);

#endif
