/* record_report.h - the content of a recording, and what is said of it on stderr when its command has ended. */
#ifndef MALLAB_RECORD_RECORD_REPORT_H
#define MALLAB_RECORD_RECORD_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "record/recorder.h"

#define REC_NAMES_BYTES 256

/* The totals of recording.json; of an unfinished recording those of its footprints. */
struct rec_totals {
    bool known; /* either could be read */
    uint64_t events, processes, bytes,
        lost; /* of an unfinished one events is about right, bytes and lost are 0 */
    char lost_by_cause[REC_NAMES_BYTES]; /* "disk_full 12, size_limit 3"; "" when nothing was lost */
    uint64_t unattached;                 /* processes that were more than can be recorded at one time */
    uint64_t others;                     /* processes whose names `only` leaves out */
    char other_names[REC_NAMES_BYTES];   /* "'a', 'b'": of some of them */
    uint64_t pauses, paused_ns;
    bool attached;       /* to a program that ran already */
    char stopped_by[16]; /* as rec_stop has it; "": nothing stopped it before the command's end */
    uint64_t stopped_ns; /* since recording began */
    uint64_t windows, windows_removed, events_removed, duration_ns;
    char silent[REC_NAMES_BYTES]; /* "'a', 'b'": programs that loaded the recorder and made no call */
};

/* rec_totals_read - read them. */
struct rec_totals rec_totals_read(const char *directory);

/* rec_report - the summary, in the name of `verb`. What a killed collector left is written
 * first. quiet: only what is missing. */
void rec_report(const char *verb, const struct rec_recorded *recorded, bool quiet);

/* rec_say_why_nothing - why a recording holds no call. others_were_not: some programs could not
 * be recorded. */
void rec_say_why_nothing(const char *verb, const char *directory, const struct rec_totals *totals,
                         bool others_were_not);

#endif
