/* real.c - the next definition after ours, looked up once. */
#include "replay/clock/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Two threads that look up the same find the same: no lock is needed. */
static void *find(_Atomic(void *) *place, const char *name)
{
    void *found = atomic_load_explicit(place, memory_order_relaxed);
    if (found == NULL) {
        found = dlsym(RTLD_NEXT, name); /* the newest version of a symbol that has several */
        atomic_store_explicit(place, found, memory_order_relaxed);
    }
    return found;
}

/* clock_gettime is asked for while libraries are relocated and initialised, when dlsym may not be called: until this
 * has run, the kernel itself is asked. */
static int (*gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void find_gettime(void)
{
    void *found = dlsym(RTLD_NEXT, "clock_gettime");
    memcpy(&gettime, &found, sizeof gettime);
}

int rep_real_gettime(clockid_t clock, struct timespec *ret_time)
{
    if (__builtin_expect(gettime == NULL, 0))
        return (int)syscall(SYS_clock_gettime, clock, ret_time);
    return gettime(clock, ret_time);
}

uint64_t rep_real_ns(clockid_t clock)
{
    struct timespec now = {0};
    (void)rep_real_gettime(clock, &now); /* this clock always exists */
    return rep_timespec_ns(&now);
}

int rep_real_sleep(clockid_t clock, int flags, const struct timespec *request, struct timespec *ret_left)
{
    return syscall(SYS_clock_nanosleep, clock, flags, request, ret_left) == 0 ? 0 : errno;
}

void rep_real_sleep_until(uint64_t moment_ns)
{
    const struct timespec moment = rep_timespec(moment_ns);
    while (rep_real_sleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL) == EINTR)
        continue;
}

int rep_real_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    static _Atomic(void *) place;
    int (*wait)(pthread_cond_t *, pthread_mutex_t *);
    void *found = find(&place, "pthread_cond_wait");
    memcpy(&wait, &found, sizeof wait);
    return wait(cond, mutex);
}

int rep_real_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, uint64_t moment_ns)
{
    static _Atomic(void *) place;
    int (*wait)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
    const struct timespec moment = rep_timespec(moment_ns);
    void *found = find(&place, "pthread_cond_clockwait");
    memcpy(&wait, &found, sizeof wait);
    return wait(cond, mutex, clock, &moment);
}

static int wake(_Atomic(void *) *place, const char *name, pthread_cond_t *cond)
{
    int (*function)(pthread_cond_t *);
    void *found = find(place, name);
    memcpy(&function, &found, sizeof function);
    return function(cond);
}

int rep_real_signal(pthread_cond_t *cond)
{
    static _Atomic(void *) place;
    return wake(&place, "pthread_cond_signal", cond);
}

int rep_real_broadcast(pthread_cond_t *cond)
{
    static _Atomic(void *) place;
    return wake(&place, "pthread_cond_broadcast", cond);
}

struct timespec rep_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / REP_SECOND_NS), .tv_nsec = (long)(ns % REP_SECOND_NS)};
}

uint64_t rep_timespec_ns(const struct timespec *time)
{
    return time->tv_sec < 0 ? 0 : (uint64_t)time->tv_sec * REP_SECOND_NS + (uint64_t)time->tv_nsec;
}
