/* failing.h - an allocation that fails: whatever the linker hands to these wrappers (tests/unit/meson.build, memory_wraps).
 *
 * Of one test program only, in one thread. What libraries allocate by themselves is not failed. */
#ifndef MALLAB_TESTS_FAILING_H
#define MALLAB_TESTS_FAILING_H

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zstd.h>

/* WRAPPED - a function as the linker has it under two names: the library's, and ours. */
#define WRAPPED(type, name, ...)                                                                             \
    type __real_##name(__VA_ARGS__);                                                                         \
    type __wrap_##name(__VA_ARGS__);                                                                         \
    type __wrap_##name(__VA_ARGS__)

static bool failing_armed;  /* outside of it, wrappers only pass on */
static long failing_until;  /* allocations that still succeed */
static bool failing_failed; /* one was refused */
static long failing_held;   /* allocations, contexts and mappings not yet given back */

/* Only one allocation fails: what is tried after it, as cleaning up does, has memory again. */
static bool refuse(void)
{
    if (!failing_armed || failing_until-- != 0)
        return false;
    failing_failed = true;
    errno = ENOMEM;
    return true;
}

static void *hold(void *made)
{
    failing_held += failing_armed && made != NULL;
    return made;
}

WRAPPED(void *, malloc, size_t size)
{
    return refuse() ? NULL : hold(__real_malloc(size));
}

WRAPPED(void *, calloc, size_t count, size_t size)
{
    return refuse() ? NULL : hold(__real_calloc(count, size));
}

WRAPPED(void *, realloc, void *old, size_t size)
{
    if (refuse())
        return NULL;
    void *made = __real_realloc(old, size);
    return old == NULL ? hold(made) : made;
}

WRAPPED(char *, strdup, const char *text)
{
    return refuse() ? NULL : hold(__real_strdup(text));
}

WRAPPED(char *, strndup, const char *text, size_t size)
{
    return refuse() ? NULL : hold(__real_strndup(text, size));
}

/* The names with and without 64-bit offsets. The entries and their list are held. */
#define WRAPPED_SCANDIR(name, entry)                                                                         \
    WRAPPED(int, name, const char *folder, struct entry ***ret_entries, int (*filter)(const struct entry *), \
            int (*compare)(const struct entry **, const struct entry **))                                    \
    {                                                                                                        \
        const int count = refuse() ? -1 : __real_##name(folder, ret_entries, filter, compare);               \
        failing_held += failing_armed && count >= 0 ? count + 1 : 0;                                         \
        return count;                                                                                        \
    }
WRAPPED_SCANDIR(scandir, dirent)
WRAPPED_SCANDIR(scandir64, dirent64)

__attribute__((format(printf, 2, 0))) static int print_allocated(char **ret_text, const char *format,
                                                                 va_list arguments)
{
    const int length = refuse() ? -1 : vasprintf(ret_text, format, arguments);
    if (length >= 0)
        (void)hold(*ret_text);
    return length;
}

__attribute__((format(printf, 2, 3))) int __wrap_asprintf(char **ret_text, const char *format, ...);
__attribute__((format(printf, 3, 4))) int __wrap___asprintf_chk(char **ret_text, int flag, const char *format,
                                                                ...);
int __wrap_asprintf(char **ret_text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = print_allocated(ret_text, format, arguments);
    va_end(arguments);
    return length;
}

int __wrap___asprintf_chk(char **ret_text, int flag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = print_allocated(ret_text, format, arguments);
    va_end(arguments);
    return length;
}

WRAPPED(void, free, void *old)
{
    failing_held -= failing_armed && old != NULL;
    __real_free(old);
}

#define WRAPPED_MMAP(name)                                                                                   \
    WRAPPED(void *, name, void *address, size_t size, int protection, int flags, int fd, off_t offset)       \
    {                                                                                                        \
        void *made = refuse() ? MAP_FAILED : __real_##name(address, size, protection, flags, fd, offset);    \
        failing_held += failing_armed && made != MAP_FAILED;                                                 \
        return made;                                                                                         \
    }
WRAPPED_MMAP(mmap)
WRAPPED_MMAP(mmap64)

WRAPPED(int, munmap, void *address, size_t size)
{
    failing_held -= failing_armed;
    return __real_munmap(address, size);
}

/* Of one mapping onto another: then there is one less. */
WRAPPED(void *, mremap, void *old, size_t old_size, size_t size, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    void *const place = va_arg(list, void *);
    va_end(list);
    if (refuse())
        return MAP_FAILED;
    failing_held -= failing_armed;
    return __real_mremap(old, old_size, size, flags, place);
}

WRAPPED(ZSTD_CCtx *, ZSTD_createCCtx, void)
{
    return refuse() ? NULL : hold(__real_ZSTD_createCCtx());
}

WRAPPED(ZSTD_DCtx *, ZSTD_createDCtx, void)
{
    return refuse() ? NULL : hold(__real_ZSTD_createDCtx());
}

WRAPPED(size_t, ZSTD_freeCCtx, ZSTD_CCtx *context)
{
    failing_held -= failing_armed && context != NULL;
    return __real_ZSTD_freeCCtx(context);
}

WRAPPED(size_t, ZSTD_freeDCtx, ZSTD_DCtx *context)
{
    failing_held -= failing_armed && context != NULL;
    return __real_ZSTD_freeDCtx(context);
}

/* failing_arm - from now on, allocation `number` (from 0) fails, and what is held is counted. */
static inline void failing_arm(unsigned number)
{
    failing_until = (long)number;
    failing_failed = false;
    failing_held = 0;
    failing_armed = true;
}

static inline void failing_disarm(void)
{
    failing_armed = false;
}

/* count_entries - of a folder, "." and ".." with them: what a trial left open or behind. */
static inline unsigned count_entries(const char *folder)
{
    DIR *entries = opendir(folder);
    unsigned count = 0;
    if (entries == NULL)
        abort();
    while (readdir(entries) != NULL)
        count++;
    (void)closedir(entries); /* only read */
    return count;
}

#endif
