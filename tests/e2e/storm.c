/* storm.c - many threads that live for a moment. Checked by test_storm.py.
 *
 *   storm THREADS [FILE]   one after the other, each waited for; and more until there is that file
 *
 * A thread allocates and releases CALLS / 2 objects; of every fourth thread the objects are released by the next one. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { CALLS = 126 };

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

static void one_by_one(uintptr_t threads, const char *until)
{
    for (uintptr_t i = 0; i < threads || (until != NULL && access(until, F_OK) != 0); i++) {
        pthread_t id;
        if (pthread_create(&id, NULL, once, (void *)i) != 0)
            abort();
        pthread_join(id, NULL);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    one_by_one(strtoul(argv[1], NULL, 10), argv[2]);
    free(atomic_load(&handed_on));
    return 0;
}
