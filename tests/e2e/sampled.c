/* sampled.c - calls of every kind, a known number of them: births, resizes over the size from which all are recorded and back,
 * releases on the thread of the birth and on another, and a forked child that releases what its parent made. */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SMALL 20000
#define GROWN 3000
#define LARGE 200

static void *small[SMALL];

static void *release(void *unused)
{
    for (int i = 0; i < SMALL; i += 2)
        free(small[i]);
    return unused;
}

static void *make(int i)
{
    void *made = NULL;
    switch (i % 4) {
    case 0:
        return malloc(100);
    case 1:
        return calloc(10, 10);
    case 2:
        return memalign(64, 100);
    default:
        return posix_memalign(&made, 32, 100) == 0 ? made : NULL;
    }
}

int main(void)
{
    static void *grown[GROWN], *large[LARGE];
    pthread_t other;
    for (int i = 0; i < SMALL; i++)
        small[i] = make(i);
    for (int i = 0; i < LARGE; i++)
        large[i] = malloc(16384 + (size_t)i);
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < SMALL; i++)
            free(small[i]);
        _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child)
        return 1;
    if (pthread_create(&other, NULL, release, NULL) != 0)
        return 1;
    pthread_join(other, NULL);
    for (int i = 1; i < SMALL; i += 2)
        free(small[i]);
    for (int i = 0; i < GROWN; i++) {
        const size_t sizes[] = {50, 5000, 17000, 70000, 3000, 80};
        for (unsigned k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            void *moved = realloc(grown[i], sizes[k]);
            if (moved == NULL)
                return 1;
            grown[i] = moved;
        }
        free(NULL);
    }
    for (int i = 0; i < GROWN; i++)
        free(grown[i]);
    for (int i = 0; i < LARGE; i++)
        free(large[i]);
    return 0;
}
