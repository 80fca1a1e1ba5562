/* collector_messages.h - what becomes of a recording while its command runs, said when it happens: recording has stopped, goes on, lacks a
 * program, or its collector has died. Later nobody would know why a night is missing.
 *
 *   line   of the collector's, on the socket that it also watches for our end: "stopped CAUSE NS", "resumed NS",
 *          "unrecorded INDEX PID NAME\tWHY" */
#ifndef MALLAB_RECORD_COLLECTOR_MESSAGES_H
#define MALLAB_RECORD_COLLECTOR_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
    bool over; /* recording has ended for good: what is not recorded from here on is no surprise */
    struct rec_unrecorded unrecorded[REC_UNRECORDED_MAX];
    size_t unrecorded_count;
};

/* rec_messages_take - say what has come; without waiting. A program that is not recorded is said after two seconds, or by
 * rec_messages_report: of a short command it is told when its own output is over. */
void rec_messages_take(struct rec_messages *messages);

/* rec_messages_of_death - the collector has ended, and the command has not. status: as from waitpid. */
void rec_messages_of_death(struct rec_messages *messages, int status);

/* rec_messages_report - one line for each program that was not told while the command ran, with the reason. */
void rec_messages_report(struct rec_messages *messages);

#endif
