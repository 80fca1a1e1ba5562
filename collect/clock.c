/* clock.c - the clock that lanes read: chosen, calibrated, anchored, converted. */
#include "collect/collect.h"

#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "footprint/base/proc.h"

#define CALIBRATION_NS 2000000u /* long enough for 1e-4; anchors of the recording itself refine it */

/* The TSC serves where the kernel has it for a clock: at one rate, and in all sleep states. */
static enum seg_clock choose_clock(void)
{
#if defined(__x86_64__)
    char names[256];
    (void)fp_file_begin("/sys/devices/system/clocksource/clocksource0/available_clocksource", names,
                        sizeof names);
    if (strstr(names, "tsc") != NULL)
        return SEG_CLOCK_TSC;
#endif
    return SEG_CLOCK_MONOTONIC;
}

static uint64_t read_raw(enum seg_clock kind)
{
#if defined(__x86_64__)
    if (kind == SEG_CLOCK_TSC)
        return __rdtsc();
#endif
    return fp_now_ns();
}

/* Both clocks at one moment: of a few tries the one with the least time between its two readings. */
static void read_both(enum seg_clock kind, uint64_t *ret_ticks, uint64_t *ret_ns)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        const uint64_t before = read_raw(kind);
        const uint64_t ns = fp_now_ns();
        const uint64_t after = read_raw(kind);
        if (after - before >= best)
            continue;
        best = after - before;
        *ret_ticks = before + (after - before) / 2;
        *ret_ns = ns;
    }
}

/* The line goes through the two anchors. Where they are one, it stays as it was. */
static void lay_line(struct collect_clock *clock)
{
    if (clock->last_ticks > clock->first_ticks && clock->last_ns > clock->first_ns)
        clock->ns_per_tick = (double)(clock->last_ns - clock->first_ns) /
                             (double)(clock->last_ticks - clock->first_ticks);
}

void clock_start(struct collect_clock *clock, bool no_tsc)
{
    struct timespec wall;
    clock->kind = no_tsc ? SEG_CLOCK_MONOTONIC : choose_clock();
    clock->ns_per_tick = 1;
    read_both(clock->kind, &clock->first_ticks, &clock->first_ns);
    (void)clock_gettime(CLOCK_REALTIME, &wall); /* cannot fail for this clock */
    clock->start_unix_ns = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec;
    clock->last_ticks = clock->first_ticks;
    clock->last_ns = clock->first_ns;
    if (clock->kind != SEG_CLOCK_TSC)
        return;
    while (fp_now_ns() - clock->first_ns < CALIBRATION_NS) {
        const struct timespec rest = {0, CALIBRATION_NS / 4};
        (void)nanosleep(&rest, NULL); /* woken early: the loop goes on */
    }
    clock_anchor(clock);
}

void clock_anchor(struct collect_clock *clock)
{
    if (clock->kind != SEG_CLOCK_TSC)
        return;
    read_both(clock->kind, &clock->last_ticks, &clock->last_ns);
    lay_line(clock);
}

void clock_share(const struct collect_clock *clock, struct seg_header *segment)
{
    put_relaxed(&segment->clock_last_ticks, clock->last_ticks);
    put_relaxed(&segment->clock_last_ns, clock->last_ns);
}

void clock_resume(struct collect_clock *clock, const struct seg_header *segment)
{
    *clock = (struct collect_clock){.kind = (enum seg_clock)segment->fixed.clock,
                                    .first_ticks = segment->fixed.clock_first_ticks,
                                    .first_ns = segment->fixed.clock_first_ns,
                                    .last_ticks = get_relaxed(&segment->clock_last_ticks),
                                    .last_ns = get_relaxed(&segment->clock_last_ns),
                                    .ns_per_tick = 1,
                                    .start_unix_ns = segment->fixed.clock_start_unix_ns};
    lay_line(clock);
}

uint64_t clock_ns(const struct collect_clock *clock, uint64_t raw)
{
    if (raw <= clock->first_ticks)
        return 0;
    /* Count from the nearer anchor, so that the double's 53 bits hold a short distance. */
    if (raw >= clock->last_ticks)
        return clock->last_ns - clock->first_ns +
               (uint64_t)((double)(raw - clock->last_ticks) * clock->ns_per_tick);
    return (uint64_t)((double)(raw - clock->first_ticks) * clock->ns_per_tick);
}
