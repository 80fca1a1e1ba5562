/* pace.c - steps, and sleeping between them. */
#include "replay/exec/pace.h"

#include <stdlib.h>
#include <string.h>

#include "replay/clock/real.h"
#include "replay/clock/recorded.h"

#define SPEED_MIN    0.001
#define SPEED_MAX    1e6
#define SLEEP_MIN_NS 50000u /* what is due sooner comes sooner: a sleep is late by as much */

bool rep_pace_parse_clock(const char *text, struct rep_pace *pace)
{
    const bool recorded = strcmp(text, "recorded") == 0;
    if (!recorded && strcmp(text, "real") != 0)
        return false;
    pace->recorded_clock = recorded;
    return true;
}

bool rep_pace_parse_speed(const char *text, struct rep_pace *pace)
{
    const size_t length = strlen(text);
    char *end;
    if (strcmp(text, "max") == 0 || strcmp(text, "real") == 0) {
        pace->speed = text[0] == 'r' ? 1 : 0;
        return true;
    }
    if (length < 2 || strspn(text, "0123456789.") != length - 1 || text[length - 1] != 'x')
        return false;
    const double speed = strtod(text, &end);
    if (end != text + length - 1 || !(speed >= SPEED_MIN && speed <= SPEED_MAX))
        return false;
    pace->speed = speed;
    return true;
}

void rep_pace_begin(struct rep_pace *pace, uint64_t recorded_ns)
{
    pace->origin_ns = recorded_ns;
    pace->start_ns = rep_real_ns(CLOCK_MONOTONIC);
    if (pace->recorded_clock)
        rep_recorded_begin(recorded_ns);
    else
        rep_recorded_decline();
}

static void note_behind(struct rep_pace *pace, uint64_t behind_ns)
{
    uint64_t most_ns = atomic_load_explicit(&pace->behind_most_ns, memory_order_relaxed);
    atomic_store_explicit(&pace->behind_ns, behind_ns, memory_order_relaxed);
    while (behind_ns > most_ns &&
           !atomic_compare_exchange_weak_explicit(&pace->behind_most_ns, &most_ns, behind_ns,
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}

void rep_pace_reach(struct rep_pace *pace, uint64_t recorded_ns)
{
    if (pace->speed > 0 && recorded_ns > pace->origin_ns) {
        const double span_ns = (double)(recorded_ns - pace->origin_ns) / pace->speed;
        const uint64_t due_ns = span_ns < 9e18 ? pace->start_ns + (uint64_t)span_ns : UINT64_MAX;
        const uint64_t now_ns = rep_real_ns(CLOCK_MONOTONIC);
        note_behind(pace, now_ns > due_ns ? now_ns - due_ns : 0);
        if (due_ns > now_ns && due_ns - now_ns > SLEEP_MIN_NS)
            rep_real_sleep_until(due_ns);
    }
    rep_recorded_advance(recorded_ns);
}

size_t rep_pace_step(const uint64_t *times_ns, size_t count)
{
    const size_t most = count < REP_STEP_OPS ? count : REP_STEP_OPS;
    size_t step = 1;
    while (step < most && times_ns[step] - times_ns[0] <= REP_STEP_NS)
        step++;
    return step;
}
