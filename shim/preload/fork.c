/* fork.c - what forks and ends of threads leave in the record.
 *
 * Laws of this file: fork handlers run in the program's fork(); they store one record and take no lock. A child
 * needs no handler of ours at all: it finds its lane wiped (lane.h) and attaches at its first call, also after a
 * raw clone. A child of vfork shares our memory and goes on in its parent's lane until it execs. */
#include "shim/preload/confine.h"
#include "shim/preload/lane_slow.h"

#include <limits.h>
#include <pthread.h>

#define KEYS_WITHOUT_MALLOC                                                                                  \
    32u /* glibc keeps the values of so many in the thread itself; others may take a system call */

static pthread_key_t exit_key;
static _Atomic uint32_t armed; /* inherited by children, as the handlers are: 0 no, 1 under way, 2 armed */
static _Atomic uint32_t forks;
static __thread uint32_t fork_number
    __attribute__((tls_model("initial-exec"))); /* under way; the child's copy */

/* Ours were registered at the first allocation, so they run last of all: next to the fork itself. */
static void before_fork(void)
{
    if (shim_lane == NULL && lane_attach() == NULL)
        return; /* not recorded, or in the middle of attaching */
    fork_number = atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed) + 1;
    lane_write_mark(FP_MARK_FORK, fork_number);
}

/* A child made by a raw clone later must not take this number for its own. */
static void after_fork_in_parent(void)
{
    fork_number = 0;
}

uint32_t fork_begin_process(void)
{
    const uint32_t number = fork_number;
    fork_number = 0;
    atomic_store_explicit(&forks, 0, memory_order_relaxed);
    return number;
}

/* Destructors of other keys may free after ours has run, so wait for the last iteration. */
static void at_thread_exit(void *value)
{
    struct lane *lane = value;
    if (lane != shim_lane)
        return; /* a child's thread that still carries its parent's */
    if (++lane->exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(exit_key, lane) == 0)
        return;
    lane_write_mark(FP_MARK_THREAD_EXIT, 0);
    /* libc frees a little more on this thread; the lane is given away only when the thread is gone. First the state: a signal
     * handler may open another chunk in between. */
    atomic_store_explicit(&lane->state, LANE_EXITED, memory_order_release);
    lane_set_gate(lane, GATE_RECORD);
    lane_leave_chunk(lane);
    lane_set_gate(lane, GATE_OPEN);
}

void fork_arm_process(void)
{
    uint32_t expected = 0;
    if (!atomic_compare_exchange_strong(&armed, &expected, 1))
        return;
    if (pthread_key_create(&exit_key, at_thread_exit) != 0)
        return; /* 1024 keys in use: threads end without a mark, their chunks are found by the collector */
    if (pthread_atfork(before_fork, after_fork_in_parent, NULL) != 0)
        return;
    atomic_store(&armed, 2);
}

void fork_arm_thread(struct lane *lane)
{
    if (atomic_load(&armed) != 2 || lane->armed || (confine_is_on() && exit_key >= KEYS_WITHOUT_MALLOC))
        return;
    lane->armed = true;
    (void)pthread_setspecific(exit_key, lane); /* on failure as above */
}
