/* replay_refusing - an allocator that refuses requests of a million bytes and more, to be preloaded.
 *
 * With REFUSING_CRASHES in the environment it aborts instead. With REFUSING_LINGERS each thread that allocated
 * works for LINGERS_NS more as it ends, as allocators do that give back a thread's cache.
 * It hands out a mapping from its start and takes nothing back: it lives for one short run. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define REFUSED_BYTES 1000000u
#define POOL_BYTES    (UINT64_C(1) << 32) /* reserved, not used */

#define LINGERS_NS 3000000

static _Atomic uintptr_t next;
static pthread_key_t at_end;
static bool lingers;

static void linger(void *unused)
{
    struct timespec begin, now;
    (void)unused;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < LINGERS_NS);
}

__attribute__((constructor)) static void begin(void)
{
    lingers = getenv("REFUSING_LINGERS") != NULL && pthread_key_create(&at_end, linger) == 0;
}

static void *take(size_t alignment, size_t size)
{
    if (lingers)
        pthread_setspecific(at_end, &at_end);
    if (size >= REFUSED_BYTES) {
        if (getenv("REFUSING_CRASHES") != NULL)
            abort();
        errno = ENOMEM;
        return NULL;
    }
    if (atomic_load(&next) == 0) { /* first called before main, in one thread */
        void *pool = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (pool == MAP_FAILED)
            return NULL;
        atomic_store(&next, (uintptr_t)pool);
    }
    /* The size stands before the object, for realloc. */
    const uintptr_t start = atomic_fetch_add(&next, (size + 2 * alignment + 31) & ~(uintptr_t)15);
    const uintptr_t object = (start + 8 + alignment - 1) & ~(uintptr_t)(alignment - 1);
    memcpy((char *)object - 8, &size, 8);
    return (void *)object;
}

void *malloc(size_t size)
{
    return take(16, size);
}

void *calloc(size_t count, size_t size)
{
    return take(16, count * size); /* fresh memory is zero */
}

void *realloc(void *object, size_t size)
{
    size_t former = 0;
    void *moved = take(16, size);
    if (object != NULL && moved != NULL) {
        memcpy(&former, (char *)object - 8, 8);
        memcpy(moved, object, former < size ? former : size);
    }
    return moved;
}

void free(void *object)
{
}

int posix_memalign(void **ret_object, size_t alignment, size_t size)
{
    void *object = take(alignment < 16 ? 16 : alignment, size);
    if (object == NULL)
        return ENOMEM;
    *ret_object = object;
    return 0;
}
