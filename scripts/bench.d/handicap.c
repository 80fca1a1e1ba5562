/* handicap.c - an allocator that is glibc's and of a known larger appetite, for scripts/bench verdict.
 *
 * Without the option it only hands every call on: what the others are held against, so that the handing on cancels out.
 *
 *   -DWASTE=N   every request N % larger, on average: what is due adds up until it makes 16 bytes, glibc's step
 *
 * Threads each have a count of their own. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef WASTE
#define WASTE 0
#endif

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *object);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *object, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static __thread size_t due __attribute__((tls_model("initial-exec"))); /* hundredths of a byte */

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
    return __libc_malloc(grown(size));
}

void free(void *object)
{
    __libc_free(object);
}

void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (WASTE == 0 || __builtin_mul_overflow(count, size, &bytes))
        return __libc_calloc(count, size);
    return __libc_calloc(1, grown(bytes));
}

void *realloc(void *object, size_t size)
{
    return __libc_realloc(object, size > 0 ? grown(size) : 0);
}

void *memalign(size_t alignment, size_t size)
{
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
