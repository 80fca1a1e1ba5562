/* late.c - a program that checks itself while somebody attaches to it and lets go.
 *
 * late [-n|-k|-w] THREADS: each thread allocates and frees at full rate (-n: with a short sleep now and then; -k: likewise, and
 * waits may be interrupted, as when who attaches is killed) and checks that what it
 * has written is still there, that errno and its floating point and vector registers are what they were, and that a sleep and an
 * epoll_wait(2) are not cut short. -w: instead of that each thread waits for a day, in one of some ways, and is not to come back.
 * SIGTERM ends it: then it says how many calls it made, by its own count. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define OBJECTS      64
#define THREADS_MOST 256

static volatile sig_atomic_t stopped;
static bool naps, may_interrupt, only_waits;
static unsigned long long calls;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

static void die(const char *what)
{
    fprintf(stderr, "late: %s\n", what);
    _exit(9);
}

/* Of nothing but registers, for some time; with AVX in their upper halves, too. */
typedef double pair __attribute__((vector_size(16)));

static double turn(double seed)
{
    pair sum = {seed, seed}, step = {1, 2};
    for (int i = 0; i < 200; i++) {
        sum += step;
        __asm__ volatile("" : "+x"(sum), "+x"(step));
    }
    return sum[0] + sum[1] - 2 * seed;
}

#if defined(__x86_64__)
typedef double four __attribute__((vector_size(32)));

__attribute__((target("avx"))) static double turn_wide(double seed)
{
    four sum = {seed, seed, seed, seed}, step = {0, 0, 1, 2};
    for (int i = 0; i < 200; i++) {
        sum += step;
        __asm__ volatile("" : "+x"(sum), "+x"(step));
    }
    return sum[0] + sum[1] + sum[2] + sum[3] - 4 * seed;
}
#else
static double turn_wide(double seed)
{
    return turn(seed);
}
#endif

static bool is_wide(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx");
#else
    return false;
#endif
}

static void check(unsigned char *object, int mark)
{
    size_t size;
    memcpy(&size, object, sizeof size);
    for (size_t i = sizeof size; i < size; i++)
        if (object[i] != (unsigned char)mark)
            die("an object has changed");
}

static void *work(void *argument)
{
    unsigned char *objects[OBJECTS] = {0};
    unsigned random = (unsigned)(uintptr_t)argument * 2654435761u + 1;
    unsigned long long made = 0;
    const bool wide = is_wide();
    const struct timespec nap = {0, 100000};
    while (!stopped) {
        random = random * 1664525u + 1013904223u;
        const int i = (int)(random >> 26);
        const size_t size = 16 + (random >> 8 & 0x3ff);
        errno = 77;
        if ((wide ? turn_wide(5) : turn(5)) != 600)
            die("registers have changed");
        if (errno != 77)
            die("errno has changed");
        if (objects[i] != NULL) {
            check(objects[i], i);
            free(objects[i]);
            objects[i] = NULL;
        } else {
            objects[i] = malloc(size);
            memset(objects[i], i, size);
            memcpy(objects[i], &size, sizeof size);
        }
        made++;
        if (naps && made % 200 == 0)
            (void)nanosleep(&nap, NULL);
    }
    for (int i = 0; i < OBJECTS; i++) {
        made += objects[i] != NULL;
        free(objects[i]);
    }
    __atomic_add_fetch(&calls, made, __ATOMIC_RELAXED);
    return NULL;
}

/* Calls that are begun anew as restart_syscall(2) when they were interrupted. */
static void *wait_for_a_day(void *argument)
{
    const struct timespec time = {86400, 0};
    struct timespec until;
    sem_t nobodys;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += time.tv_sec;
    sem_init(&nobodys, 0, 0);
    switch ((uintptr_t)argument % 4) {
    case 0:
        (void)nanosleep(&time, NULL);
        break;
    case 1:
        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
        break;
    case 2:
        (void)poll(NULL, 0, 86400000);
        break;
    default:
        (void)sem_timedwait(&nobodys, &until);
        break;
    }
    die("a wait was cut short");
    return NULL;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* What waits is not to see that it was stopped. */
static void wait_whole(int nobody)
{
    struct epoll_event event;
    const struct timespec time = {0, 20000000};
    int64_t begin = now_ns();
    if ((nanosleep(&time, NULL) != 0 && !stopped) || (now_ns() - begin < 20000000 && !stopped))
        die("a sleep was cut short");
    begin = now_ns();
    if (epoll_wait(nobody, &event, 1, 20) != 0 && !stopped) {
        if (may_interrupt && errno == EINTR)
            return;
        die("epoll_wait was cut short");
    }
    if (now_ns() - begin < 19000000 && !stopped)
        die("epoll_wait ended early");
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MOST];
    int ended_by;
    may_interrupt = argc > 2 && strcmp(argv[1], "-k") == 0;
    only_waits = argc > 2 && strcmp(argv[1], "-w") == 0;
    naps = may_interrupt || (argc > 2 && strcmp(argv[1], "-n") == 0);
    const int count = argc > 1 ? atoi(argv[argc - 1]) : 4, nobody = epoll_create1(EPOLL_CLOEXEC);
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    signal(SIGTERM, stop);
    pthread_sigmask(SIG_BLOCK, &term, NULL);
    for (int i = 0; i < count && i < THREADS_MOST; i++)
        if (pthread_create(&threads[i], NULL, only_waits ? wait_for_a_day : work,
                           (void *)(uintptr_t)(unsigned)i) != 0)
            die("no thread");
    if (!only_waits)
        pthread_sigmask(SIG_UNBLOCK, &term, NULL);
    puts("ready");
    fflush(stdout);
    while (only_waits && sigwait(&term, &ended_by) != 0)
        ;
    while (!stopped && !only_waits)
        wait_whole(nobody);
    for (int i = 0; i < count && i < THREADS_MOST && !only_waits; i++)
        pthread_join(threads[i], NULL);
    printf("calls %llu\n", calls);
    return 0;
}
