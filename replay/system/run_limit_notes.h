/* run_limit_notes.h - what a run leaves for whoever started it, should the kernel kill it for want of memory.
 *
 * A page that both map: the run writes it at each window's end, when all threads rest; a process that is killed says
 * nothing more. Its reader takes it for numbers and nothing else. */
#ifndef MALLAB_REPLAY_SYSTEM_RUN_LIMIT_NOTES_H
#define MALLAB_REPLAY_SYSTEM_RUN_LIMIT_NOTES_H

#include <stdatomic.h>
#include <stdint.h>

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
