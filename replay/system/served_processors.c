/* served_processors.c - the number of processors and the one that a thread runs on, in front of the C library's: processors.h says what is answered.
 * In every replay program and nowhere else, as clock/served.c is. The harness asks the kernel (rep_processors). */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "replay/system/processors.h"

extern long __sysconf(int name); /* the C library's own name for it */

long sysconf(int name)
{
    const struct rep_told told = rep_told();
    return told.online > 0 && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF)
               ? (long)told.online
               : __sysconf(name);
}

int get_nprocs(void)
{
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

int get_nprocs_conf(void)
{
    return (int)sysconf(_SC_NPROCESSORS_CONF);
}

/* The first of the machine. As the kernel, it refuses a mask that has no room for all of the machine's. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *ret_set)
{
    const struct rep_told told = rep_told();
    if (told.usable == 0) {
        const long bytes = syscall(SYS_sched_getaffinity, pid, size < INT_MAX ? size : INT_MAX, ret_set);
        if (bytes >= 0)
            memset((char *)ret_set + bytes, 0, size - (size_t)bytes);
        return bytes >= 0 ? 0 : -1;
    }
    if (size < INT_MAX / CHAR_BIT && size * CHAR_BIT < told.online) {
        errno = EINVAL;
        return -1;
    }
    memset(ret_set, 0, size);
    for (unsigned i = 0; i < told.usable; i++)
        CPU_SET_S(i, size, ret_set);
    return 0;
}

int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *ret_set)
{
    (void)thread; /* of the harness's or the allocator's own, and nobody gave it another mask */
    return sched_getaffinity(0, size, ret_set) == 0 ? 0 : errno;
}

/* Looked up before main: dlsym may not be called while libraries are relocated, and an allocator may ask at each call. */
static int (*getcpu_next)(void);

__attribute__((constructor)) static void find_getcpu(void)
{
    void *found = dlsym(RTLD_NEXT, "sched_getcpu");
    memcpy(&getcpu_next, &found, sizeof getcpu_next);
}

/* The processors of the recorded threads are not known: each stays on one, the next thread on the next. */
int sched_getcpu(void)
{
    static atomic_uint threads;
    static _Thread_local unsigned place; /* from 1 on */
    const struct rep_told told = rep_told();
    unsigned cpu = 0;
    if (told.usable == 0)
        return getcpu_next != NULL                          ? getcpu_next()
               : syscall(SYS_getcpu, &cpu, NULL, NULL) == 0 ? (int)cpu
                                                            : -1;
    if (place == 0)
        place = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) % told.usable + 1;
    return (int)place - 1;
}
