/* late_call.h - a thread of a running program made to call a function, as a signal handler is called.
 *
 *   frame   what the kernel lays on the stack for a handler: below it the function's return address, which is libc's own
 *           return from signals. All registers, those of SSE and AVX among them, and the mask of signals stand in it
 *   call    the frame is written while the thread is stopped, then its registers are set at once. From there on it needs nobody:
 *           the function runs, returns, and the thread goes on where it was, also when we are killed
 *
 * A system call that the stop has interrupted begins anew behind the function, as behind a handler with SA_RESTART. Signals are
 * blocked in the thread while the function runs. One that was stopped goes on, on every way out; the kernel sees to that where we
 * are killed. x86-64. */
#ifndef MALLAB_RECORD_ATTACH_LATE_CALL_H
#define MALLAB_RECORD_ATTACH_LATE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "record/attach/late_process.h"

/* ---- one thread: stopped, looked at, let go (ptrace(2)) ----------------------------------------- */

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

/* ---- calls ---------------------------------------------------------------------------------------- */

#define LATE_TEXT_MOST 1024u

struct late_call {
    uint64_t function;
    const char *text; /* its first argument, below LATE_TEXT_MOST bytes */
    uint64_t number;  /* its second one */
};

struct late_cost {
    uint64_t stopped_ns; /* while a tracer held threads */
    unsigned looks;      /* at how many threads */
};

/* late_call_restorer - libc's return from signals; 0: it was not found. */
uint64_t late_call_restorer(const struct late_process *process);

/* late_call_safely - find a thread in a safe place (late_stack.h), one after the other, within a time, and let it make the call.
 * Returns  whether a thread is making it; else ret_problem says why none does, the caller's. */
bool late_call_safely(struct late_process *process, const struct late_call *call, uint64_t within_ns,
                      struct late_cost *ret_cost, char **ret_problem);

/* late_call_alone - stop all threads; where none is in our library let one make the call, wherever it is, while the others stay
 * stopped. For functions that make system calls only.
 * is_done      whether what the function is for is done, told of `data`: asked before, too.
 * within_ns    for so long it is tried.
 * ret_problem  why it was not called, the caller's; NULL on success.
 * Returns      whether the call was made to its end. */
bool late_call_alone(struct late_process *process, const struct late_call *call, bool (*is_done)(void *data),
                     void *data, uint64_t within_ns, struct late_cost *ret_cost, char **ret_problem);

/* late_frame_begin - lay the frame on the thread's stack and set its registers, once, when the frame stands. From then on it makes
 * the call when it is let go, whatever becomes of us.
 * restorer  to where signals' handlers return.
 * Returns   false where the thread was left as it was: in a restartable sequence (rseq(2)), in a call that cannot be begun anew,
 *           with registers that cannot be kept, or with a stack that cannot be written. */
bool late_frame_begin(const struct late_process *process, const struct late_thread *thread,
                      const struct late_call *call, uint64_t restorer);

#endif
