/* served.c - functions that tell the time and wait for it, in front of the C library's: these definitions of the program come
 * first for every library in it, the allocator's too, linked or preloaded.
 *
 * In every replay program and nowhere else: recorded.h says what they answer. The C library itself does not go through
 * them, and the harness does not either (real.h). */
#include <errno.h>
#include <pthread.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "replay/clock/real.h"
#include "replay/clock/recorded.h"

int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    return rep_recorded_gettime(clock, ret_time);
}

int gettimeofday(struct timeval *ret_time, void *zone)
{
    struct timespec now;
    (void)zone; /* has had no meaning for decades */
    const int result = rep_recorded_gettime(CLOCK_REALTIME, &now);
    if (result == 0)
        *ret_time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return result;
}

time_t time(time_t *ret_time)
{
    struct timespec now = {0};
    (void)rep_recorded_gettime(CLOCK_REALTIME, &now); /* this clock always exists */
    if (ret_time != NULL)
        *ret_time = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(struct timespec *ret_time, int base)
{
    return base == TIME_UTC && rep_recorded_gettime(CLOCK_REALTIME, ret_time) == 0 ? base : 0;
}

/* ---- sleeping ------------------------------------------------------------------------------- */

static bool is_valid(const struct timespec *time)
{
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < (long)REP_SECOND_NS;
}

/* The time until a moment by a clock that the allocator has read. */
static uint64_t span_until(clockid_t clock, const struct timespec *moment)
{
    struct timespec now;
    const uint64_t then = rep_timespec_ns(moment);
    if (rep_recorded_gettime(clock, &now) != 0)
        return 0;
    return then > rep_timespec_ns(&now) ? then - rep_timespec_ns(&now) : 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request, struct timespec *ret_left)
{
    if (rep_recorded_is_worker() && !(flags & TIMER_ABSTIME))
        return rep_real_sleep(clock, flags, request, ret_left);
    if (!is_valid(request))
        return EINVAL;
    rep_sleepers_sleep(flags & TIMER_ABSTIME ? span_until(clock, request) : rep_timespec_ns(request));
    return 0;
}

int nanosleep(const struct timespec *request, struct timespec *ret_left)
{
    const int error = clock_nanosleep(CLOCK_REALTIME, 0, request, ret_left);
    if (error != 0)
        errno = error;
    return error == 0 ? 0 : -1;
}

int usleep(useconds_t microseconds)
{
    const struct timespec request = rep_timespec((uint64_t)microseconds * 1000);
    return nanosleep(&request, NULL);
}

unsigned sleep(unsigned seconds)
{
    struct timespec left = {0};
    const struct timespec request = {.tv_sec = (time_t)seconds};
    return nanosleep(&request, &left) == 0 ? 0 : (unsigned)left.tv_sec + (left.tv_nsec > 0);
}

/* ---- waiting -------------------------------------------------------------------------------- */

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    return rep_sleepers_wait(cond, mutex, REP_NEVER);
}

int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *moment)
{
    return is_valid(moment) ? rep_sleepers_wait(cond, mutex, span_until(clock, moment)) : EINVAL;
}

/* A condition knows by which clock it waits, and does not tell. The two that it can be are decades apart. */
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *moment)
{
    struct timespec realtime = {0};
    (void)rep_real_gettime(CLOCK_REALTIME, &realtime); /* this clock always exists */
    const bool by_realtime = moment->tv_sec > realtime.tv_sec / 2;
    return pthread_cond_clockwait(cond, mutex, by_realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC, moment);
}

int pthread_cond_signal(pthread_cond_t *cond)
{
    rep_sleepers_signal(cond);
    return rep_real_signal(cond);
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
    rep_sleepers_signal(cond);
    return rep_real_broadcast(cond);
}
