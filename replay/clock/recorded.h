/* recorded.h - the recorded clock: the time of the recording, told to the allocator in place of ours.
 *
 * Decay and purging follow the clock. A replay takes seconds where the program took hours; under the
 * machine's clock an allocator would give back next to nothing of what it gave back then. So in a run on
 * the recorded clock the functions that tell the time (served.c) answer with recorded time, which the
 * replay moves on with the ops. The state is the process's, because the functions that ask are.
 *
 *   origin    recorded time at which the clock begins; it goes on from what the machine's clocks told
 *   now       recorded time since the origin. One for all threads; it never goes back
 *   worker    a thread that executes ops, or main's. Its sleeps are real: a lock's back-off, say
 *   sleeper   any other thread that sleeps: the allocator's own (sleepers.h). It wakes by recorded time */
#ifndef MALLAB_REPLAY_CLOCK_RECORDED_H
#define MALLAB_REPLAY_CLOCK_RECORDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* A step: ops that run without a look at the clock: so few, and so close in recorded time, that what they are told is right
 * to REP_STEP_NS. */
#define REP_STEP_OPS 64u
#define REP_STEP_NS  100000u /* a tenth of a millisecond: decay goes by tens of milliseconds at least */

/* rep_recorded_step - how many of the ops from the first on make one step.
 * times_ns  recorded times of count > 0 ops, not falling.
 * Returns   1 .. count. */
size_t rep_recorded_step(const uint64_t *times_ns, size_t count);

/* rep_recorded_begin - serve recorded time from here on; before it, and without it, the machine's is
 * served. origin_ns: of the recording. While all threads rest. */
void rep_recorded_begin(uint64_t origin_ns);

/* rep_recorded_advance - an op of this recorded time begins, or a window has ended: move the clock to it,
 * or leave it where another thread moved it further. Sleepers whose time comes on the way wake in their
 * order, and the clock stands until they sleep again. By workers, outside of the allocator's calls.
 * Does nothing before rep_recorded_begin. */
void rep_recorded_advance(uint64_t recorded_ns);

/* rep_recorded_pass - the same, by this much beyond now. */
void rep_recorded_pass(uint64_t span_ns);

/* rep_recorded_worker - the calling thread is a worker. */
void rep_recorded_worker(void);

/* ---- for served.c and sleepers.c ------------------------------------------------------------ */

bool rep_recorded_runs(void); /* rep_recorded_begin was called */
bool rep_recorded_is_worker(void);
uint64_t rep_recorded_now(void); /* now; 0 before the begin */

/* rep_recorded_raise - move now to elapsed_ns unless it is there already; wakes nobody. */
void rep_recorded_raise(uint64_t elapsed_ns);

/* rep_recorded_gettime - clock_gettime as the allocator sees it. Clocks of processor time are the
 * machine's always; all kinds of CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME and CLOCK_TAI are
 * recorded. */
int rep_recorded_gettime(clockid_t clock, struct timespec *ret_time);

/* ---- what happened -------------------------------------------------------------------------- */

/* Reads of a clock that is served, by the allocator. */
struct rep_asks {
    uint64_t asked;  /* since the process began; on the real clock until rep_recorded_decline */
    uint64_t served; /* of them, answered with recorded time */
};

/* rep_recorded_asks - until now; what asks later is whoever prints the outcome. */
struct rep_asks rep_recorded_asks(void);

/* rep_recorded_decline - this run is on the real clock: count no more, which would cost the timed code. */
void rep_recorded_decline(void);

#endif
