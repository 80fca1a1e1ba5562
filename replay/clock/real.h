/* real.h - the C library's own clock, sleeps and waits, past the functions of the same names that the replay
 * programs put before it (served.c).
 *
 * Whatever of the harness reads a clock or waits does it through here: under the recorded clock clock_gettime of this
 * process tells the allocator's time, not ours. Nothing here allocates. Every function may be called at any moment,
 * also while the allocator's library is being initialised and before main. */
#ifndef MALLAB_REPLAY_CLOCK_REAL_H
#define MALLAB_REPLAY_CLOCK_REAL_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define REP_SECOND_NS UINT64_C(1000000000)

/* rep_real_gettime - clock_gettime. Returns 0, or -1 with errno. */
int rep_real_gettime(clockid_t clock, struct timespec *ret_time);

/* rep_real_ns - a clock that always exists (CLOCK_MONOTONIC, CLOCK_REALTIME), in nanoseconds. */
uint64_t rep_real_ns(clockid_t clock);

/* rep_real_sleep - clock_nanosleep. Returns 0 or an errno. */
int rep_real_sleep(clockid_t clock, int flags, const struct timespec *request, struct timespec *ret_left);

/* rep_real_sleep_until - sleep until this moment of CLOCK_MONOTONIC, through interruptions. */
void rep_real_sleep_until(uint64_t moment_ns);

/* The waits of POSIX threads. rep_real_wait_until: pthread_cond_clockwait. */
int rep_real_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int rep_real_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, uint64_t moment_ns);
int rep_real_signal(pthread_cond_t *cond);
int rep_real_broadcast(pthread_cond_t *cond);

/* rep_timespec / rep_timespec_ns - from and to nanoseconds; moments before the clock's origin are it. */
struct timespec rep_timespec(uint64_t ns);
uint64_t rep_timespec_ns(const struct timespec *time);

#endif
