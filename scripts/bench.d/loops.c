/* loops.c - loops of malloc and free that time themselves, for scripts/bench.
 *
 *   loops pair EVENTS      one object, allocated and freed
 *   loops random EVENTS [LIVE] 10,000 live objects, or so many, of 16 to 1024 bytes, one at random replaced
 *   loops handover EVENTS  two threads, each freeing what the other allocated
 *   loops threads EVENTS N [GIVEN] N threads with 1,000 live objects each; every eighth object, or so many in a thousand, goes
 *                          to the next thread, which frees it
 *
 * Prints {"ns": wall time of the loop, "cpu_ns": of it in this process, all threads}. Start-up and end are
 * not in it. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LIVE = 10000, RING = 1024, OWN = 1000, THREADS_MOST = 1024 };

static unsigned given = 125; /* of 1,000 */

static void *volatile escape; /* keeps the compiler from removing malloc with its free */

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t start_ns, start_cpu_ns;

static void start(void)
{
    start_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    start_ns = clock_ns(CLOCK_MONOTONIC);
}

static void stop(void)
{
    const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC);
    const uint64_t end_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    printf("{\"ns\": %llu, \"cpu_ns\": %llu}\n", (unsigned long long)(end_ns - start_ns),
           (unsigned long long)(end_cpu_ns - start_cpu_ns));
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void *allocate(size_t size)
{
    char *object = malloc(size);
    if (!object)
        abort();
    escape = object;
    object[0] = 1;
    return object;
}

static void pair(uint64_t events)
{
    start();
    for (uint64_t i = 0; i < events / 2; i++)
        free(allocate(64));
    stop();
}

static void replace_random(uint64_t events, uint64_t count)
{
    void **live = calloc(count, sizeof *live);
    uint64_t random = 88172645463325252u;
    for (uint64_t i = 0; live && i < count; i++)
        live[i] = allocate(16 + next_random(&random) % 1009);
    start();
    for (uint64_t i = 0; i < events / 2; i++) {
        const uint64_t r = next_random(&random);
        void **slot = &live[r % count];
        free(*slot);
        *slot = allocate(16 + (r >> 32) % 1009);
    }
    stop();
}

/* One direction of the handover: a ring with one producer and one consumer. */
struct ring {
    _Atomic(uint64_t) head __attribute__((aligned(64)));
    _Atomic(uint64_t) tail __attribute__((aligned(64)));
    void *slots[RING];
};

struct side {
    struct ring *in, *out;
    uint64_t objects;
    uint64_t random;
};

/* Frees what has come; returns how many. The acquire pairs with the release in hand_over. */
static uint64_t take(struct ring *in)
{
    const uint64_t head = atomic_load_explicit(&in->head, memory_order_acquire);
    const uint64_t tail = atomic_load_explicit(&in->tail, memory_order_relaxed);
    for (uint64_t i = tail; i < head; i++)
        free(in->slots[i % RING]);
    atomic_store_explicit(&in->tail, head, memory_order_release); /* pairs with the acquire below */
    return head - tail;
}

static void *hand_over(void *argument)
{
    struct side *side = argument;
    uint64_t sent = 0, taken = 0;
    while (sent < side->objects || taken < side->objects) {
        const uint64_t head = atomic_load_explicit(&side->out->head, memory_order_relaxed);
        const uint64_t tail = atomic_load_explicit(&side->out->tail, memory_order_acquire);
        uint64_t room = RING - (head - tail);
        if (room > side->objects - sent)
            room = side->objects - sent;
        if (room > 64)
            room = 64;
        for (uint64_t i = 0; i < room; i++)
            side->out->slots[(head + i) % RING] = allocate(16 + next_random(&side->random) % 497);
        atomic_store_explicit(&side->out->head, head + room, memory_order_release);
        const uint64_t came = take(side->in);
        sent += room;
        taken += came;
        if (room == 0 && came == 0)
            sched_yield(); /* the other one may be waiting for this processor */
    }
    return NULL;
}

static void handover(uint64_t events)
{
    static struct ring rings[2];
    struct side sides[2] = {
        {.in = &rings[0], .out = &rings[1], .objects = events / 4, .random = 88172645463325252u},
        {.in = &rings[1], .out = &rings[0], .objects = events / 4, .random = 1181783497276652981u},
    };
    pthread_t other;
    start();
    if (pthread_create(&other, NULL, hand_over, &sides[1]) != 0)
        abort();
    hand_over(&sides[0]);
    pthread_join(other, NULL);
    stop();
}

/* One of many: replaces its own objects, puts some of those that go into the next one's ring, and frees what
 * comes in its own. Where the ring is full it frees the object itself, so nobody waits for anybody. */
struct worker {
    struct ring in, *out;
    uint64_t objects, random;
    pthread_barrier_t *begin, *finished;
    pthread_t thread;
};

static void part_with(struct worker *worker, void *object, uint64_t number)
{
    struct ring *out = worker->out;
    const uint64_t head = atomic_load_explicit(&out->head, memory_order_relaxed);
    if (!object || number * given % 1000 >= given ||
        head - atomic_load_explicit(&out->tail, memory_order_acquire) == RING) {
        free(object);
        return;
    }
    out->slots[head % RING] = object;
    atomic_store_explicit(&out->head, head + 1, memory_order_release); /* pairs with the acquire in take */
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    void *own[OWN] = {NULL};
    pthread_barrier_wait(worker->begin);
    for (uint64_t i = 0; i < worker->objects; i++) {
        const uint64_t r = next_random(&worker->random);
        void **slot = &own[r % OWN];
        if (*slot)
            part_with(worker, *slot, i);
        *slot = allocate(16 + (r >> 32) % 497);
        if (i % 64 == 0)
            take(&worker->in);
    }
    for (int i = 0; i < OWN; i++)
        if (own[i])
            free(own[i]);
    pthread_barrier_wait(worker->finished);
    take(&worker->in);
    return NULL;
}

static void threads(uint64_t events, unsigned count)
{
    static struct worker workers[THREADS_MOST];
    pthread_barrier_t begin, finished;
    pthread_barrier_init(&begin, NULL, count + 1);
    pthread_barrier_init(&finished, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        workers[i].out = &workers[(i + 1) % count].in;
        workers[i].objects = events / 2 / count;
        workers[i].random = 88172645463325252u + i * 0x9e3779b97f4a7c15u;
        workers[i].begin = &begin;
        workers[i].finished = &finished;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            abort();
    }
    start(); /* all threads are there and wait: starting them is not in the figures */
    pthread_barrier_wait(&begin);
    for (unsigned i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    stop();
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const uint64_t events = strtoull(argv[2], NULL, 10);
    if (strcmp(argv[1], "pair") == 0)
        pair(events);
    else if (strcmp(argv[1], "random") == 0)
        replace_random(events, argc > 3 ? strtoull(argv[3], NULL, 10) : LIVE);
    else if (strcmp(argv[1], "handover") == 0)
        handover(events);
    else if (strcmp(argv[1], "threads") == 0 && argc > 3 && atoi(argv[3]) > 0 &&
             atoi(argv[3]) <= THREADS_MOST) {
        given = argc > 4 ? (unsigned)atoi(argv[4]) : given;
        threads(events, (unsigned)atoi(argv[3]));
    } else
        return 2;
    return 0;
}
