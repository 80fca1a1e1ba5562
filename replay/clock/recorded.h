/* recorded.h - the recorded clock: the time of the recording, told to the allocator in place of ours.
 *
 * Decay and purging follow the clock. A replay takes seconds where the program took hours; under the
 * machine's clock an allocator would give back next to nothing of what it gave back then. So in a run on
 * the recorded clock the functions that tell the time (served.c) answer with recorded time, which the
 * replay moves on with the ops. The state is the process's, because the functions that ask are.
 *
 * An allocator's background thread is to sleep for a second of the recording, not of the machine. It is known by what it
 * waits in: the waits of POSIX threads and the sleeps of the C library (served.c). Where the clock is to
 * pass the moment for which a thread asked, it stops there, the thread wakes, and the clock goes on when it
 * sleeps again: as in the recorded program, where a purge took no noticeable part of the second.
 *
 *   origin    recorded time at which the clock begins; it goes on from what the machine's clocks told
 *   now       recorded time since the origin. One for all threads; it never goes back
 *   worker    a thread that executes ops, or main's. Its sleeps are real: a lock's back-off, say
 *   sleeper   any other thread that sleeps: the allocator's own. It wakes by recorded time
 *   asleep    in a wait or sleep; it has a moment of recorded time, or waits for a signal only
 *   awake     all else, from the moment on at which it is due or signalled
 *   lost      awake for so long that the clock went on without it: memory figures predict nothing then */
#ifndef MALLAB_REPLAY_CLOCK_RECORDED_H
#define MALLAB_REPLAY_CLOCK_RECORDED_H

#include <pthread.h>
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

/* ---- for served.c --------------------------------------------------------------------------- */

#define REP_NEVER UINT64_MAX

bool rep_recorded_is_worker(void);
uint64_t rep_recorded_now(void); /* now; 0 before the begin */

/* rep_recorded_gettime - clock_gettime as the allocator sees it. Clocks of processor time are the
 * machine's always; all kinds of CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME and CLOCK_TAI are
 * recorded. */
int rep_recorded_gettime(clockid_t clock, struct timespec *ret_time);

/* rep_sleepers_wait - as pthread_cond_timedwait with the mutex locked, for this long; REP_NEVER: as
 * pthread_cond_wait. On the recorded clock where it runs and the thread is a sleeper, else on ours.
 * Returns   0 (signalled, or for no reason), ETIMEDOUT, or another errno. */
int rep_sleepers_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t span_ns);

/* rep_sleepers_sleep - sleep this long, by the same clock. */
void rep_sleepers_sleep(uint64_t span_ns);

/* rep_sleepers_signal - this condition is about to be signalled: those who wait for it are awake. */
void rep_sleepers_signal(const pthread_cond_t *cond);

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

/* rep_sleepers_let_pass - whether nobody is awake, or to be woken until this moment. */
bool rep_sleepers_let_pass(uint64_t elapsed_ns);

/* rep_sleepers_known - threads followed that are there now. rep_sleepers_lost - how often one was lost. */
unsigned rep_sleepers_known(void);
unsigned rep_sleepers_lost(void);

/* rep_sleepers_set_patience - set, for tests, how long the clock stands for threads that are awake; 5 s. */
void rep_sleepers_set_patience(uint64_t ns);

#endif
