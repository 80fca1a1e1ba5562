/* confine_calls.h - the moment at which a process confines itself.
 *
 * A filter is noticed where the program puts it up through libc: prctl(2), or syscall(2) with the numbers of seccomp and
 * prctl, which is what libseccomp and browsers do. One that is put up by instructions of the program's own is not seen.
 * One that fails to be put up confines nobody. */
#ifndef MALLAB_SHIM_PRELOAD_CONFINE_CALLS_H
#define MALLAB_SHIM_PRELOAD_CONFINE_CALLS_H

enum confine_what {
    CONFINE_CALLS = 1, /* system calls are about to be filtered */
    CONFINE_CLOCK = 2, /* the time stamp counter is about to be forbidden */
};

/* confine_begin - call before `what` (joined) comes into force: makes ready what takes system calls, and waits, for a bounded
 * time, until no other thread makes any. */
void confine_begin(unsigned what);

#endif
