/* real.h - the machine's clocks: the C library's own clock, sleeps and waits, past the functions of the same names that the replay
 * programs put before it (served.c).
 *
 * Whatever of the harness reads a clock or waits does it through here: under the recorded clock clock_gettime of this
 * process tells the allocator's time, not ours. Nothing here allocates. Every function may be called at any moment,
 * also while the allocator's library is being initialised and before main. */
#ifndef MALLAB_REPLAY_CLOCK_REAL_H
#define MALLAB_REPLAY_CLOCK_REAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define REP_SECOND_NS UINT64_C(1000000000)

/* rep_real_gettime - clock_gettime. Returns 0, or -1 with errno. */
int rep_real_gettime(clockid_t clock, struct timespec *ret_time);

/* rep_real_ns - a clock that always exists (CLOCK_MONOTONIC, CLOCK_REALTIME), in nanoseconds. */
uint64_t rep_real_ns(clockid_t clock);

/* rep_real_sleep - clock_nanosleep. Returns 0 or an errno. */
int rep_real_sleep(clockid_t clock, int flags, const struct timespec *request, struct timespec *ret_left);

/* rep_real_sleep_until - sleep until this moment of CLOCK_MONOTONIC, through interruptions. */
void rep_real_sleep_until(uint64_t moment_ns);

/* The waits of POSIX threads. rep_real_wait_until: pthread_cond_clockwait. */
int rep_real_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int rep_real_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, uint64_t moment_ns);
int rep_real_signal(pthread_cond_t *cond);
int rep_real_broadcast(pthread_cond_t *cond);

/* rep_timespec / rep_timespec_ns - from and to nanoseconds; moments before the clock's origin are it. */
struct timespec rep_timespec(uint64_t ns);
uint64_t rep_timespec_ns(const struct timespec *time);

/* ---- the clock that times runs of ops, read twice a run.
 *
 *   tick  one step of the time stamp counter where /proc/cpuinfo calls it constant and nonstop,
 *         else one nanosecond of CLOCK_MONOTONIC
 *   cost  ticks that pass between two reads with nothing between them: subtracted once a run
 *
 * Ticks become nanoseconds only after the last op: the rate is measured over the run itself. */

struct rep_clock {
    bool counter; /* ticks are the time stamp counter's */
    uint64_t cost_ticks;
    uint64_t start_ticks; /* read together at rep_clock_init */
    uint64_t start_ns;
    double ns_per_tick; /* 0 until rep_clock_rate */
};

static inline uint64_t rep_monotonic_ns(void)
{
    return rep_real_ns(CLOCK_MONOTONIC);
}

/* rep_ticks - now. The fence keeps the ops of the run on its own side of the read; cpuid would too, but
 * traps for microseconds on virtual machines. */
static inline uint64_t rep_ticks(const struct rep_clock *clock)
{
#if defined(__x86_64__)
    if (clock->counter) {
        _mm_lfence();
        return __rdtsc();
    }
#else
    (void)clock; /* no counter is known to be constant here */
#endif
    return rep_monotonic_ns();
}

/* rep_clock_init - choose the clock, measure its cost, note the start. */
void rep_clock_init(struct rep_clock *clock);

/* rep_ticks_median - the median of what span returns, called often. It sorts by insertion: qsort
 * may call malloc. One thread at a time. */
uint64_t rep_ticks_median(const struct rep_clock *clock, uint64_t (*span)(const struct rep_clock *clock));

/* rep_clock_rate - measure ns_per_tick over the time since rep_clock_init, waiting (busy) until that is
 * long enough for 1 part in 10,000. Call after the last op. */
void rep_clock_rate(struct rep_clock *clock);

/* rep_clock_ns - ticks in nanoseconds; only after rep_clock_rate. */
double rep_clock_ns(const struct rep_clock *clock, uint64_t ticks);

/* ---- how long a thread was off its processor in a stretch of its code, and why.
 *
 *   preempted   it could have gone on, and other work had the processor: nothing of the allocator's
 *   blocked     it waited for something, a lock or a page of a file, if only once in the stretch: then
 *               what else it was kept from is not told apart, and all of it stays in the stretch's time
 *
 * From the thread's own processor clock beside the wall's, and its voluntary switches. Time that the
 * kernel works for the thread, page faults above all, is on both clocks. */

struct rep_absence {
    uint64_t span_ticks; /* of all stretches */
    uint64_t preempted_ns, blocked_ns;
};

/* A stretch under way. */
struct rep_presence {
    uint64_t ticks, wall_ns, cpu_ns;
    long waits;
};

/* rep_presence_begin / rep_presence_end - around a stretch, by the thread itself: four calls of the kernel, about
 * a microsecond, none of it within. */
struct rep_presence rep_presence_begin(const struct rep_clock *clock);
void rep_presence_end(const struct rep_clock *clock, const struct rep_presence *begun,
                      struct rep_absence *absence);

/* rep_absence_preempted_ns - the part of it that fell into so many ticks of the stretches. */
uint64_t rep_absence_preempted_ns(const struct rep_absence *absence, uint64_t ticks);

/* rep_absence_add - what is told of a stretch of so much time on both clocks.
 * waited   whether the thread waited for something meanwhile. */
void rep_absence_add(struct rep_absence *absence, uint64_t wall_ns, uint64_t cpu_ns, bool waited);

#endif
