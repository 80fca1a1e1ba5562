/* pace.h - how far ops may run before recorded time moves on, and before real time must catch up.
 *
 *   step   ops that run without a look at a clock: so few, and so close in recorded time, that what they
 *          are told is right to REP_STEP_NS. Runs that follow no clock have no steps
 *   pace   recorded seconds that pass in a real one; 0: as fast as it goes
 *   behind how much later than due a step began: the ops before it took longer than the pace leaves them */
#ifndef MALLAB_REPLAY_EXEC_PACE_H
#define MALLAB_REPLAY_EXEC_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REP_STEP_OPS 64u
#define REP_STEP_NS  100000u /* a tenth of a millisecond: decay goes by tens of milliseconds at least */

struct rep_pace {
    bool recorded_clock; /* tell the allocator recorded time */
    double speed;        /* 0: max */
    uint64_t origin_ns;  /* recorded time of the begin */
    uint64_t start_ns;   /* CLOCK_MONOTONIC then */
    /* All threads write these, in any order. They publish nothing else, so relaxed is enough. */
    _Atomic uint64_t behind_most_ns;
    _Atomic uint64_t behind_ns; /* of the step reached last */
};

/* rep_pace_follows - whether ops are executed step by step at all. */
static inline bool rep_pace_follows(const struct rep_pace *pace)
{
    return pace->recorded_clock || pace->speed > 0;
}

/* rep_pace_parse_clock - "real" or "recorded".
 * rep_pace_parse_speed - "max", "real", or "Nx" with N from 0.001 to a million: "4x", "0.5x".
 * Return  false for others; the pace is then as it was. */
bool rep_pace_parse_clock(const char *text, struct rep_pace *pace);
bool rep_pace_parse_speed(const char *text, struct rep_pace *pace);

/* rep_pace_begin - the first op comes, of this recorded time. Starts the recorded clock, or declines it. */
void rep_pace_begin(struct rep_pace *pace, uint64_t recorded_ns);

/* rep_pace_reach - the next step is of this recorded time: move the clock, sleep until the step is due,
 * note what is overdue. By the thread that executes it, outside of what is timed. */
void rep_pace_reach(struct rep_pace *pace, uint64_t recorded_ns);

/* rep_pace_step - how many of the ops from the first on make one step.
 * times_ns  recorded times of count > 0 ops, not falling.
 * Returns   1 .. count. */
size_t rep_pace_step(const uint64_t *times_ns, size_t count);

#endif
