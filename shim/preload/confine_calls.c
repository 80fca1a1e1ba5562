/* confine_calls.c - the calls by which a program confines itself, prctl and syscall, wrapped; and what we do before them.
 *
 * Laws of this file: those of shim.h; every call goes on exactly as it came in. prctl is made here, as libc makes it. syscall
 * is a jump to libc's, with the stack as it was: what it may be asked for, a clone with a stack of its own, needs that. */

#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "shim/preload/attach.h"
#include "shim/preload/boot.h"
#include "shim/preload/confine.h"
#include "shim/preload/lane_chunk.h"
#include "shim/preload/large.h"

#define QUIET_ROUNDS 300u     /* of QUIET_NS: threads that wait for a chunk do so 50 ms at a time */
#define QUIET_NS     1000000u /* between two looks whether other threads are in a section */

/* The wait is bounded: a handler may have interrupted a section of this very thread. */
static void wait_for_quiet(void)
{
    const struct timespec rest = {0, QUIET_NS};
    for (unsigned round = 0; round < QUIET_ROUNDS; round++) {
        if (shim_process == NULL || atomic_load_explicit(&shim_process->calling, memory_order_seq_cst) == 0)
            return;
        (void)raw_call(SYS_nanosleep, (long)&rest, 0, 0, 0, 0, 0); /* cut short: we look sooner */
    }
}

/* Prepare what later calls need, while everything may still be asked for. */
static void make_ready(void)
{
    const int saved = errno;
    if (shim_segment.header != NULL) {
        attach_make_ready();
        lane_make_ready();
        boot_make_ready();
    }
    errno = saved;
}

void confine_begin(unsigned what)
{
    if (what & CONFINE_CLOCK) {
        uint64_t now = shim_segment.header != NULL ? lane_clock() : 0;
        uint64_t floor = get_relaxed(&shim_confine.floor);
        while (floor < now && !try_swap_relaxed(&shim_confine.floor, &floor, now))
            ;
        atomic_fetch_add_explicit(&shim_confine.no_clock, 1, memory_order_seq_cst);
    }
    if (what & CONFINE_CALLS) {
        const bool first = !confine_is_on();
        large_stop();
        if (first)
            make_ready();
        atomic_fetch_add_explicit(&shim_confine.filters, 1, memory_order_seq_cst);
        if (first)
            wait_for_quiet();
    }
}

/* It did not come into force. */
static void confine_undo(unsigned what)
{
    if (what & CONFINE_CLOCK)
        sub_relaxed(&shim_confine.no_clock, 1);
    if (what & CONFINE_CALLS)
        sub_relaxed(&shim_confine.filters, 1);
}

/* ---- prctl -------------------------------------------------------------------------------------------------- */

SHIM_EXPORT int prctl(int option, ...);

/* Returns what a call of prctl(2) is about to take from the process (enum confine_what); 0:
 * nothing. */
static unsigned taken_by_prctl(long option, long argument)
{
    if (option == PR_SET_NO_NEW_PRIVS) {
        large_stop(); /* a filter may be put up past libc: what it takes is not worth the risk */
        user_by_calls_only = true;
    }
    if (option == PR_SET_SECCOMP)
        return CONFINE_CALLS | (argument == SECCOMP_MODE_STRICT ? CONFINE_CLOCK : 0);
#if defined(PR_SET_TSC)
    if (option == PR_SET_TSC && argument == PR_TSC_SIGSEGV)
        return CONFINE_CLOCK;
#endif
    return 0;
}

static unsigned taken_by_syscall(long number, long first, long second)
{
    if (number == SYS_prctl)
        return taken_by_prctl(first, second);
    if (number == SYS_seccomp && first == SECCOMP_SET_MODE_STRICT)
        return CONFINE_CALLS | CONFINE_CLOCK;
    return number == SYS_seccomp && first == SECCOMP_SET_MODE_FILTER ? CONFINE_CALLS : 0;
}

/* Make the call, as libc returns it. */
static long make(unsigned taken, long number, const long *words)
{
    if (taken != 0)
        confine_begin(taken);
    long result = raw_call(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    if (result >= 0 || result < -4095)
        return result;
    if (taken != 0)
        confine_undo(taken);
    errno = (int)-result;
    return -1;
}

int prctl(int option, ...)
{
    long words[6] = {option, 0, 0, 0, 0, 0};
    va_list arguments;
    va_start(arguments, option);
    for (unsigned i = 1; i < 5; i++)
        words[i] = va_arg(arguments, long); /* libc's reads as many, whatever was passed */
    va_end(arguments);
    return (int)make(taken_by_prctl(option, words[1]), SYS_prctl, words);
}

/* ---- syscall ------------------------------------------------------------------------------------------------ */

typedef long (*syscall_type)(long, long, long, long, long, long, long);

static long find_next(long number, long a, long b, long c, long d, long e, long f);

static syscall_type next_syscall = find_next;

static long find_next(long number, long a, long b, long c, long d, long e, long f)
{
    const int saved = errno;
    void *found = dlsym(RTLD_NEXT, "syscall");
    errno = saved;
    if (found == NULL) { /* libc always has it */
        const long words[6] = {a, b, c, d, e, f};
        return make(0, number, words);
    }
    __atomic_store_n((void **)(void *)&next_syscall, found, __ATOMIC_RELAXED);
    return ((syscall_type)(uintptr_t)found)(number, a, b, c, d, e, f);
}

/* Looks it up before main, so that a call in a vfork's child, or one that is about to be confined, does not look it up. */
__attribute__((constructor)) static void find_early(void)
{
    (void)next_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0); /* any call does */
}

static __attribute__((noinline)) long confine_by_syscall(long number, long a, long b, long c, long d, long e,
                                                         long f)
{
    const long words[6] = {a, b, c, d, e, f};
    return make(taken_by_syscall(number, a, b), number, words);
}

/* Under another name for the compiler: as many arguments as libc's takes from wherever a caller put them. */
SHIM_EXPORT long shim_syscall(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");

long shim_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (unlikely(number == SYS_seccomp || number == SYS_prctl))
        return confine_by_syscall(number, a, b, c, d, e, f);
    if (unlikely(number == SYS_setuid || number == SYS_setreuid || number == SYS_setresuid)) {
        const long result = next_syscall(number, a, b, c, d, e, f);
        user_may_have_changed();
        return result;
    }
    return next_syscall(number, a, b, c, d, e, f);
}
