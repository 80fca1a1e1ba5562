/* late_record.h - record a program that runs already: attach, wait, let go of it.
 *
 *   attach   libmallab-late.so is loaded by the program's own loader, joins a recording, and turns the slots by which the
 *            program's modules call the malloc family (shim/preload/late.c)
 *   let go   the slots are as they were; the recording ends; when no thread is in the library any more its shared memory goes.
 *            The library stays loaded, idle
 *
 * At any moment we may be killed: the program goes on, and the collector ends the recording, after which a call through the
 * library costs little. What is left undone then is done by the next one who attaches. */
#ifndef MALLAB_RECORD_ATTACH_LATE_RECORD_H
#define MALLAB_RECORD_ATTACH_LATE_RECORD_H

#include "record/recorder.h"

#define LATE_WITHIN_NS UINT64_C(5000000000) /* for so long a safe place is looked for, where nobody said */

struct late_told {
    uint64_t slots, slots_left, modules;
    char *left_in;            /* the modules of slots_left, and how many in each; the caller's */
    uint64_t longest_stop_ns; /* for which one thread, or at the end all, did nothing of its own */
    int asked_to_end;         /* the signal that ended the recording; 0: none */
    bool ended;               /* the program ended before we let go of it */
    bool executed;            /* of `ended`: it goes on as another program */
    bool idle;                /* the library is idle, and holds nothing; else problem says why not */
    char *problem;            /* the caller's; NULL: none */
};

/* late_record - record a process until its end, --duration, the recording's end, or a signal that ends us.
 * within_ns   for so long a safe place is looked for; 0: LATE_WITHIN_NS.
 * ret         as rec_run has it; code is REC_FAILED with problem set where nothing was begun.
 * ret_told    likewise the caller's. */
void late_record(const struct rec_settings *settings, pid_t pid, uint64_t within_ns, struct rec_recorded *ret,
                 struct late_told *ret_told);

/* late_default_directory - where it records to when nobody said. The caller's. */
char *late_default_directory(pid_t pid);

#endif
