/* syscalls.h - the syscalls pass: what the allocator asks of the kernel, counted by kind.
 *
 *   watcher   the process that was started. The run is a child of it, and the kernel tells the watcher of
 *             every system call of the child before it is carried out (seccomp user notification). So
 *             every thread is seen, the allocator's own too, and calls that no symbol can catch, as
 *             glibc's of its own brk and mmap
 *   memory    the calls that change the address space: counted of all threads, from first op to last. The
 *             harness makes none there. With `none` those of the C library's malloc are counted, which
 *             serves the creation of threads where no other allocator does
 *   futex, other  counted of a thread of the harness only while it executes ops; of the allocator's own
 *             threads always. So the harness's own waiting, sampling and preparing are left out
 *
 * Not counted: what begins and ends a thread (clone, exit, rseq, set_robust_list, rt_sigprocmask),
 * rt_sigreturn, and clocks, which the kernel sees only where the vdso cannot tell them. A call takes some
 * 5 us more: no time of such a run means anything. The filter stays until the end. One a process. */
#ifndef MALLAB_REPLAY_SYSTEM_SYSCALLS_H
#define MALLAB_REPLAY_SYSTEM_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

enum rep_syscall_kind {
    REP_SYSCALL_MMAP,
    REP_SYSCALL_MUNMAP,
    REP_SYSCALL_MREMAP,
    REP_SYSCALL_MADVISE,
    REP_SYSCALL_MPROTECT,
    REP_SYSCALL_BRK,
    REP_SYSCALL_FUTEX,
    REP_SYSCALL_OTHER,
    REP_SYSCALL_KINDS,
};

extern const char *const rep_syscall_names[REP_SYSCALL_KINDS];

struct rep_syscalls {
    bool active;
    char why[160]; /* why not, when it is not */
    struct rep_syscalls_shared *shared;
};

/* rep_syscalls_init - become two processes; nothing is counted yet. Before any thread and any mapping of ours; calls
 * no malloc. The first process never returns from it: it ends with the code, or by the signal, of the child.
 * Returns   true in the child; false, in whichever process goes on, with `why` set where it is refused. */
bool rep_syscalls_init(struct rep_syscalls *syscalls);

/* rep_syscalls_count - from now on (true), or no longer. At rest. */
void rep_syscalls_count(struct rep_syscalls *syscalls, bool on);

/* rep_syscalls_inside - this thread of the harness executes ops (true), or does what is the harness's own. */
void rep_syscalls_inside(struct rep_syscalls *syscalls, bool inside);

/* rep_syscalls_of - how many of a kind. After the last op. */
uint64_t rep_syscalls_of(const struct rep_syscalls *syscalls, enum rep_syscall_kind kind);

#endif
