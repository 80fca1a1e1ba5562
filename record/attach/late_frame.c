/* late_frame.c - the kernel's struct rt_sigframe, laid by us; numbers of system calls, and what the kernel leaves in the registers of one
 * that was interrupted.
 *
 * Laws of this file: late_process.h has them. */
#include "record/attach/late_process.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "footprint/base/proc.h"
#include "footprint/base/support.h"

#define XSTATE_MOST 16384u
#define RED_ZONE    128u
#define TRACE_BITS  0x10500u /* RF, DF, TF: of the flags */
#define TILES       0x60000u /* of XCR0: the kernel has their room only for who asked for it */

/* The record that the kernel lays down for a handler: its struct rt_sigframe. */
struct kernel_context {
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags;
    uint16_t cs, gs, fs, ss;
    uint64_t err, trapno, oldmask, cr2, fpstate, reserved[8];
};

struct kernel_frame {
    uint64_t returns;
    uint64_t flags, link;
    struct {
        uint64_t sp;
        uint32_t flags, unused;
        uint64_t size;
    } stack;
    struct kernel_context context;
    uint64_t mask;
    unsigned char info[128];
};

_Static_assert(sizeof(struct kernel_context) == 256 && sizeof(struct kernel_frame) == 440, "as the kernel's");

enum {
    HAS_XSTATE = 1,
    HAS_SS = 2,
    STRICT_SS = 4,
    NO_STACK = 0x5a
}; /* of uc_flags; the last: no valid flags of a stack */

#define XSTATE_WORDS_AT 464u /* of the XSAVE area: what the kernel says of it */
#define XSTATE_BV_AT    512u
#define XSTATE_FIRST    UINT32_C(0x46505853)
#define XSTATE_LAST     UINT32_C(0x46505845)

struct xstate_words {
    uint32_t first, extended_size;
    uint64_t features;
    uint32_t size, unused[7];
};

/* The bytes of the standard format with these features. */
static uint32_t xstate_bytes(uint64_t features)
{
    uint32_t bytes = 576;
    for (unsigned bit = 2; bit < 63; bit++) {
        uint32_t size, offset, c, d;
        if (!(features >> bit & 1) || !__get_cpuid_count(0xd, bit, &size, &offset, &c, &d))
            continue;
        bytes = offset + size > bytes ? offset + size : bytes;
    }
    return bytes;
}

/* Between the begin and the end of a restartable sequence (rseq(2)) nothing may come. */
static bool is_in_sequence(const struct late_process *process, pid_t thread)
{
    enum { CS_AT = 8 };
    struct __ptrace_rseq_configuration rseq = {0};
    uint64_t sequence = 0;
    if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, thread, (void *)sizeof rseq, &rseq) <= 0 ||
        rseq.rseq_abi_pointer == 0)
        return false;
    return !late_process_read(process, rseq.rseq_abi_pointer + CS_AT, &sequence, sizeof sequence) ||
           sequence != 0;
}

static void fill_context(struct kernel_context *to, const struct user_regs_struct *from, uint64_t fpstate)
{
    *to = (struct kernel_context){.r8 = from->r8,
                                  .r9 = from->r9,
                                  .r10 = from->r10,
                                  .r11 = from->r11,
                                  .r12 = from->r12,
                                  .r13 = from->r13,
                                  .r14 = from->r14,
                                  .r15 = from->r15,
                                  .rdi = from->rdi,
                                  .rsi = from->rsi,
                                  .rbp = from->rbp,
                                  .rbx = from->rbx,
                                  .rdx = from->rdx,
                                  .rax = from->rax,
                                  .rcx = from->rcx,
                                  .rsp = from->rsp,
                                  .rip = from->rip,
                                  .eflags = from->eflags,
                                  .cs = (uint16_t)from->cs,
                                  .ss = (uint16_t)from->ss,
                                  .fpstate = fpstate};
}

/* The state of SSE, AVX and what else there is, with the words that sigreturn(2) looks for. Returns its size; 0: it cannot be
 * kept. */
static uint32_t take_xstate(pid_t thread, unsigned char *ret, size_t room)
{
    struct iovec state = {ret, room - 64}; /* in whole words; behind it stands one of ours */
    uint64_t features, used;
    const uint32_t last = XSTATE_LAST;
    if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_X86_XSTATE, &state) != 0 || state.iov_len < 576)
        return 0;
    memcpy(&features, ret + XSTATE_WORDS_AT, sizeof features);
    memcpy(&used, ret + XSTATE_BV_AT, sizeof used);
    features &= ~(uint64_t)TILES;
    const uint32_t size = xstate_bytes(features);
    if ((used & ~features) != 0 || (features & 3) != 3 || size > state.iov_len)
        return 0;
    const struct xstate_words words = {.first = XSTATE_FIRST,
                                       .extended_size = size + (uint32_t)sizeof last,
                                       .features = features,
                                       .size = size};
    memcpy(ret + XSTATE_WORDS_AT, &words, sizeof words);
    memcpy(ret + size, &last, sizeof last);
    return size + (uint32_t)sizeof last;
}

