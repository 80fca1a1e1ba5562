/* sleepers.h - the allocator's own threads, whose sleeps follow the recorded clock.
 *
 * A background thread is to sleep for a second of the recording, not of the machine. It is known by what it
 * waits in: the waits of POSIX threads and the sleeps of the C library (served.c). Where the clock is to
 * pass the moment for which a thread asked, it stops there, the thread wakes, and the clock goes on when it
 * sleeps again: as in the recorded program, where a purge took no noticeable part of the second.
 *
 *   asleep    in a wait or sleep; it has a moment of recorded time, or waits for a signal only
 *   awake     all else, from the moment on at which it is due or signalled
 *   lost      awake for so long that the clock went on without it: memory figures predict nothing then */
#ifndef MALLAB_REPLAY_CLOCK_SLEEPERS_H
#define MALLAB_REPLAY_CLOCK_SLEEPERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define REP_NEVER UINT64_MAX

/* rep_sleepers_begin - the recorded clock begins: waits under way end by it. */
void rep_sleepers_begin(void);

/* rep_sleepers_let_pass - whether nobody is awake, or to be woken until this moment. */
bool rep_sleepers_let_pass(uint64_t elapsed_ns);

/* rep_sleepers_wake_until - move the clock to that moment and wake on the way whose time comes. */
void rep_sleepers_wake_until(uint64_t elapsed_ns);

/* rep_sleepers_wait - as pthread_cond_timedwait with the mutex locked, for this long; REP_NEVER: as
 * pthread_cond_wait. On the recorded clock where it runs and the thread is a sleeper, else on ours.
 * Returns   0 (signalled, or for no reason), ETIMEDOUT, or another errno. */
int rep_sleepers_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t span_ns);

/* rep_sleepers_sleep - sleep this long, by the same clock. */
void rep_sleepers_sleep(uint64_t span_ns);

/* rep_sleepers_signal - this condition is about to be signalled: those who wait for it are awake. */
void rep_sleepers_signal(const pthread_cond_t *cond);

/* rep_sleepers_known - threads followed that are there now. rep_sleepers_lost - how often one was lost. */
unsigned rep_sleepers_known(void);
unsigned rep_sleepers_lost(void);

/* rep_sleepers_set_patience - set, for tests, how long the clock stands for threads that are awake; 5 s. */
void rep_sleepers_set_patience(uint64_t ns);

#endif
