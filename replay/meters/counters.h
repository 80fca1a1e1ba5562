/* counters.h - what processor and kernel count of a run: cycles, instructions, cache, TLB and branch misses,
 * migrations between processors.
 *
 * From first op to last, of all threads (perf_event_open, inherited by threads made later). The harness's
 * decoding and planning is included: `none` has the same, so the difference to it is the allocator's. The
 * kernel's part is included where kernel.perf_event_paranoid allows it, else the count is of user code and
 * says so. Page faults and context switches are not here: getrusage tells them everywhere (meters.h). */
#ifndef MALLAB_REPLAY_METERS_COUNTERS_H
#define MALLAB_REPLAY_METERS_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#define REP_COUNTERS 6u

struct rep_counter {
    const char *name; /* a key of JSON */
    int descriptor;
    int sys_errno; /* why there is none: of perf_event_open; 0 when there is one */
    bool user_only;
    uint64_t count; /* where the kernel shared one counter among several, scaled to the whole run */
    double share;   /* of the run that it really counted: below 1 the count is an estimate */
};

struct rep_counters {
    struct rep_counter counters[REP_COUNTERS];
};

/* rep_counters_init - open what there is; before any thread. rep_counters_start - all from 0, on.
 * rep_counters_stop - off; fills counts. */
void rep_counters_init(struct rep_counters *counters);
void rep_counters_start(struct rep_counters *counters);
void rep_counters_stop(struct rep_counters *counters);

/* rep_counter_why - why there is none, in words: of rep_counter's sys_errno. */
const char *rep_counter_why(int sys_errno);

#endif
