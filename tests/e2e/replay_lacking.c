/* replay_lacking - an allocator without posix_memalign, to be preloaded: no candidate can be made of it.
 *
 * It hands out a static pool from its start and takes nothing back. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define POOL_BYTES ((size_t)1 << 24)

static _Alignas(16) char pool[POOL_BYTES];
static _Atomic size_t used;

/* The size stands before the object, for realloc. */
void *malloc(size_t size)
{
    const size_t start = atomic_fetch_add(&used, (size + 16 + 15) & ~(size_t)15);
    if (size > POOL_BYTES || start > POOL_BYTES - size - 16)
        return NULL;
    memcpy(pool + start, &size, sizeof size);
    return pool + start + 16;
}

void free(void *object)
{
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size); /* fresh memory is zero */
}

void *realloc(void *object, size_t size)
{
    size_t former = 0;
    void *moved = malloc(size);
    if (object != NULL && moved != NULL) {
        memcpy(&former, (char *)object - 16, sizeof former);
        memcpy(moved, object, former < size ? former : size);
    }
    return moved;
}
