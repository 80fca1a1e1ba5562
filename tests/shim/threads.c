/* threads.c - threads that come and go, hand objects over, and end in every way. Checked by test_threads.py.
 *
 *   handover    producers and consumers on shared slots
 *   exits       return, pthread_exit, cancellation, with destructors that allocate and free in every iteration
 *   leaderexit  the main thread ends first */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/modes.h"

#define SLOTS     64
#define HANDOVERS 100000
#define PAIRS     2

static pthread_t start(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, argument) != 0)
        abort();
    return thread;
}

/* ---- hand-over ----------------------------------------------------------------------------------- */

static void *slots[SLOTS];

/* What one thread puts into a slot, another may take out and free; sizes repeat, so addresses are reused. */
static void *handover_body(void *number)
{
    uint64_t random = 88172645463325252u + (uintptr_t)number;
    for (int i = 0; i < HANDOVERS; i++) {
        void *object = malloc(7100 % 97 + random % 3 * 16);
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        free(__atomic_exchange_n(&slots[random % SLOTS], object, __ATOMIC_ACQ_REL));
        if (i % 64 == 0) {
            void *moved = __atomic_exchange_n(&slots[random % SLOTS], NULL, __ATOMIC_ACQ_REL);
            moved = realloc(moved, 200);
            free(__atomic_exchange_n(&slots[random % SLOTS], moved, __ATOMIC_ACQ_REL));
        }
    }
    return NULL;
}

static int handover(void)
{
    pthread_t threads[2 * PAIRS];
    for (uintptr_t i = 0; i < 2 * PAIRS; i++)
        threads[i] = start(handover_body, (void *)i);
    for (int i = 0; i < 2 * PAIRS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < SLOTS; i++)
        free(slots[i]);
    return 0;
}

/* ---- ends ------------------------------------------------------------------------------------------ */

static pthread_key_t key;

static void destructor(void *value)
{
    use(7201, 5);
    if ((uintptr_t)value > 1)
        pthread_setspecific(key, (void *)((uintptr_t)value - 1));
}

static void *exits_body(void *kind)
{
    pthread_setspecific(key, (void *)4); /* PTHREAD_DESTRUCTOR_ITERATIONS */
    use(7202, 10);
    if ((uintptr_t)kind == 1)
        pthread_exit(NULL);
    while ((uintptr_t)kind == 2)
        sleep(1000); /* until cancelled */
    return NULL;
}

static int exits(void)
{
    pthread_key_create(&key, destructor);
    for (uintptr_t kind = 0; kind < 3; kind++) {
        pthread_t thread = start(exits_body, (void *)kind);
        if (kind == 2)
            pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    return 0;
}

static pthread_t leader;

static void *after_leader(void *unused)
{
    pthread_join(leader, NULL);
    usleep(200000); /* long enough for the collector to look at a process whose leader is gone */
    use(7302, 1000);
    return NULL;
}

static int leader_exit(void)
{
    leader = pthread_self();
    use(7301, 1000);
    (void)start(after_leader, NULL);
    pthread_exit(NULL);
}

static const struct mode MODES[] = {
    {"handover", handover},
    {"exits", exits},
    {"leaderexit", leader_exit},
    {0},
};

int main(int argc, char **argv)
{
    const int code = run_mode(MODES, argc > 1 ? argv[1] : "");
    return code >= 0 ? code : 2;
}