/* Writes through the thread, which stands still, and not through the process's id: where another one executes another program, perhaps one of other
 * rights, this one is gone, and nothing is written. Up to the next whole word there is nothing. */
static bool write_words(pid_t thread, uint64_t address, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + at, size - at < sizeof word ? size - at : sizeof word);
        if (ptrace(PTRACE_POKEDATA, thread, (void *)(uintptr_t)(address + at), (void *)(uintptr_t)word) != 0)
            return false;
    }
    return true;
}

/* Lay the frame and the text below what the thread may use. ret_sp: where the function finds its return address. */
static bool lay_frame(const struct late_process *process, pid_t thread, struct user_regs_struct registers,
                      const struct late_call *call, uint64_t restorer, uint64_t *ret_sp, uint64_t *ret_text)
{
    _Alignas(64) unsigned char state[XSTATE_MOST];
    char text[LATE_TEXT_MOST] = "";
    struct kernel_frame frame = {.returns = restorer, .flags = HAS_XSTATE | HAS_SS | STRICT_SS};
    const uint32_t size = take_xstate(thread, state, sizeof state);
    if (size == 0 || ptrace(PTRACE_GETSIGMASK, thread, (void *)sizeof frame.mask, &frame.mask) != 0)
        return false;
    frame.stack.flags = NO_STACK; /* it keeps the one that it has for handlers */
    (void)late_wait_renew(process, thread, &registers);
    snprintf(text, sizeof text, "%s", call->text);
    const uint64_t text_at = (registers.rsp - RED_ZONE - sizeof text) & ~UINT64_C(15);
    const uint64_t state_at = (text_at - size) & ~UINT64_C(63);
    const uint64_t frame_at = ((state_at - sizeof frame) & ~UINT64_C(15)) - 8;
    fill_context(&frame.context, &registers, state_at);
    *ret_sp = frame_at;
    *ret_text = text_at;
    return write_words(thread, text_at, text, strlen(text) + 1) &&
           write_words(thread, state_at, state, size) && write_words(thread, frame_at, &frame, sizeof frame);
}

bool late_frame_begin(const struct late_process *process, pid_t thread,
                      const struct user_regs_struct *stopped_at, const struct late_call *call,
                      uint64_t restorer)
{
    uint64_t sp, text;
    const uint64_t all = ~UINT64_C(0);
    /* From here on it does not execute another program. */
    if (!late_is_ours(process->pid) || late_wait_is_lost(process, stopped_at) ||
        is_in_sequence(process, thread) ||
        !lay_frame(process, thread, *stopped_at, call, restorer, &sp, &text))
        return false;
    struct user_regs_struct registers = *stopped_at;
    registers.rip = call->function;
    registers.rdi = text;
    registers.rsi = call->number;
    registers.rsp = sp;
    registers.rax = 0;
    registers.orig_rax = (unsigned long)-1;
    registers.eflags &= ~(unsigned long)TRACE_BITS;
    if (ptrace(PTRACE_SETREGS, thread, NULL, &registers) != 0)
        return false;
    (void)ptrace(PTRACE_SETSIGMASK, thread, (void *)sizeof all, &all); /* else handlers may run in the call */
    return true;
}

/* ---- the system call that a thread is in ------------------------------------------------------------ */

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
    char name[64], text[512];
    long number;
    snprintf(name, sizeof name, "task/%d/syscall", (int)thread);
    const bool waits = fp_proc_read(process->pid, name, text, sizeof text) &&
                       sscanf(text, "%ld %llx %llx %llx %llx %llx %llx %llx %llx", &number, &words[0],
                              &words[1], &words[2], &words[3], &words[4], &words[5], &words[6],
                              &words[7]) == 9;
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

/* Tells whether a signal waits for the thread, for which a call that was interrupted is to end as such. */
static bool has_signal(const struct late_process *process, pid_t thread)
{
    const char *text = late_status(process->pid, thread);
    const uint64_t waits = mask_in_status(text, "\nSigPnd:") | mask_in_status(text, "\nShdPnd:");
    return strstr(text, "\nSigBlk:") == NULL || (waits & ~mask_in_status(text, "\nSigBlk:")) != 0;
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
    const char *status = late_status(process->pid, thread);
    const bool known = strstr(status, "\nSigCgt:") != NULL && strstr(status, "\nSigBlk:") != NULL &&
                       ptrace(PTRACE_GETSIGMASK, thread, (void *)sizeof blocked, &blocked) == 0;
    const uint64_t missed = known
                                ? mask_in_status(status, "\nSigCgt:") & ~mask_in_status(status, "\nSigBlk:") &
                                      ~blocked & ~((uint64_t)LIBC_SIGNALS << FIRST)
                                : 1;
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
