/* broken - an allocator that breaks one promise, to be preloaded: BROKEN names it, BROKEN_AT which call it is.
 *
 *   null       returns NULL once           abort      aborts              hang      never returns
 *   overlap    hands out memory in use     misalign   8 bytes off         smear     writes behind an object
 *   realloc    loses what it copies        calloc     does not zero
 *   flood      complains 200,000 times, then returns NULL
 *   misaligned 8 bytes off, each object
 *   vague      returns NULL from a calloc, with what an earlier system call of its own left in errno
 *   lazy       breaks none: it uses 32 MiB once and leaves it to the kernel to take them back when it has to
 *   linger     breaks none: each thread that allocated works for LINGERS_NS more as it ends, as allocators do that give back a
 *              thread's cache
 *
 * REFUSES builds one that refuses requests of a million bytes and more, and has neither memalign
 * nor aligned_alloc; LACKS one without posix_memalign, of which no candidate can be made; FORGIVES_NOT one that aborts where a delete states
 * another size than its object was given.
 *
 * Calls are counted for requests of 100 to 4000 bytes only: what the C library and the harness ask for is of other
 * sizes or comes before. It hands out a mapping from its start and takes nothing back: it lives for one short run. */
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
#include <unistd.h>

#define POOL_BYTES (UINT64_C(1) << 34) /* reserved, not used */
#define LAZY_BYTES (UINT64_C(32) << 20)
#define LINGERS_NS 3000000
#if defined REFUSES || defined LACKS
#define MOST_BYTES 1000000u
#else
#define MOST_BYTES SIZE_MAX
#endif

static _Atomic uintptr_t next;
static _Atomic long counted;
static _Atomic uintptr_t latest;
static pthread_key_t at_end;
static bool lingers;

static bool is_time(const char *what, size_t size)
{
    const char *broken = getenv("BROKEN"), *at = getenv("BROKEN_AT");
    if (broken == NULL || at == NULL || strcmp(broken, what) != 0 || size < 100 || size > 4000)
        return false;
    return atomic_fetch_add(&counted, 1) + 1 == atol(at);
}

static bool is_always(const char *what)
{
    const char *broken = getenv("BROKEN");
    return broken != NULL && strcmp(broken, what) == 0;
}

/* A thousand lines of nine bytes. */
static void complain(void)
{
    char lines[9000];
    for (size_t i = 0; i < sizeof lines; i += 9)
        memcpy(lines + i, "no pages\n", 9);
    if (write(STDERR_FILENO, lines, sizeof lines) < 0) /* a pipe takes all or waits */
        abort();
}

static void be_lazy(void)
{
    char *once = mmap(NULL, LAZY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (once == MAP_FAILED)
        abort();
    memset(once, 1, LAZY_BYTES);
    if (madvise(once, LAZY_BYTES, MADV_FREE) != 0)
        abort();
}

static void linger(void *unused)
{
    struct timespec begin, now;
    (void)unused;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < LINGERS_NS);
}

__attribute__((constructor)) static void begin_lingering(void)
{
    lingers = is_always("linger") && pthread_key_create(&at_end, linger) == 0;
}

static void *take(size_t alignment, size_t size)
{
    if (lingers)
        pthread_setspecific(at_end, &at_end);
    if (size >= MOST_BYTES) {
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
    if (is_time("null", size)) {
        errno = ENOMEM;
        return NULL;
    }
    if (is_time("flood", size)) {
        for (int i = 0; i < 200; i++)
            complain();
        errno = ENOMEM;
        return NULL;
    }
    if (is_time("lazy", size))
        be_lazy();
    if (is_time("abort", size))
        abort();
    while (is_time("hang", size))
        (void)pause();
    const uintptr_t former = atomic_load(&latest);
    if (former != 0 && alignment <= 16 && is_time("overlap", size)) /* misaligned would be found first */
        return (void *)(former + 16);
    if (former != 0 && is_time("smear", size))
        memset((char *)former + 99, 0x5a, 2); /* within the object, as a neighbour's overrun would */
    /* The size stands before the object, for realloc. */
    const uintptr_t start = atomic_fetch_add(&next, (size + 2 * alignment + 47) & ~(uintptr_t)15);
    uintptr_t object = (start + 16 + alignment - 1) & ~(uintptr_t)(alignment - 1);
    if (is_time("misalign", size) || is_always("misaligned"))
        object += 8;
    memcpy((char *)object - 8, &size, 8);
    if (size >= 100 && size <= 4000)
        atomic_store(&latest, object);
    return (void *)object;
}

void *malloc(size_t size)
{
    return take(16, size);
}

void *calloc(size_t count, size_t size)
{
    void *object = take(16, count * size);
    if (is_time("vague", count * size)) {
        errno = EINVAL;
        return NULL;
    }
    if (object != NULL && is_time("calloc", count * size))
        ((char *)object)[count * size / 2] = 1;
    return object;
}

void *realloc(void *object, size_t size)
{
    size_t former = 0;
    void *moved = take(16, size);
    if (object != NULL && moved != NULL) {
        memcpy(&former, (char *)object - 8, 8);
        const size_t kept = former < size ? former : size;
        memcpy(moved, object, kept);
        if (kept >= 100 && is_time("realloc", kept))
            ((char *)moved)[50] ^= 1;
    }
    return moved;
}

void free(void *object)
{
}

#ifndef LACKS
int posix_memalign(void **ret_object, size_t alignment, size_t size)
{
    void *object = take(alignment < 16 ? 16 : alignment, size);
    if (object == NULL)
        return ENOMEM;
    *ret_object = object;
    return 0;
}

#ifndef REFUSES
void *aligned_alloc(size_t alignment, size_t size)
{
    return take(alignment < 16 ? 16 : alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
    return take(alignment < 16 ? 16 : alignment, size);
}
#endif
#endif

#ifdef FORGIVES_NOT
void *_Znwm(size_t size);
void _ZdlPv(void *object);
void _ZdlPvm(void *object, size_t size);

/* operator new(unsigned long) */
void *_Znwm(size_t size)
{
    return take(16, size);
}

/* operator delete(void *) */
void _ZdlPv(void *object)
{
}

/* operator delete(void *, unsigned long) */
void _ZdlPvm(void *object, size_t size)
{
    if (object != NULL && memcmp((char *)object - 8, &size, 8) != 0)
        abort();
}
#endif
