/* ticks.c - choosing and calibrating the clock. */
#include "replay/clock/ticks.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define COST_SAMPLES 2001    /* odd: the median is a sample */
#define RATE_SPAN_NS 2000000 /* a pair of reads is about 100 ns apart at worst: 1 in 20,000 of a short run */

/* Tells whether the processor's flags promise a counter that neither stops nor changes its rate. The first
 * processor's entry fits the buffer many times over. */
static bool counter_is_steady(void)
{
#if defined(__x86_64__)
    char text[8192];
    const int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t length = read(fd, text, sizeof text - 1);
    (void)close(fd); /* it was only read */
    if (length <= 0)
        return false;
    text[length] = '\0';
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
