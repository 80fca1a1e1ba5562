/* confine.h - processes that may no longer make every system call, or read the time stamp counter.
 *
 *   confined   the process put itself behind a seccomp filter, or into strict mode, or began behind filters that the
 *              collector is not behind. A system call that the program would not make itself may end it: from there on
 *              nothing of ours makes one, in this process and its forked children, and what it takes is made ready before
 *   no clock   prctl(PR_SET_TSC) or strict mode: rdtsc is a SIGSEGV, also inside clock_gettime. The time is then the
 *              collector's, which it steps in shared memory, some milliseconds late
 *   section    a piece of a slow path that makes system calls. It is entered only where the process is not confined, and a
 *              filter is put up only when no thread is in one: with SECCOMP_FILTER_FLAG_TSYNC it is every thread's
 *
 * Nothing here calls malloc or changes errno. */
#ifndef MALLAB_SHIM_PRELOAD_CONFINE_H
#define MALLAB_SHIM_PRELOAD_CONFINE_H

#include "shim/preload/shim.h"

#pragma GCC visibility push(hidden) /* as in shim.h */

/* Ordinary memory: forked children inherit it as they do the filters. */
struct shim_confine {
    _Atomic uint32_t filters;  /* put up, or about to be; counted, because several threads may try */
    _Atomic uint32_t no_clock; /* likewise */
    _Atomic uint64_t floor;    /* the clock when it was last read: it does not go back */
};

extern struct shim_confine shim_confine;

static inline bool confine_is_on(void)
{
    return unlikely(get_relaxed(&shim_confine.filters) != 0);
}

/* confine_may_call - enter a section: whether system calls may be made. If so, confine_called leaves it. */
bool confine_may_call(void);
void confine_called(void);

/* confine_left - a jump has left the sections that the calling thread was in, if any. */
void confine_left(void);

/* confine_knows_time - whether the clock has to come from shared memory; then it is put into ret_clock, in the segment's
 * units, never less than confine_begin saw. */
bool confine_knows_time(uint64_t *ret_clock);

/* confine_thread_id - the calling thread's id without a system call, as libc knows it; 0: it does not tell. Of a child that a
 * raw clone made it is the parent's. */
uint32_t confine_thread_id(void);

/* confine_rest - a moment of a loop that waits without a system call. */
void confine_rest(void);

/* filters_let_pass - whether this process, as it began, is behind no seccomp filter, or behind the same ones as the collector. Looked
 *                    at once in an image.
 *                    tried: behind how many the collector made the call unharmed; 0: it is behind none, or did not.
 * filters_confine - whether it is known to be behind others. */
bool filters_let_pass(uint32_t tried);
bool filters_confine(uint32_t tried);

/* A filter is noticed where the program puts it up through libc: prctl(2), or syscall(2) with the numbers of seccomp and
 * prctl, which is what libseccomp and browsers do. One that is put up by instructions of the program's own is not seen.
 * One that fails to be put up confines nobody. */
enum confine_what {
    CONFINE_CALLS = 1, /* system calls are about to be filtered */
    CONFINE_CLOCK = 2, /* the time stamp counter is about to be forbidden */
};

/* confine_begin - call before `what` (joined) comes into force: makes ready what takes system calls, and waits, for a bounded
 * time, until no other thread makes any. */
void confine_begin(unsigned what);

#pragma GCC visibility pop

#endif
