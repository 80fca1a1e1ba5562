/* places - two allocators whose placement is known to the byte, to be preloaded: built as libbump.so, which puts one object
 * behind the other, 1,024 bytes for each, from the start of a page on; and with SCATTER as libscatter.so, which gives every
 * object a page of its own, pages in a scattered order. Both take nothing back: they live for one short run.
 *
 * What the C library and the harness ask for goes elsewhere: only requests of OURS bytes are placed so,
 * more than any path or record of theirs takes. */
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE      4096u
#define OURS      1021u
#define STEP      1024u
#define PAGES_MAX (1u << 20)
#define ELSE_MAX  (UINT64_C(1) << 32) /* both reserved, not used */

static _Atomic uintptr_t ours, others;
static _Atomic uint64_t placed;

static uintptr_t reserve(_Atomic uintptr_t *pool, size_t bytes)
{
    if (atomic_load(pool) == 0) { /* first called before main, in one thread */
        void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                           -1, 0);
        if (start == MAP_FAILED)
            abort();
        atomic_store(pool, (uintptr_t)start);
    }
    return atomic_load(pool);
}

static uintptr_t place(uint64_t number)
{
#ifdef SCATTER
    /* An odd factor makes a permutation of the pages, and neighbours in time lie far apart. */
    return number * UINT64_C(0x9e3779b1) % PAGES_MAX * PAGE;
#else
    return number * STEP % ((uint64_t)PAGES_MAX * PAGE);
#endif
}

static void *take(size_t alignment, size_t size)
{
    if (size == OURS && alignment <= 64)
        return (void *)(reserve(&ours, (size_t)PAGES_MAX * PAGE) + place(atomic_fetch_add(&placed, 1)));
    /* The size stands before the object, for realloc. */
    (void)reserve(&others, ELSE_MAX);
    const uintptr_t start = atomic_fetch_add(&others, (size + 2 * alignment + 47) & ~(uintptr_t)15);
    const uintptr_t object = (start + 16 + alignment - 1) & ~(uintptr_t)(alignment - 1);
    memcpy((char *)object - 8, &size, 8);
    return (void *)object;
}

void *malloc(size_t size)
{
    return take(16, size);
}

void *calloc(size_t count, size_t size)
{
    return take(16, count * size);
}

void *realloc(void *object, size_t size)
{
    const uintptr_t start = atomic_load(&ours), at = (uintptr_t)object;
    void *moved = take(16, size);
    size_t former = OURS;
    if (object == NULL)
        return moved;
    if (start == 0 || at < start || at >= start + (size_t)PAGES_MAX * PAGE)
        memcpy(&former, (char *)object - 8, 8);
    return memcpy(moved, object, former < size ? former : size);
}

void free(void *object)
{
}

int posix_memalign(void **ret_object, size_t alignment, size_t size)
{
    *ret_object = take(alignment < 16 ? 16 : alignment, size);
    return 0;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return take(alignment < 16 ? 16 : alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
    return take(alignment < 16 ? 16 : alignment, size);
}
