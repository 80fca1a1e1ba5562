/* storm.c - many threads that live for a moment. Checked by test_storm.py.
 *
 *   storm joined THREADS [FILE]   one after the other, each waited for; and more until there is that file
 *   storm detached THREADS        as fast as they can be created, at most ALIVE_MOST at one time
 *   storm busy THREADS            at one time, each with TURNS times as many calls, freeing each other's objects
 *
 * A thread allocates and releases CALLS / 2 objects; of every fourth thread the objects are released by the next one. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CALLS = 126, TURNS = 100 };

/* Less than the recorder's least memory has chunks, 32: where each is some thread's that gets no processor, calls are lost. */
enum { ALIVE_MOST = 24 };

static _Atomic(void *) handed_on;

static void call(uintptr_t seed)
{
    void *volatile objects[CALLS / 2];
    for (unsigned i = 0; i < CALLS / 2; i++)
        objects[i] = malloc(1 + (seed * 31 + i * 7) % 500);
    free(atomic_exchange(&handed_on, seed % 4 == 0 ? objects[0] : NULL));
    for (unsigned i = seed % 4 == 0; i < CALLS / 2; i++)
        free(objects[i]);
}

static void *once(void *seed)
{
    call((uintptr_t)seed);
    return NULL;
}

static void *often(void *seed)
{
    for (uintptr_t i = 0; i < TURNS; i++)
        call((uintptr_t)seed + i);
    return NULL;
}

static void all_at_once(uintptr_t threads)
{
    pthread_t *ids = calloc(threads, sizeof *ids);
    for (uintptr_t i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, often, (void *)i) != 0)
            abort();
    for (uintptr_t i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    free(ids);
}

static void one_by_one(uintptr_t threads, const char *until)
{
    for (uintptr_t i = 0; i < threads || (until != NULL && access(until, F_OK) != 0); i++) {
        pthread_t id;
        if (pthread_create(&id, NULL, once, (void *)i) != 0)
            abort();
        pthread_join(id, NULL);
    }
}

/* Until no more threads than so many are there. The links of the directory are two and the threads (proc(5)). */
static void wait_for_ends(unsigned alive)
{
    struct stat tasks;
    while (stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 2 + alive)
        sched_yield();
}

static void unwaited(uintptr_t threads)
{
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (uintptr_t i = 0; i < threads; i++) {
        pthread_t id;
        while (pthread_create(&id, &detached, once, (void *)i) != 0)
            sched_yield(); /* as many as the machine takes at one time */
        wait_for_ends(ALIVE_MOST);
    }
    wait_for_ends(
        1); /* what one calls while the process ends may be counted by one library and not by the next */
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const uintptr_t threads = strtoul(argv[2], NULL, 10);
    if (strcmp(argv[1], "joined") == 0)
        one_by_one(threads, argv[3]);
    else if (strcmp(argv[1], "detached") == 0)
        unwaited(threads);
    else
        all_at_once(threads);
    free(atomic_load(&handed_on));
    return 0;
}
