/* late_stack.h - the place of a stopped thread: what its stack leads through, and whether a function may be called there.
 *
 *   whole     the walk came by rules to the frame that has no caller
 *   safe      no frame but those that start a thread or main lies in libc, the loader or an allocator; or the innermost ones are
 *             libc's wrapper of a system call that waits and holds no lock of libc's
 *   clean     no frame is the recorder's
 *
 * x86-64. */
#ifndef MALLAB_RECORD_ATTACH_LATE_STACK_H
#define MALLAB_RECORD_ATTACH_LATE_STACK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

#include "record/attach/late_process.h"

enum late_place {
    LATE_PLACE_SAFE = 0,
    LATE_PLACE_LIBC,     /* within libc, the loader or an allocator */
    LATE_PLACE_RECORDER, /* within our library */
    LATE_PLACE_UNKNOWN, /* code without a table of frames, a signal's handler, another stack than a thread's own */
    LATE_PLACE_NARROW, /* too little room on its stack */
};

/* late_place_words - its words for people. Static. */
const char *late_place_words(enum late_place place);

/* late_stack_place - where a function might be called. The process's mappings are as late_process_refresh read them. */
enum late_place late_stack_place(struct late_process *process, const struct user_regs_struct *registers);

/* late_stack_is_clean - whether it is certain that the thread is not in our library, nor comes back into it.
 * restorer   to where libc's signal handlers return. */
bool late_stack_is_clean(struct late_process *process, const struct user_regs_struct *registers,
                         uint64_t restorer);

/* ---- the system call that it is in -----------------------------------------------------------------
 *
 * The kernel begins most calls anew that a stop has interrupted, but not behind a return from a signal's handler, as which a
 * thread comes back from what we make it call; and some end as interrupted wherever they are (signal(7)). So the registers are
 * set to where the call begins. registers: of a thread that stands still, as PTRACE_GETREGS has them. */

/* late_wait_may_call - whether the call is one that waits without a lock, and could be made again as it was.
 * ret_frames  so many of libc's may lie on the stack for it. */
bool late_wait_may_call(const struct late_process *process, const struct user_regs_struct *registers,
                        unsigned *ret_frames);

/* late_wait_is_partway - whether a stop could end the call with less done than was asked for, and its caller see that. */
bool late_wait_is_partway(const struct user_regs_struct *registers);

/* late_wait_look - the call that a thread waits in, without stopping it: its number, arguments but the first, rsp and rip. Returns
 * false where it runs. */
bool late_wait_look(const struct late_process *process, pid_t thread, struct user_regs_struct *ret);

/* late_wait_hears_all - whether a thread that stands still hears all signals: false where it waits for a signal (pause, sigsuspend) that a handler could
 * take before the call begins anew, which then would wait for ever. */
bool late_wait_hears_all(const struct late_process *process, pid_t thread,
                         const struct user_regs_struct *registers);

/* late_wait_is_lost - whether a call was interrupted of which it is not known how to begin it anew behind a return from a signal. */
bool late_wait_is_lost(const struct late_process *process, const struct user_regs_struct *registers);

/* late_wait_renew - set registers so that an interrupted call begins anew. Returns whether they are others than before. */
bool late_wait_renew(const struct late_process *process, pid_t thread, struct user_regs_struct *registers);

/* late_wait_mend - the same in a thread that is let go and makes no call, where the stop would be seen; else nothing. */
void late_wait_mend(const struct late_process *process, pid_t thread,
                    const struct user_regs_struct *registers);

#endif
