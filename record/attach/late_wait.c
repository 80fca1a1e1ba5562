/* late_wait.c - numbers of system calls, and what the kernel leaves in the registers of one that was interrupted.
 *
 * Laws of this file: late_wait.h has them. */
#include "record/attach/late_wait.h"

#if defined(__x86_64__)

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "footprint/base/support.h"

/* The call that a thread is in. One that was interrupted before goes on as restart_syscall(2), which a return from a signal ends with
 * EINTR: its own number stands in the code before it, as libc has it. -1: none, or it is not known. */
static long call_of(const struct late_process *process, const struct user_regs_struct *registers)
{
    enum { MOVE = 0xb8, SYSCALL_BYTES = 2, CODE_BYTES = 7 };
    unsigned char code[CODE_BYTES];
    uint32_t number;
    if ((long)registers->orig_rax != SYS_restart_syscall)
        return (long)registers->orig_rax;
    if (!late_process_read(process, registers->rip - CODE_BYTES, code, sizeof code) || code[0] != MOVE ||
        memcmp(code + CODE_BYTES - SYSCALL_BYTES, "\x0f\x05", SYSCALL_BYTES) != 0)
        return -1;
    memcpy(&number, code + 1, sizeof number);
    return number == SYS_nanosleep || number == SYS_clock_nanosleep || number == SYS_poll ||
                   number == SYS_futex
               ? (long)number
               : -1;
}

bool late_wait_may_call(const struct late_process *process, const struct user_regs_struct *registers,
                        unsigned *ret_frames)
{
    *ret_frames = 1;
    switch (call_of(process, registers)) {
    case SYS_pause:
    case SYS_rt_sigsuspend: /* late_wait_hears_all */
    case SYS_read:          /* stdio's, which hold a file's lock, lie deeper */
    case SYS_recvfrom:
    case SYS_recvmsg:
        return true;
    case SYS_wait4:
        *ret_frames = 2;
        return true;
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
    case SYS_accept:
    case SYS_accept4:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
        *ret_frames = 3;
        return true;
    /* With a mask of signals a repeated call could miss what the first one let through. */
    case SYS_ppoll:
        *ret_frames = 3;
        return registers->r10 == 0;
    case SYS_epoll_pwait:
        *ret_frames = 3;
        return registers->r8 == 0;
    /* For a condition, a semaphore, a thread's end, until a moment; malloc and the loader wait for their locks in another way. */
    case SYS_futex:
        *ret_frames = 3;
        return (registers->rsi & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
    case SYS_pselect6: {
        uint64_t mask = 0;
        *ret_frames = 3;
        return registers->r9 == 0 ||
               (late_process_read(process, registers->r9, &mask, sizeof mask) && mask == 0);
    }
    default:
        return false;
    }
}

bool late_wait_is_lost(const struct late_process *process, const struct user_regs_struct *registers)
{
    return (long)registers->orig_rax == SYS_restart_syscall && call_of(process, registers) < 0;
}

static uint64_t mask_in_status(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    return at != NULL ? strtoull(at + strlen(word), NULL, 16) : 0;
}

/* The caller's; empty where it cannot be read. */
static char *status_of(const struct late_process *process, pid_t thread)
{
    char name[64];
    snprintf(name, sizeof name, "task/%d/status", (int)thread);
    char *text = late_proc_read(process->pid, name, NULL);
    return text != NULL ? text : res_strdup("");
}

/* Whether a signal waits for the thread, for which a call that was interrupted is to end as such. */
static bool has_signal(const struct late_process *process, pid_t thread)
{
    char *text = status_of(process, thread);
    const uint64_t waits = mask_in_status(text, "\nSigPnd:") | mask_in_status(text, "\nShdPnd:");
    const bool has = strstr(text, "\nSigBlk:") == NULL || (waits & ~mask_in_status(text, "\nSigBlk:")) != 0;
    free(text);
    return has;
}

/* While a thread is in such a call /proc has the mask that the call set, and ptrace(2) the one that it goes back to: a signal that
 * the latter blocks waits for the call that begins anew. The two of libc's own (cancel, setxid) wake nobody. */
bool late_wait_hears_all(const struct late_process *process, pid_t thread,
                         const struct user_regs_struct *registers)
{
    enum { LIBC_SIGNALS = 3, FIRST = 31 };
    uint64_t blocked = 0;
    if ((long)registers->orig_rax != SYS_pause && (long)registers->orig_rax != SYS_rt_sigsuspend)
        return true;
    char *status = status_of(process, thread);
    const bool known = strstr(status, "\nSigCgt:") != NULL && strstr(status, "\nSigBlk:") != NULL &&
                       ptrace(PTRACE_GETSIGMASK, thread, (void *)sizeof blocked, &blocked) == 0;
    const uint64_t missed = known
                                ? mask_in_status(status, "\nSigCgt:") & ~mask_in_status(status, "\nSigBlk:") &
                                      ~blocked & ~((uint64_t)LIBC_SIGNALS << FIRST)
                                : 1;
    free(status);
    return missed == 0;
}

/* Calls that end as interrupted when a thread was only stopped (signal(7)): nobody sees that if they begin anew. */
static bool ends_by_stop(const struct late_process *process, const struct user_regs_struct *registers)
{
    unsigned frames;
    switch ((long)registers->orig_rax) {
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_io_getevents:
    case SYS_rt_sigtimedwait:
        return true;
    default:
        return late_wait_may_call(process, registers, &frames);
    }
}

bool late_wait_renew(const struct late_process *process, pid_t thread, struct user_regs_struct *registers)
{
    enum { RESTARTS = 512, RESTARTS_NOT = 513, RESTARTS_WITHOUT = 514, RESTARTS_BY_BLOCK = 516 };
    const long result = (long)registers->rax;
    const long number = call_of(process, registers);
    if (number < 0)
        return false;
    const bool restarts = result == -RESTARTS || result == -RESTARTS_NOT || result == -RESTARTS_WITHOUT ||
                          result == -RESTARTS_BY_BLOCK;
    if (!restarts && !(result == -EINTR && ends_by_stop(process, registers) && !has_signal(process, thread)))
        return false;
    registers->rax = (unsigned long)number;
    registers->rip -= 2;
    return true;
}

/* A stop may have ended a call that nothing else has ended. Only such a one: the others the kernel begins anew itself. */
void late_wait_mend(const struct late_process *process, pid_t thread,
                    const struct user_regs_struct *registers)
{
    struct user_regs_struct renewed = *registers;
    if ((long)registers->rax != -EINTR || !late_wait_renew(process, thread, &renewed))
        return;
    renewed.orig_rax = (unsigned long)-1;
    (void)ptrace(PTRACE_SETREGS, thread, NULL, &renewed); /* else it ends as interrupted */
}

#endif
