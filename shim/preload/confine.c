/* confine.c - what a confined process does without: system calls, and the clock.
 *
 * Laws of this file: those of shim.h; after confine_begin no system call. */
#include "shim/preload/confine.h"

#include <errno.h>
#include <pthread.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "shim/preload/attach.h"
#include "shim/preload/large.h"
#include "shim/shared/raw.h"

#define QUIET_ROUNDS 300u     /* of QUIET_NS: threads that wait for a chunk do so 50 ms at a time */
#define QUIET_NS     1000000u /* between two looks whether other threads are in a section */
#define REST_PAUSES  128u     /* some microseconds, by processor */

struct shim_confine shim_confine;

static __thread uint32_t sections __attribute__((tls_model("initial-exec"))); /* that this thread is in */

bool confine_may_call(void)
{
    if (atomic_load_explicit(&shim_confine.filters, memory_order_relaxed) != 0)
        return false;
    if (shim_process == NULL)
        return true; /* nobody of this process was recorded before: attaching is waited for by nobody */
    /* Either we see `filters`, or the one that is putting one up sees us: both sequentially consistent. */
    sections++;
    atomic_fetch_add_explicit(&shim_process->calling, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&shim_confine.filters, memory_order_seq_cst) == 0)
        return true;
    confine_called();
    return false;
}

void confine_called(void)
{
    if (sections == 0)
        return; /* entered when there was no process to count in */
    sections--;
    atomic_fetch_sub_explicit(&shim_process->calling, 1, memory_order_release);
}

void confine_left(void)
{
    while (sections > 0)
        confine_called();
}

/* Bounded: a handler may have interrupted a section of this very thread. */
static void wait_for_quiet(void)
{
    const struct timespec rest = {0, QUIET_NS};
    for (unsigned round = 0; round < QUIET_ROUNDS; round++) {
        if (shim_process == NULL || atomic_load_explicit(&shim_process->calling, memory_order_seq_cst) == 0)
            return;
        (void)raw_call(SYS_nanosleep, (long)&rest, 0, 0, 0, 0, 0); /* cut short: we look sooner */
    }
}

/* What later calls need, while everything may still be asked for. */
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
        uint64_t floor = atomic_load_explicit(&shim_confine.floor, memory_order_relaxed);
        while (floor < now &&
               !atomic_compare_exchange_weak_explicit(&shim_confine.floor, &floor, now, memory_order_relaxed,
                                                      memory_order_relaxed))
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

void confine_undo(unsigned what)
{
    if (what & CONFINE_CLOCK)
        atomic_fetch_sub_explicit(&shim_confine.no_clock, 1, memory_order_relaxed);
    if (what & CONFINE_CALLS)
        atomic_fetch_sub_explicit(&shim_confine.filters, 1, memory_order_relaxed);
}

/* The collector's last reading of it: of ticks together with the nanoseconds that they are, else its heartbeat. */
bool confine_knows_time(uint64_t *ret_clock)
{
    const struct seg_header *segment = shim_segment.header;
    const bool ticks = shim_segment.fixed.clock == SEG_CLOCK_TSC;
    uint64_t now;
    if (likely(atomic_load_explicit(&shim_confine.no_clock, memory_order_relaxed) == 0) &&
        (ticks || !confine_is_on())) /* libc's clock_gettime may come down to a system call */
        return false;
    now = atomic_load_explicit(ticks ? &segment->clock_last_ticks : &segment->heartbeat_ns,
                               memory_order_relaxed);
    const uint64_t floor = atomic_load_explicit(&shim_confine.floor, memory_order_relaxed);
    *ret_clock = now > floor ? now : floor;
    return true;
}

/* A mutex that may be locked twice says who has it, and one that nobody contends for is taken without a system call. */
uint32_t confine_thread_id(void)
{
#if defined(__GLIBC__)
    pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    int owner;
    if (pthread_mutex_lock(&mutex) != 0)
        return 0;
    owner = mutex.__data.__owner;
    (void)pthread_mutex_unlock(&mutex); /* ours: it cannot fail */
    return owner > 0 ? (uint32_t)owner : 0;
#else
    return 0;
#endif
}

void confine_rest(void)
{
    for (unsigned i = 0; i < REST_PAUSES; i++) {
#if defined(__x86_64__)
        _mm_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
        atomic_signal_fence(memory_order_seq_cst);
    }
}
