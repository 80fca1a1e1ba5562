/* late_thread.h - one thread of a running program: stopped, looked at, let go (ptrace(2)).
 *
 * One that was stopped goes on, on every way out; the kernel sees to that where we are killed. x86-64. */
#ifndef MALLAB_RECORD_ATTACH_LATE_THREAD_H
#define MALLAB_RECORD_ATTACH_LATE_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/user.h>

#include "record/attach/late_process.h"

#define LATE_THREADS_MOST 8192u
#define LATE_STOP_MOST_NS UINT64_C(1000000000)

struct late_thread {
    pid_t id;
    bool seized, stopped;
    bool known; /* its registers */
    uint64_t
        since_ns; /* it stands still since then at the earliest: what was queued for a processor stood still without us */
    struct user_regs_struct registers;
};

enum late_stop {
    LATE_STOP_DONE,
    LATE_STOP_GONE,      /* it has ended, or another tracer has it */
    LATE_STOP_BY_SIGNAL, /* of the whole process, by SIGSTOP and its like */
    LATE_STOP_LATE,      /* not within a second: some system calls cannot be interrupted */
};

/* late_threads_list - the ids of a process's threads, at most so many. Returns how many; `most`: there may be more. */
size_t late_threads_list(const struct late_process *process, pid_t *ret_ids, size_t most);

/* late_thread_seize - take a thread, and ask it to stop. false: errno says why not. */
bool late_thread_seize(struct late_thread *thread);

/* late_thread_look - whether it stands still by now; LATE_STOP_LATE: not yet. Otherwise as late_thread_wait. */
enum late_stop late_thread_look(struct late_thread *thread);

/* late_thread_wait - until it stands still because of us; a signal that comes first is given to it. Its registers are known then. */
enum late_stop late_thread_wait(struct late_thread *thread);

/* late_thread_let_go - it goes on, untraced. One that has not stopped yet would stay stopped: that is waited for, however long it
 * takes. Nothing where it was not seized. */
void late_thread_let_go(struct late_thread *thread);

#endif
