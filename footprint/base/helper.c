/* helper.c - starting a thread of our own. */
#include "footprint/base/helper.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>

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
