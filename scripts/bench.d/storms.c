/* storms.c - many threads and many processes that each do little, for scripts/bench.
 *
 *   storms joined THREADS    one after the other, each waited for
 *   storms detached THREADS  as fast as they can be created, none waited for before the last was created
 *   storms execs PROCESSES PROGRAM  one after the other, each a PROGRAM of its own
 *
 * Each thread makes CALLS calls: half of them allocate, half release. Prints {"ns": wall time, "cpu_ns": of this process
 * and the children that it waited for}. Start-up and end are not in it. */
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum { CALLS = 126 };

extern char **environ;

static _Atomic unsigned done;

static uint64_t monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t cpu_ns_of(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
}

static uint64_t cpu_ns(void)
{
    return cpu_ns_of(RUSAGE_SELF) + cpu_ns_of(RUSAGE_CHILDREN);
}

static void *work(void *unused)
{
    void *volatile objects[CALLS / 2];
    (void)unused;
    for (unsigned i = 0; i < CALLS / 2; i++)
        objects[i] = malloc(16 + i * 7 % 480);
    for (unsigned i = 0; i < CALLS / 2; i++)
        free(objects[i]);
    atomic_fetch_add(&done, 1);
    return NULL;
}

static void joined(unsigned threads)
{
    for (unsigned i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL) != 0)
            abort();
        pthread_join(thread, NULL);
    }
}

static void detached(unsigned threads)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (unsigned i = 0; i < threads; i++) {
        pthread_t thread;
        while (pthread_create(&thread, &attributes, work, NULL) != 0)
            sched_yield(); /* as many as the machine takes at one time */
    }
    while (atomic_load(&done) < threads)
        sched_yield();
}

static void execs(unsigned processes, char *program)
{
    char *arguments[] = {program, NULL};
    for (unsigned i = 0; i < processes; i++) {
        pid_t pid;
        if (posix_spawn(&pid, program, NULL, NULL, arguments, environ) != 0 || waitpid(pid, NULL, 0) != pid)
            abort();
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const unsigned count = (unsigned)strtoul(argv[2], NULL, 10);
    const uint64_t begin_ns = monotonic_ns(), begin_cpu_ns = cpu_ns();
    if (strcmp(argv[1], "joined") == 0)
        joined(count);
    else if (strcmp(argv[1], "detached") == 0)
        detached(count);
    else if (strcmp(argv[1], "execs") == 0 && argc == 4)
        execs(count, argv[3]);
    else
        return 2;
    printf("{\"ns\": %llu, \"cpu_ns\": %llu}\n", (unsigned long long)(monotonic_ns() - begin_ns),
           (unsigned long long)(cpu_ns() - begin_cpu_ns));
    return 0;
}
