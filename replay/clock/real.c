/* real.c - the next definition after ours, looked up once; the clock of timed runs, chosen and calibrated. */
#include "replay/clock/real.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "footprint/base/proc.h"

/* Two threads that look up the same find the same: no lock is needed. */
static void *find(_Atomic(void *) *place, const char *name)
{
    void *found = atomic_load_explicit(place, memory_order_relaxed);
    if (found == NULL) {
        found = dlsym(RTLD_NEXT, name); /* the newest version of a symbol that has several */
        atomic_store_explicit(place, found, memory_order_relaxed);
    }
    return found;
}

/* clock_gettime is asked for while libraries are relocated and initialised, when dlsym may not be called: until this
 * has run, the kernel itself is asked. */
static int (*gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void find_gettime(void)
{
    void *found = dlsym(RTLD_NEXT, "clock_gettime");
    memcpy(&gettime, &found, sizeof gettime);
}

int rep_real_gettime(clockid_t clock, struct timespec *ret_time)
{
    if (__builtin_expect(gettime == NULL, 0))
        return (int)syscall(SYS_clock_gettime, clock, ret_time);
    return gettime(clock, ret_time);
}

uint64_t rep_real_ns(clockid_t clock)
{
    struct timespec now = {0};
    (void)rep_real_gettime(clock, &now); /* this clock always exists */
    return rep_timespec_ns(&now);
}

int rep_real_sleep(clockid_t clock, int flags, const struct timespec *request, struct timespec *ret_left)
{
    return syscall(SYS_clock_nanosleep, clock, flags, request, ret_left) == 0 ? 0 : errno;
}

void rep_real_sleep_until(uint64_t moment_ns)
{
    const struct timespec moment = rep_timespec(moment_ns);
    while (rep_real_sleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL) == EINTR)
        continue;
}

int rep_real_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    static _Atomic(void *) place;
    int (*wait)(pthread_cond_t *, pthread_mutex_t *);
    void *found = find(&place, "pthread_cond_wait");
    memcpy(&wait, &found, sizeof wait);
    return wait(cond, mutex);
}

int rep_real_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, uint64_t moment_ns)
{
    static _Atomic(void *) place;
    int (*wait)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
    const struct timespec moment = rep_timespec(moment_ns);
    void *found = find(&place, "pthread_cond_clockwait");
    memcpy(&wait, &found, sizeof wait);
    return wait(cond, mutex, clock, &moment);
}

static int wake(_Atomic(void *) *place, const char *name, pthread_cond_t *cond)
{
    int (*function)(pthread_cond_t *);
    void *found = find(place, name);
    memcpy(&function, &found, sizeof function);
    return function(cond);
}

int rep_real_signal(pthread_cond_t *cond)
{
    static _Atomic(void *) place;
    return wake(&place, "pthread_cond_signal", cond);
}

int rep_real_broadcast(pthread_cond_t *cond)
{
    static _Atomic(void *) place;
    return wake(&place, "pthread_cond_broadcast", cond);
}

struct timespec rep_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / REP_SECOND_NS), .tv_nsec = (long)(ns % REP_SECOND_NS)};
}

uint64_t rep_timespec_ns(const struct timespec *time)
{
    return time->tv_sec < 0 ? 0 : (uint64_t)time->tv_sec * REP_SECOND_NS + (uint64_t)time->tv_nsec;
}

/* ---- the counter of ticks ----------------------------------------------------------------------- */

#define COST_SAMPLES 2001    /* odd: the median is a sample */
#define RATE_SPAN_NS 2000000 /* a pair of reads is about 100 ns apart at worst: 1 in 20,000 of a short run */

/* Tells whether the processor's flags promise a counter that neither stops nor changes its rate. The first
 * processor's entry fits the buffer many times over. */
