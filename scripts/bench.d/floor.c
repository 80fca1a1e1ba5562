/* floor.c - the least that a recorder by LD_PRELOAD can cost: hands every call on and does nothing else.
 *
 * With -DCOUNT it counts the calls instead and writes their number at exit to the file that $FLOOR_COUNT names: a
 * witness that shares no code with any recorder. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* dlsym may ask for memory before it has answered; that is given here and never taken back. */
static _Alignas(16) char early[65536];
static size_t early_used;

static void *early_calloc(size_t count, size_t size)
{
    void *memory = early + early_used;
    early_used += (count * size + 15) & ~(size_t)15;
    return early_used <= sizeof early ? memory : NULL;
}

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
} next;

static void resolve(void)
{
    next.calloc = early_calloc;
    next.malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    next.realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    next.free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    next.posix_memalign = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
    next.aligned_alloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc");
    next.calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
}

#ifdef COUNT
static _Atomic uint64_t calls;

/* At a thread's end libc calls free once for each library with thread-local data. Recorders have some. */
__attribute__((used, tls_model("initial-exec"))) static __thread int thread_local_data = 1;

static void call(void)
{
    if (!next.malloc && !next.calloc)
        resolve();
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
}

__attribute__((destructor)) static void tell(void)
{
    char text[32];
    const char *path = getenv("FLOOR_COUNT");
    const int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    const int length = snprintf(text, sizeof text, "%llu\n", (unsigned long long)atomic_load(&calls));
    if (file >= 0 && write(file, text, (size_t)length) == length)
        close(file);
}
#else
static inline void call(void)
{
    if (__builtin_expect(!next.malloc && !next.calloc, 0))
        resolve();
}
#endif

void *malloc(size_t size)
{
    call();
    return next.malloc(size);
}

void *calloc(size_t count, size_t size)
{
    call();
    return next.calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    call();
    return next.realloc(old, size);
}

void free(void *old)
{
    call();
    if ((uintptr_t)old - (uintptr_t)early >= sizeof early)
        next.free(old);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    call();
    return next.posix_memalign(memory, alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    call();
    return next.aligned_alloc(alignment, size);
}
