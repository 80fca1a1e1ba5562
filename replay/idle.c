/* idle.c - steps of rest. */
#include "replay/idle.h"

#include "replay/real.h"
#include "replay/recorded.h"

static void call_a_little(const struct rep_calls *calls, void **slots)
{
    for (size_t i = 0; i < REP_IDLE_OBJECTS; i++) {
        slots[i] = calls->malloc(16 + i % 64 * 16);
        if (slots[i] != NULL)
            *(volatile char *)slots[i] = 1;
    }
    for (size_t i = 0; i < REP_IDLE_OBJECTS; i++)
        calls->free(slots[i]);
}

void rep_idle(const struct rep_pace *pace, const struct rep_calls *calls, void **slots, uint64_t span_ns)
{
    uint64_t steps = span_ns / REP_IDLE_STEP_NS;
    if (steps > REP_IDLE_STEPS_MAX)
        steps = REP_IDLE_STEPS_MAX;
    const uint64_t step_ns = steps > 0 ? span_ns / steps : span_ns;
    const uint64_t start_ns = rep_real_ns(CLOCK_MONOTONIC);
    for (uint64_t passed = 0; passed < span_ns;) {
        /* The last step takes what the division left. */
        const uint64_t step = span_ns - passed < 2 * step_ns ? span_ns - passed : step_ns;
        passed += step;
        if (pace->recorded_clock)
            rep_recorded_pass(step);
        else
            rep_real_sleep_until(start_ns + passed);
        if (slots != NULL)
            call_a_little(calls, slots);
    }
}
