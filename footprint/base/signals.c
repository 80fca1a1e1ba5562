/* signals.c - take signals, give them back, die of one; threads that take none. */
#include "footprint/base/signals.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>

bool fp_signal_is_ending(int number)
{
    static const int ENDING[FP_ENDING_COUNT] = {FP_ENDING_SIGNALS};
    for (size_t i = 0; i < FP_ENDING_COUNT; i++)
        if (ENDING[i] == number)
            return true;
    return false;
}

void fp_signals_take(const int *numbers, size_t count, const struct sigaction *action,
                     struct sigaction *ret_former)
{
    for (size_t i = 0; i < count; i++) {
        struct sigaction former;
        (void)sigaction(numbers[i], NULL, &former); /* neither call fails for valid numbers */
        if (ret_former != NULL)
            ret_former[i] = former; /* before: the action may look there */
        if (former.sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], action, NULL);
    }
}

void fp_signals_restore(const int *numbers, size_t count, const struct sigaction *former)
{
    for (size_t i = 0; i < count; i++)
        (void)sigaction(numbers[i], &former[i], NULL); /* as above */
}

sigset_t fp_signals_set(const int *numbers, size_t count)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < count; i++)
        sigaddset(&set, numbers[i]);
    return set;
}

void fp_end_by_signal(int number)
{
    const struct rlimit none = {0, 0};
    sigset_t set;
    (void)setrlimit(RLIMIT_CORE, &none); /* a lower limit is always allowed */
    (void)signal(number, SIG_DFL); /* fails for those that cannot be caught, which end us all the same */
    sigemptyset(&set);
    sigaddset(&set, number);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL); /* cannot fail */
    (void)raise(number);                        /* likewise */
}

bool fp_has_one_processor(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1;
}

bool fp_helper_start(pthread_t *ret_thread, void *(*serve)(void *data), void *data)
{
    sigset_t all, before;
    bool started;
    (void)sigfillset(&all);
    if (fp_has_one_processor() || pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    started = pthread_create(ret_thread, NULL, serve, data) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* as it was */
    return started;
}