static bool counter_is_steady(void)
{
#if defined(__x86_64__)
    char text[8192];
    (void)fp_file_begin("/proc/cpuinfo", text, sizeof text); /* "" has no flags */
    return strstr(text, " constant_tsc") != NULL && strstr(text, " nonstop_tsc") != NULL;
#else
    return false;
#endif
}

uint64_t rep_ticks_median(const struct rep_clock *clock, uint64_t (*span)(const struct rep_clock *clock))
{
    static uint64_t sorted[COST_SAMPLES];
    for (int i = 0; i < COST_SAMPLES; i++) {
        const uint64_t ticks = span(clock);
        int at = i;
        for (; at > 0 && sorted[at - 1] > ticks; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = ticks;
    }
    return sorted[COST_SAMPLES / 2];
}

static uint64_t two_reads(const struct rep_clock *clock)
{
    const uint64_t start = rep_ticks(clock);
    return rep_ticks(clock) - start;
}

void rep_clock_init(struct rep_clock *clock)
{
    *clock = (struct rep_clock){.counter = counter_is_steady()};
    clock->cost_ticks = rep_ticks_median(clock, two_reads);
    clock->start_ns = rep_monotonic_ns();
    clock->start_ticks = rep_ticks(clock);
}

void rep_clock_rate(struct rep_clock *clock)
{
    if (!clock->counter) {
        clock->ns_per_tick = 1;
        return;
    }
    uint64_t now_ns;
    do
        now_ns = rep_monotonic_ns();
    while (now_ns - clock->start_ns < RATE_SPAN_NS);
    clock->ns_per_tick = (double)(now_ns - clock->start_ns) / (double)(rep_ticks(clock) - clock->start_ticks);
}

double rep_clock_ns(const struct rep_clock *clock, uint64_t ticks)
{
    assert(clock->ns_per_tick > 0);
    return (double)ticks * clock->ns_per_tick;
}

/* ---- presence: two clocks and a counter of the kernel's ---- */

/* Two clocks that are read one after the other: as much apart are they without any switch. */
#define SLACK_NS    2000u
#define SLACK_SHARE 1000u /* one part in so many: the kernel's scheduler keeps a rate of its own */

static long waits_so_far(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_THREAD, &usage); /* cannot fail */
    return usage.ru_nvcsw;
}

/* The processor's clock is read outside the wall's: a switch between the two adds to neither. */
struct rep_presence rep_presence_begin(const struct rep_clock *clock)
{
    struct rep_presence begun = {.waits = waits_so_far()};
    begun.cpu_ns = rep_real_ns(CLOCK_THREAD_CPUTIME_ID);
    begun.wall_ns = rep_monotonic_ns();
    begun.ticks = rep_ticks(clock);
    return begun;
}

void rep_presence_end(const struct rep_clock *clock, const struct rep_presence *begun,
                      struct rep_absence *absence)
{
    const uint64_t ticks = rep_ticks(clock);
    const uint64_t wall_ns = rep_monotonic_ns() - begun->wall_ns;
    const uint64_t cpu_ns = rep_real_ns(CLOCK_THREAD_CPUTIME_ID) - begun->cpu_ns;
    if (ticks > begun->ticks)
        absence->span_ticks += ticks - begun->ticks;
    rep_absence_add(absence, wall_ns, cpu_ns, waits_so_far() != begun->waits);
}

void rep_absence_add(struct rep_absence *absence, uint64_t wall_ns, uint64_t cpu_ns, bool waited)
{
    if (wall_ns <= cpu_ns + SLACK_NS + wall_ns / SLACK_SHARE)
        return;
    if (waited)
        absence->blocked_ns += wall_ns - cpu_ns;
    else
        absence->preempted_ns += wall_ns - cpu_ns;
}

uint64_t rep_absence_preempted_ns(const struct rep_absence *absence, uint64_t ticks)
{
    if (ticks >= absence->span_ticks)
        return absence->preempted_ns;
    return (uint64_t)((double)absence->preempted_ns * (double)ticks / (double)absence->span_ticks);
}
