/* told.c - a program that says what it asks of malloc: told ROUNDS [THREADS]
 *
 * Each thread makes ROUNDS random calls, the same at every run, on objects of its own. The counts go to stdout as one line
 * of JSON, without any allocation. mtrace() is on from before the first call to after the last. */
#include <malloc.h>
#include <mcheck.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LIVE = 512, THREADS_MAX = 8 };

struct counts {
    unsigned long mallocs, callocs, reallocs, aligned, failed, frees, requested;
};

static unsigned long rounds;
static struct counts counts[THREADS_MAX];

static uint64_t next_random(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random >> 16;
}

static void *allocate(struct counts *mine, unsigned kind, size_t size)
{
    void *object = NULL;
    mine->requested += size;
    switch (kind) {
    case 0:
        mine->callocs++;
        return calloc(1, size);
    case 1:
        mine->aligned++;
        return posix_memalign(&object, 64, size) == 0 ? object : NULL;
    case 2:
        mine->aligned++;
        return aligned_alloc(128, size);
    default:
        mine->mallocs++;
        return malloc(size);
    }
}

static void fail(struct counts *mine)
{
    volatile size_t size = (size_t)1 << 62; /* the compiler must not know */
    void *volatile object = malloc(size);
    mine->failed += object == NULL;
}

static void *run(void *data)
{
    struct counts *mine = data;
    void *live[LIVE] = {0};
    uint64_t random = 88172645463325252u + (uint64_t)(mine - counts);
    for (unsigned long i = 0; i < rounds; i++) {
        void **slot = &live[next_random(&random) % LIVE];
        const unsigned kind = next_random(&random) % 16;
        const size_t size = 1 + next_random(&random) % 4000;
        if (kind == 15 && i % 10 == 0) {
            fail(mine);
        } else if (*slot == NULL) {
            *slot = allocate(mine, kind, size);
        } else if (kind < 4) {
            *slot = realloc(*slot, size);
            mine->reallocs++;
            mine->requested += size;
        } else {
            free(*slot);
            *slot = NULL;
            mine->frees++;
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const unsigned threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) % THREADS_MAX : 0;
    pthread_t ids[THREADS_MAX];
    struct counts sum = {0};
    char line[256];
    rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    mtrace();
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, run, &counts[i]) != 0)
            return 1;
    for (unsigned i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    if (threads == 0)
        run(&counts[0]);
    muntrace();
    for (unsigned i = 0; i < THREADS_MAX; i++) {
        sum.mallocs += counts[i].mallocs;
        sum.callocs += counts[i].callocs;
        sum.reallocs += counts[i].reallocs;
        sum.aligned += counts[i].aligned;
        sum.failed += counts[i].failed;
        sum.frees += counts[i].frees;
        sum.requested += counts[i].requested;
    }
    const int length = snprintf(line, sizeof line,
                                "{\"malloc\": %lu, \"calloc\": %lu, \"realloc\": %lu, \"aligned\": %lu, "
                                "\"failed\": %lu, \"free\": %lu, \"requested\": %lu}\n",
                                sum.mallocs, sum.callocs, sum.reallocs, sum.aligned, sum.failed, sum.frees,
                                sum.requested);
    return write(STDOUT_FILENO, line, (size_t)length) == length ? 0 : 1;
}
