/* bench_loop.c - programs whose cost per event under the recorder is measured; scripts read their one line.
 *
 *   bench_loop loop EVENTS       malloc and free of one small object, over and over
 *   bench_loop replace EVENTS    10,000 live objects, a random one replaced each time
 *   bench_loop cross EVENTS      two threads, each frees half of what the other allocated
 *
 * Prints: wall ns and CPU ns (all threads) per event, one event being one malloc or free. A first tenth of the events is warm-up and not timed. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIVE 10000u
#define RING 1024u

static double clock_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void loop(uint64_t events)
{
    for (uint64_t i = 0; i < events / 2; i++) {
        void *volatile object = malloc(48);
        free(object);
    }
}

static void replace(uint64_t events)
{
    static void *live[LIVE];
    uint64_t seed = 88172645463325252u;
    for (uint64_t i = 0; i < events / 2; i++) {
        const uint64_t random = next_random(&seed);
        void **object = &live[random % LIVE];
        free(*object);
        *object = malloc(16 + (random >> 32) % 240);
    }
}

struct hand {
    void *ring[RING]; /* by __atomic_exchange_n only */
    uint64_t events;
};

static struct hand hands[2];

/* Odd objects go to the other thread's ring; what lies in the way there is freed by whoever takes it out. */
static void *worker(void *argument)
{
    struct hand *mine = argument, *theirs = mine == &hands[0] ? &hands[1] : &hands[0];
    for (uint64_t i = 0; i < mine->events / 2; i++) {
        void *object = malloc(32 + i % 64);
        if (i & 1)
            object = __atomic_exchange_n(&theirs->ring[i % RING], object, __ATOMIC_ACQ_REL);
        free(object);
    }
    return NULL;
}

static void cross(uint64_t events)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        hands[i].events = events / 2;
        if (pthread_create(&threads[i], NULL, worker, &hands[i]) != 0)
            abort();
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    void (*kind)(uint64_t) = NULL;
    uint64_t events;
    double wall, cpu;
    if (argc == 3)
        kind = strcmp(argv[1], "loop") == 0      ? loop
               : strcmp(argv[1], "replace") == 0 ? replace
               : strcmp(argv[1], "cross") == 0   ? cross
                                                 : NULL;
    if (kind == NULL)
        return 2;
    events = strtoull(argv[2], NULL, 10);
    kind(events / 10);
    cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    wall = clock_ns(CLOCK_MONOTONIC);
    kind(events);
    wall = clock_ns(CLOCK_MONOTONIC) - wall;
    cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("%.2f %.2f\n", wall / (double)events, cpu / (double)events);
    return 0;
}
