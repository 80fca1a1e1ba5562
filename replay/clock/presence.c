/* presence.c - two clocks and a counter of the kernel's. */
#include "replay/clock/presence.h"

#include <sys/resource.h>

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
