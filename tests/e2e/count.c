/* count.c - an independent witness: counts malloc-family calls and writes them out at the end.
 *
 * Preloaded instead of mallab's shim into a program that behaves the same each time, it says how many calls
 * the shim must have seen. It forwards to glibc by name, shares no code with the shim, and knows
 * only the calls that such programs make. Single-threaded programs only: the counters are plain. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *object, size_t size);
extern void __libc_free(void *object);

static unsigned long mallocs, callocs, reallocs, frees;

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    mallocs++;
    return __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
    callocs++;
    return __libc_calloc(count, size);
}

__attribute__((visibility("default"))) void *realloc(void *object, size_t size)
{
    reallocs++;
    return __libc_realloc(object, size);
}

__attribute__((visibility("default"))) void free(void *object)
{
    frees++;
    __libc_free(object);
}

__attribute__((destructor)) static void report(void)
{
    char text[200];
    const char *path = getenv("COUNT_OUT");
    const int descriptor = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    const int length = snprintf(text, sizeof text,
                                "{\"malloc\": %lu, \"calloc\": %lu, \"realloc\": %lu, \"free\": %lu}\n",
                                mallocs, callocs, reallocs, frees);
    if (descriptor >= 0 && write(descriptor, text, (size_t)length) != length)
        _exit(99);
}
