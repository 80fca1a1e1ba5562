/* late_wait.c - numbers of system calls, and what the kernel leaves in the registers of one that was interrupted.
 *
 * Laws of this file: late_process.h has them. */
#include "record/attach/late_process.h"

#if defined(__x86_64__)

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "footprint/base/proc.h"
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

/* Calls that wait, which nobody sees begin anew: of some the kernel begins none anew that a stop has interrupted (signal(7)), or not
 * where its socket has a timeout. frames: so many of libc's may lie on the stack where a call is made from there; 0: none is, since
 * a lock of libc's or of the program's may be held, or a stop ends it with less than it was to do, which is seen. */
/* clang-format off */
static const struct {
    short number, frames;
} WAITS[] = {
    {SYS_pause, 1}, {SYS_rt_sigsuspend, 1}, {SYS_read, 1}, {SYS_recvfrom, 1}, {SYS_recvmsg, 1},
    {SYS_wait4, 2}, {SYS_poll, 3}, {SYS_select, 3}, {SYS_epoll_wait, 3}, {SYS_accept, 3}, {SYS_accept4, 3},
    {SYS_nanosleep, 3}, {SYS_clock_nanosleep, 3}, {SYS_ppoll, 3}, {SYS_epoll_pwait, 3}, {SYS_futex, 3},
    {SYS_pselect6, 3}, {SYS_epoll_pwait2, 0}, {SYS_readv, 0}, {SYS_connect, 0}, {SYS_semop, 0},
    {SYS_semtimedop, 0}, {SYS_io_getevents, 0}, {SYS_io_pgetevents, 0}, {SYS_rt_sigtimedwait, 0},
    {SYS_write, 0}, {SYS_writev, 0}, {SYS_sendto, 0}, {SYS_sendmsg, 0}, {SYS_sendmmsg, 0}, {SYS_sendfile, 0},
    {SYS_splice, 0}, {SYS_recvmmsg, 0}, {SYS_io_uring_enter, 0},
};
/* clang-format on */

static int row_of(long number)
{
    int row = (int)(sizeof WAITS / sizeof WAITS[0]);
    while (--row >= 0 && WAITS[row].number != number)
        ;
    return row;
}

bool late_wait_may_call(const struct late_process *process, const struct user_regs_struct *registers,
                        unsigned *ret_frames)
{
    const int row = row_of(call_of(process, registers));
    uint64_t mask = 0;
    *ret_frames = row >= 0 ? (unsigned)WAITS[row].frames : 1;
    if (*ret_frames == 0 || row < 0)
        return false;
    switch (WAITS[row].number) {
    case SYS_recvfrom:
        return (registers->r10 & MSG_WAITALL) == 0;
    case SYS_recvmsg:
        return (registers->rdx & MSG_WAITALL) == 0;
    /* A repeated call with a mask of signals could miss what the first one let through. */
    case SYS_ppoll:
        return registers->r10 == 0;
    case SYS_epoll_pwait:
        return registers->r8 == 0;
    case SYS_pselect6:
        return registers->r9 == 0 ||
               (late_process_read(process, registers->r9, &mask, sizeof mask) && mask == 0);
    /* This waits for a condition, a semaphore, a thread's end, or a moment; malloc and the loader wait for their locks in another way. */
    case SYS_futex:
        return (registers->rsi & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
    default:
        return true;
    }
}

bool late_wait_look(const struct late_process *process, pid_t thread, struct user_regs_struct *ret)
{
    unsigned long long words[8];
    char name[64];
    long number;
    snprintf(name, sizeof name, "task/%d/syscall", (int)thread);
    char *text = late_proc_read(process->pid, name, NULL);
    const bool waits = text != NULL && sscanf(text, "%ld %llx %llx %llx %llx %llx %llx %llx %llx", &number,
                                              &words[0], &words[1], &words[2], &words[3], &words[4],
                                              &words[5], &words[6], &words[7]) == 9;
    free(text);
    *ret = (struct user_regs_struct){0};
    if (!waits)
        return false;
    ret->orig_rax = (unsigned long)number;
    ret->rsi = words[1];
    ret->rdx = words[2];
    ret->r10 = words[3];
    ret->r8 = words[4];
    ret->r9 = words[5];
    ret->rsp = words[6];
    ret->rip = words[7];
    return true;
}

bool late_wait_is_lost(const struct late_process *process, const struct user_regs_struct *registers)
{
    return (long)registers->orig_rax == SYS_restart_syscall && call_of(process, registers) < 0;
}

static uint64_t mask_in_status(const char *text, const char *word)
{
    uint64_t mask;
    (void)fp_proc_number(text, word, 16, &mask); /* else it is 0 */
    return mask;
}

/* The caller's; empty where it cannot be read. */
static char *status_of(const struct late_process *process, pid_t thread)
{
    char name[64];
    snprintf(name, sizeof name, "task/%d/status", (int)thread);
    char *text = late_proc_read(process->pid, name, NULL);
    return text != NULL ? text : res_strdup("");
}

/* Tells whether a signal waits for the thread, for which a call that was interrupted is to end as such. */
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

bool late_wait_renew(const struct late_process *process, pid_t thread, struct user_regs_struct *registers)
{
    enum { RESTARTS = 512, RESTARTS_LAST = 516 };
    const long result = (long)registers->rax;
    const long number = call_of(process, registers);
    if (number < 0)
        return false;
    const bool restarts = result <= -RESTARTS && result >= -RESTARTS_LAST;
    if (!restarts && !(result == -EINTR && row_of(number) >= 0 && !has_signal(process, thread)))
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
