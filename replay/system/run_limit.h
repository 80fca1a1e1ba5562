/* run_limit.h - less memory than the machine has, as a container would give. One of two ways:
 *
 *   RLIMIT_DATA  counts the private writable memory that a process has mapped, resident or not. So it is
 *                stricter than a container's limit with allocators that map ahead of need: calls fail
 *   group        a control group that whoever started us made (results/measure/run/control_group.c): the
 *                kernel counts what is resident in it, and kills at the limit, as in a container
 *   base         what the group holds that is the harness': its usage, less what the kernel can take back
 *                (cache), less what the allocator had when it was loaded. Page tables and kernel stacks
 *                that come with the allocator's memory are not in it: they count, as in a container
 *
 * Either limit is the allocator's: what the harness maps for itself between rep_limit_begin and
 * rep_limit_set is added, stacks of its threads among it. What the allocator took when it was loaded is
 * its own (docs/notes/results.md). */
#ifndef MALLAB_REPLAY_SYSTEM_RUN_LIMIT_H
#define MALLAB_REPLAY_SYSTEM_RUN_LIMIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct rep_limit_options {
    uint64_t bytes;    /* 0: none */
    const char *group; /* directory; NULL: RLIMIT_DATA */
    int notes_fd;      /* of a struct rep_limit_notes; -1: nobody reads it */
};

struct rep_limit {
    const char *by;       /* "RLIMIT_DATA", "cgroup v1" or "cgroup v2" */
    uint64_t bytes;       /* 0: there is none, and the rest means nothing */
    uint64_t base_bytes;  /* the harness' own, which is added */
    uint64_t early_bytes; /* the allocator had this before: where it is more than bytes nothing can run */
    bool has_peak;        /* of a group whose kernel tells */
    uint64_t peak_bytes;  /* highest usage, less base_bytes */
    uint64_t at_limit;    /* how often the kernel took pages back, in a group: each could have been a kill */
};

/* rep_limit_begin - the allocator is loaded and proven, the harness has mapped nothing yet: join the group.
 * options   borrowed until rep_limit_lift; bytes 0: nothing is done, here and in the others.
 * Returns   false when it cannot be joined; errno is set. */
bool rep_limit_begin(const struct rep_limit_options *options);

/* rep_limit_set - from now on the process may have the bytes, and what the harness has.
 * Returns   false when the kernel does not tell or refuses; errno is set. */
bool rep_limit_set(struct rep_limit *ret_limit);

/* rep_limit_lift - back to what it was before rep_limit_set; nothing when it was not called, or is lifted.
 * limit     of a group: peak and at_limit are filled; NULL: nobody asks. */
void rep_limit_lift(struct rep_limit *limit);

/* rep_limit_progress - a window is over. ops, live_bytes, live_objects: executed so far; live at its end. */
void rep_limit_progress(uint64_t ops, uint64_t live_bytes, uint64_t live_objects);

/* rep_limit_workload - what the notes say of the workload. Before rep_limit_set. */
void rep_limit_workload(uint64_t ops, uint64_t window_ops_max);

/* ---- what a run leaves for whoever started it, should the kernel kill it for want of memory ----
 *
 * A page that both map: the run writes it at each window's end, when all threads rest. Its reader takes it for numbers. */

/* Relaxed: the reader looks when the writer has ended. */
struct rep_limit_notes {
    _Atomic uint64_t begun;          /* 1: the limit is set, ops are executed */
    _Atomic uint64_t base_bytes;     /* of the harness, in the group's usage */
    _Atomic uint64_t early_bytes;    /* of the allocator when it was loaded, which is not in that */
    _Atomic uint64_t ops, ops_done;  /* of the workload; at the last window's end */
    _Atomic uint64_t window_ops_max; /* of its largest window: none after the last end is further on */
    _Atomic uint64_t live_bytes, live_objects; /* at that end */
};

#endif
