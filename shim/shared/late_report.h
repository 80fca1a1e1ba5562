/* late_report.h - the report of a library that was loaded into a running program to the one that attached it (record/attach), who reads
 * it in the program's memory, by the library's symbol LATE_REPORT_NAME.
 *
 * The program can write anything into it: the reader takes no address and no length from it, and ends each text itself. */
#ifndef MALLAB_SHIM_SHARED_LATE_REPORT_H
#define MALLAB_SHIM_SHARED_LATE_REPORT_H

#include <stdint.h>

#define LATE_REPORT_NAME  "mallab_late_report"
#define LATE_BEGIN_NAME   "mallab_late_begin"
#define LATE_END_NAME     "mallab_late_end"
#define LATE_FORGET_NAME  "mallab_late_forget"
#define LATE_MAGIC        UINT64_C(0x324554414c42414d) /* "MABLATE2" in memory order */
#define LATE_SEGMENT      256u
#define LATE_REASON       512u
#define LATE_LEFT         512u
#define LATE_WORDS        32u /* functions of the malloc family */
#define LATE_REQUEST_MOST 1024u

/* The order in which they follow each other, and begin anew. */
enum late_state {
    LATE_IDLE = 0,    /* no slot is ours, no thread is in our code, no shared memory is mapped */
    LATE_BUSY = 1,    /* one of the calls is under way */
    LATE_ON = 2,      /* slots are ours, and what comes is recorded while the recording goes on */
    LATE_LEAVING = 3, /* slots are their owners' again; threads may still be in our code */
};

struct late_report {
    uint64_t magic;
    uint32_t state;      /* enum late_state */
    uint32_t recorded;   /* of the last begin: the process joined the recording; else reason says why not */
    uint64_t done;       /* the ticket of the last call that has come to its end; stored last */
    uint64_t slots;      /* that were turned to us, by the last begin */
    uint64_t slots_left; /* of the malloc family that were not: they lead elsewhere, or cannot be told */
    uint64_t modules;    /* that slots were turned in */
    uint64_t theirs[LATE_WORDS]; /* turned from, by the last begin: words that hold it call past us */
    char left_in[LATE_LEFT];     /* the modules of slots_left, and how many in each */
    char segment[LATE_SEGMENT];  /* of the last begin */
    char reason[LATE_REASON];
};

#endif
