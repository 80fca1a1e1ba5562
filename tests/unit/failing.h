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

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
int __real_scandir(const char *folder, struct dirent ***ret_entries, int (*filter)(const struct dirent *),
                   int (*compare)(const struct dirent **, const struct dirent **));
int __real_scandir64(const char *folder, struct dirent64 ***ret_entries,
                     int (*filter)(const struct dirent64 *),
                     int (*compare)(const struct dirent64 **, const struct dirent64 **));
void __real_free(void *old);
void *__real_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__real_mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset);
int __real_munmap(void *address, size_t size);
void *__real_mremap(void *old, size_t old_size, size_t size, int flags, ...);
ZSTD_CCtx *__real_ZSTD_createCCtx(void);
ZSTD_DCtx *__real_ZSTD_createDCtx(void);
size_t __real_ZSTD_freeCCtx(ZSTD_CCtx *context);
size_t __real_ZSTD_freeDCtx(ZSTD_DCtx *context);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t size);
int __wrap_scandir(const char *folder, struct dirent ***ret_entries, int (*filter)(const struct dirent *),
                   int (*compare)(const struct dirent **, const struct dirent **));
int __wrap_scandir64(const char *folder, struct dirent64 ***ret_entries,
                     int (*filter)(const struct dirent64 *),
                     int (*compare)(const struct dirent64 **, const struct dirent64 **));
__attribute__((format(printf, 2, 3))) int __wrap_asprintf(char **ret_text, const char *format, ...);
__attribute__((format(printf, 3, 4))) int __wrap___asprintf_chk(char **ret_text, int flag, const char *format,
                                                                ...);
void __wrap_free(void *old);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *address, size_t size);
void *__wrap_mremap(void *old, size_t old_size, size_t size, int flags, ...);
ZSTD_CCtx *__wrap_ZSTD_createCCtx(void);
ZSTD_DCtx *__wrap_ZSTD_createDCtx(void);
size_t __wrap_ZSTD_freeCCtx(ZSTD_CCtx *context);
size_t __wrap_ZSTD_freeDCtx(ZSTD_DCtx *context);

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

void *__wrap_malloc(size_t size)
{
    return refuse() ? NULL : hold(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse() ? NULL : hold(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    void *made;
    if (refuse())
        return NULL;
    made = __real_realloc(old, size);
    return old == NULL ? hold(made) : made;
}

char *__wrap_strdup(const char *text)
{
    return refuse() ? NULL : hold(__real_strdup(text));
}

char *__wrap_strndup(const char *text, size_t size)
{
    return refuse() ? NULL : hold(__real_strndup(text, size));
}

int __wrap_scandir(const char *folder, struct dirent ***ret_entries, int (*filter)(const struct dirent *),
                   int (*compare)(const struct dirent **, const struct dirent **))
{
    const int count = refuse() ? -1 : __real_scandir(folder, ret_entries, filter, compare);
    failing_held += failing_armed && count >= 0 ? count + 1 : 0; /* the entries and their list */
    return count;
}

int __wrap_scandir64(const char *folder, struct dirent64 ***ret_entries,
                     int (*filter)(const struct dirent64 *),
                     int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
    const int count = refuse() ? -1 : __real_scandir64(folder, ret_entries, filter, compare);
    failing_held += failing_armed && count >= 0 ? count + 1 : 0; /* the entries and their list */
    return count;
}

__attribute__((format(printf, 2, 0))) static int print_allocated(char **ret_text, const char *format,
                                                                 va_list arguments)
{
    const int length = refuse() ? -1 : vasprintf(ret_text, format, arguments);
    if (length >= 0)
        (void)hold(*ret_text);
    return length;
}

int __wrap_asprintf(char **ret_text, const char *format, ...)
{
    va_list arguments;
    int length;
    va_start(arguments, format);
    length = print_allocated(ret_text, format, arguments);
    va_end(arguments);
    return length;
}

int __wrap___asprintf_chk(char **ret_text, int flag, const char *format, ...)
{
    va_list arguments;
    int length;
    (void)flag; /* glibc's fortified spelling of the above */
    va_start(arguments, format);
    length = print_allocated(ret_text, format, arguments);
    va_end(arguments);
    return length;
}

void __wrap_free(void *old)
{
    failing_held -= failing_armed && old != NULL;
    __real_free(old);
}

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *made = MAP_FAILED;
    if (refuse())
        return made;
    made = __real_mmap(address, size, protection, flags, fd, offset);
    failing_held += failing_armed && made != MAP_FAILED;
    return made;
}

/* The name that mmap has with 64-bit offsets. */
void *__wrap_mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    void *made = MAP_FAILED;
    if (refuse())
        return made;
    made = __real_mmap64(address, size, protection, flags, fd, offset);
    failing_held += failing_armed && made != MAP_FAILED;
    return made;
}

int __wrap_munmap(void *address, size_t size)
{
    failing_held -= failing_armed;
    return __real_munmap(address, size);
}

/* Of one mapping onto another: then there is one less. */
void *__wrap_mremap(void *old, size_t old_size, size_t size, int flags, ...)
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

ZSTD_CCtx *__wrap_ZSTD_createCCtx(void)
{
    return refuse() ? NULL : hold(__real_ZSTD_createCCtx());
}

ZSTD_DCtx *__wrap_ZSTD_createDCtx(void)
{
    return refuse() ? NULL : hold(__real_ZSTD_createDCtx());
}

size_t __wrap_ZSTD_freeCCtx(ZSTD_CCtx *context)
{
    failing_held -= failing_armed && context != NULL;
    return __real_ZSTD_freeCCtx(context);
}

size_t __wrap_ZSTD_freeDCtx(ZSTD_DCtx *context)
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
