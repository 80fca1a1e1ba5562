/* pool.c - threads that live at once, as many as argv[1] says: each begins when all are there, and works until its work is done. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 256
#define KEPT        300
#define ROUNDS      20000

static pthread_barrier_t together;

static void *work(void *argument)
{
    uint32_t state = (uint32_t)(uintptr_t)argument * 7919u + 1u;
    void *kept[KEPT] = {NULL};
    kept[0] = malloc(100); /* it has its arena before others have ended */
    pthread_barrier_wait(&together);
    for (int i = 0; i < ROUNDS; i++) {
        state = state * 1664525u + 1013904223u;
        const unsigned at = (state >> 8) % KEPT;
        const size_t size = 16 + (state >> 16) % 4000;
        free(kept[at]);
        kept[at] = malloc(size);
        if (kept[at] != NULL)
            memset(kept[at], 1, size);
    }
    pthread_barrier_wait(&together);
    for (int i = 0; i < KEPT; i++)
        free(kept[i]);
    return NULL;
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 40;
    pthread_t threads[THREADS_MAX];
    if (count < 1 || count > THREADS_MAX || pthread_barrier_init(&together, NULL, (unsigned)count) != 0)
        return 2;
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1)) != 0)
            return 1;
    for (int i = 0; i < count; i++)
        (void)pthread_join(threads[i], NULL); /* it exists */
    return 0;
}
