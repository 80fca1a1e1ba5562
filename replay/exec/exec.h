/* exec.h - execute a workload: its threads as threads, its windows one after the other.
 *
 *   at rest   between two windows: every thread has finished its part, none has begun the next
 *   opener    the thread that finished a window last, or the first thread at the start. It ends the
 *             window (at_rest) and lets the next begin
 *   prepare   to fetch and plan the next window: beside the current one, by a thread whose processor no
 *             part needs. With serial it is done in between
 *   baton     the right to be running. There are as many as processors; a thread that finishes or must
 *             wait hands its baton to a thread whose part has not begun. So no thread is preempted by
 *             another within a timed run
 *
 * A recorded thread becomes a real one when its first part starts. It ends after its last, through the
 * allocator's thread exit, if its exit was recorded. The process's first thread executes the recorded
 * main thread and nothing else.
 *
 * Stacks and states are mapped by rep_exec_init. pthread_create calls the malloc under test once, for
 * the vector of thread-local storage (some 300 bytes), as it did in the recorded program. */
#ifndef MALLAB_REPLAY_EXEC_EXEC_H
#define MALLAB_REPLAY_EXEC_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "footprint/wl/workload.h"
#include "replay/clock/real.h"
#include "replay/exec/latency_pass.h"
#include "replay/exec/loop.h"
#include "replay/exec/promise_check.h"
#include "replay/exec/window_plan.h"

/* An op that the allocator answered with NULL, or a thread that could not be created. */
struct rep_failure {
    uint64_t op;              /* number within the workload, from 0 */
    uint32_t thread;          /* of the workload */
    const struct wl_op *call; /* NULL: it is a thread */
    int sys_errno;            /* as the allocator left it; or why there is no thread */
    const char *problem;      /* of a checking run: which promise was broken; NULL: it was NULL */
};

/* Times of one window, once it is over. */
struct rep_window_times {
    uint64_t allocator_ticks;          /* timed runs of all threads, the clock's cost subtracted */
    uint64_t runs;                     /* how many there were */
    uint64_t preempted_ns, blocked_ns; /* of the first: real.h */
    bool timed; /* false: all of the window comes before the start, see rep_exec_options */
};

struct rep_exec_options {
    const struct rep_loop *loop;
    const struct rep_clock *clock;
    const struct wl_summary *summary;
    uint64_t untimed_ops;    /* at the begin: windows of these alone count in ops and digest only */
    struct rep_check *check; /* executes all ops one by one, and nothing is timed; NULL: do not check */
    bool serial;             /* all ops on the calling thread, in the one recorded order */
    unsigned processors;
    struct rep_latency *latency; /* of the latency pass; NULL in others */
    bool recorded_clock;         /* the allocator is told recorded time, step by step: recorded.h */

    /* Hand out the next window, as wl_reader_next does: what it points at lasts until the call after the
     * next. By any thread, one at a time, while others execute the window before. */
    enum fp_status (*next)(void *context, struct wl_window *ret_window);
    /* A window is over and all threads rest. By any thread; must not use the allocator. */
    void (*at_rest)(void *context, const struct wl_window *window, const struct rep_window_times *times);
    /* The run cannot go on. By any thread, in the midst of others; must not return. */
    __attribute__((noreturn)) void (*fail)(void *context, const struct rep_failure *failure);
    void *context;
};

/* The totals of a run. */
struct rep_exec_totals {
    uint64_t ops, untimed_ops;
    /* Timed windows only. The fields below count in them too, but for the digest and threads_started. */
    uint64_t windows;
    uint64_t timed_runs;
    uint64_t waits;      /* how often a thread found another's op not yet done */
    uint64_t wait_ticks; /* how long, summed over threads */
    uint64_t lives_ns;   /* processor time of threads' births and ends, and of the allocator's own threads */
    uint64_t prepare_ns; /* fetching and planning windows; with serial nothing else runs then */
    uint64_t prepare_faults_minor, prepare_faults_major; /* page faults of that, not the allocator's */
    uint64_t digest;
    uint32_t threads_started;
    uint32_t threads_at_once; /* the most */
};

struct rep_exec;

/* rep_exec_init - map everything that the run will need. options is borrowed until rep_exec_end.
 * Returns   NULL when it does not fit into memory. */
struct rep_exec *rep_exec_init(const struct rep_exec_options *options);

/* rep_exec_run - execute all windows; afterwards the threads still alive rest.
 * Returns   FP_OK; what options.next returned if that was neither FP_OK nor FP_END; FP_ERR_CORRUPT when a
 *           window breaks a promise of the summary. */
enum fp_status rep_exec_run(struct rep_exec *exec);

/* rep_exec_where - tell a signal handler in which ops the calling thread is, by their numbers within the
 * workload. A timed run is known as a whole only; a checking one to the op. False when it is in none. */
bool rep_exec_where(uint64_t *ret_first, uint64_t *ret_last, uint32_t *ret_thread);

/* rep_exec_end - let the threads that are left end, and add up. Only after rep_exec_run returned FP_OK. */
void rep_exec_end(struct rep_exec *exec, struct rep_exec_totals *ret_totals);

#endif
