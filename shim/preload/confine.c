/* confine.c - a confined process, which does without system calls and the clock.
 *
 * Laws of this file: those of shim.h; after confine_begin no system call. */
#include "shim/preload/confine.h"

#include <pthread.h>
#include <string.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "footprint/base/proc.h"

#define REST_PAUSES  128u  /* some microseconds, by processor */
#define STATUS_BYTES 4096u /* of /proc/self/status: 1.5 KiB, more with many groups, and then it is not told */

struct shim_confine shim_confine;

static __thread uint32_t sections __attribute__((tls_model("initial-exec"))); /* that this thread is in */

bool confine_may_call(void)
{
    if (get_relaxed(&shim_confine.filters) != 0)
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

/* The collector's last reading of it: of ticks together with the nanoseconds that they are, else its heartbeat. */
bool confine_knows_time(uint64_t *ret_clock)
{
    const struct seg_header *segment = shim_segment.header;
    const bool ticks = shim_segment.fixed.clock == SEG_CLOCK_TSC;
    if (likely(get_relaxed(&shim_confine.no_clock) == 0) &&
        (ticks || !confine_is_on())) /* libc's clock_gettime may come down to a system call */
        return false;
    uint64_t now = get_relaxed(ticks ? &segment->clock_last_ticks : &segment->heartbeat_ns);
    const uint64_t floor = get_relaxed(&shim_confine.floor);
    *ret_clock = now > floor ? now : floor;
    return true;
}

/* A mutex that may be locked twice says who has it, and one that nobody contends for is taken without a system call. */
uint32_t confine_thread_id(void)
{
#if defined(__GLIBC__)
    pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    if (pthread_mutex_lock(&mutex) != 0)
        return 0;
    int owner = mutex.__data.__owner;
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

/* ---- the filters that stand when a process begins --------------------------------------------------- */

enum found { FOUND_NOTHING_YET = 0, FOUND_FREE, FOUND_CONFINED, FOUND_NO_ANSWER };

static enum found look(uint32_t tried)
{
    static char status[STATUS_BYTES];
    uint64_t mode, filters;
    if (raw_file_begin("/proc/self/status", status, sizeof status) == 0 ||
        !fp_proc_number(status, "\nSeccomp:", 10, &mode))
        return FOUND_NO_ANSWER;
    if (mode == 0 ||
        (tried > 0 && fp_proc_number(status, "\nSeccomp_filters:", 10, &filters) && filters == tried))
        return FOUND_FREE;
    return FOUND_CONFINED;
}

static enum found found(uint32_t tried)
{
    static _Atomic uint32_t known; /* of this image, its forked children included */
    uint32_t was = get_relaxed(&known);
    if (was == FOUND_NOTHING_YET) {
        was = look(tried);
        put_relaxed(&known, was);
    }
    return (enum found)was;
}

bool filters_let_pass(uint32_t tried)
{
    return found(tried) == FOUND_FREE;
}

bool filters_confine(uint32_t tried)
{
    return found(tried) == FOUND_CONFINED;
}
