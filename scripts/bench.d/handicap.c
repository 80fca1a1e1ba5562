/* handicap.c - an allocator that is glibc's and of a known larger appetite, or slower, for scripts/bench verdict and gate.
 *
 * Without the option it only hands every call on: what the others are held against, so that the handing on cancels out.
 *
 *   -DWASTE=N   every request N % larger, on average: what is due adds up until it makes 16 bytes, glibc's step
 *   -DSLOW=N    N steps of a loop in every 256th call: how much slower that is depends on the calls and the machine, so it is measured
 *               first. Rare, for a loop in each call costs more by its mispredicted end; and all have the same code
 *
 * Threads each have a count of their own. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef WASTE
#define WASTE 0
#endif
#ifndef SLOW
#define SLOW 0
#endif

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *object);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *object, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static __thread size_t due __attribute__((tls_model("initial-exec"))); /* hundredths of a byte */

static volatile unsigned steps = SLOW;

static inline void linger(void)
{
    static __thread unsigned calls __attribute__((tls_model("initial-exec")));
    if ((++calls & 255) != 0)
        return;
    for (unsigned left = steps; left > 0; left--)
        __asm__ volatile("" ::: "memory");
}

static inline size_t grown(size_t size)
{
    if (WASTE == 0 || size > SIZE_MAX / 256)
        return size;
    due += size * WASTE;
    const size_t more = due / 1600 * 16;
    due -= more * 100;
    return size + more;
}

void *malloc(size_t size)
{
    linger();
    return __libc_malloc(grown(size));
}

void free(void *object)
{
    linger();
    __libc_free(object);
}

void *calloc(size_t count, size_t size)
{
    size_t bytes;
    linger();
    if (WASTE == 0 || __builtin_mul_overflow(count, size, &bytes))
        return __libc_calloc(count, size);
    return __libc_calloc(1, grown(bytes));
}

void *realloc(void *object, size_t size)
{
    linger();
    return __libc_realloc(object, size > 0 ? grown(size) : 0);
}

void *memalign(size_t alignment, size_t size)
{
    linger();
    return __libc_memalign(alignment, grown(size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **ret_object, size_t alignment, size_t size)
{
    const int before = errno;
    void *object;
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    object = memalign(alignment, size);
    errno = before;
    if (object == NULL)
        return ENOMEM;
    *ret_object = object;
    return 0;
}
