/* idle.c - steps of rest. */
#include "replay/exec/idle.h"

#include <signal.h>

#include "replay/clock/real.h"
#include "replay/clock/recorded.h"

/* Written by the thread that rests, read by its own signal handler: volatile keeps the order. */
static volatile sig_atomic_t resting;
static volatile uint64_t calls_begun;

static uint64_t size_of(size_t object)
{
    return 16 + object % 64 * 16;
}

static void begin_call(void)
{
    calls_begun = calls_begun + 1;
}

bool rep_idle_where(struct rep_idle_call *ret_call)
{
    if (!resting || calls_begun == 0)
        return false;
    const uint64_t number = calls_begun - 1, at = number % (2 * REP_IDLE_OBJECTS);
    *ret_call = (struct rep_idle_call){
        .number = number,
        .name = at < REP_IDLE_OBJECTS ? "malloc" : "free",
        .size_bytes = at < REP_IDLE_OBJECTS ? size_of(at) : 0,
    };
    return true;
}

static void call_a_little(const struct rep_calls *calls, void **slots)
{
    for (size_t i = 0; i < REP_IDLE_OBJECTS; i++) {
        begin_call();
        slots[i] = calls->malloc(size_of(i));
        if (slots[i] != NULL)
            *(volatile char *)slots[i] = 1;
    }
    for (size_t i = 0; i < REP_IDLE_OBJECTS; i++) {
        begin_call();
        calls->free(slots[i]);
    }
}

void rep_idle(bool recorded_clock, const struct rep_calls *calls, void **slots, uint64_t span_ns)
{
    uint64_t steps = span_ns / REP_IDLE_STEP_NS;
    if (steps > REP_IDLE_STEPS_MAX)
        steps = REP_IDLE_STEPS_MAX;
    const uint64_t step_ns = steps > 0 ? span_ns / steps : span_ns;
    const uint64_t start_ns = rep_real_ns(CLOCK_MONOTONIC);
    resting = 1;
    for (uint64_t passed = 0; passed < span_ns;) {
        /* The last step takes what the division left. */
        const uint64_t step = span_ns - passed < 2 * step_ns ? span_ns - passed : step_ns;
        passed += step;
        if (recorded_clock)
            rep_recorded_pass(step);
        else
            rep_real_sleep_until(start_ns + passed);
        if (slots != NULL)
            call_a_little(calls, slots);
    }
    resting = 0;
}

static bool check_a_little(struct rep_check *check, uint32_t last_id, struct rep_check_problem *ret_problem)
{
    for (size_t i = 0; i < 2 * REP_IDLE_OBJECTS; i++) {
        const bool is_first = i < REP_IDLE_OBJECTS;
        const struct wl_op op = {
            .id = last_id + 1 + (uint32_t)(i % REP_IDLE_OBJECTS),
            .call = is_first ? FP_CALL_MALLOC : FP_CALL_FREE,
            .count = 1,
            .size = is_first ? size_of(i) : 0,
        };
        begin_call();
        if (!rep_check_op(check, &op, check->rest_from + calls_begun - 1, ret_problem))
            return false;
    }
    return true;
}

bool rep_idle_check(bool recorded_clock, struct rep_check *check, uint32_t last_id,
                    struct rep_check_problem *ret_problem)
{
    resting = 1;
    for (unsigned step = 0; step < REP_IDLE_CHECK_STEPS; step++) {
        if (recorded_clock)
            rep_recorded_pass(REP_IDLE_STEP_NS);
        if (!check_a_little(check, last_id, ret_problem))
            return false; /* still resting: whoever tells it asks where */
    }
    resting = 0;
    return true;
}
