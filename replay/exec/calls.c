/* calls.c - the allocator's functions, found by name as the program's own calls would be bound. */
#include "replay/exec/calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "replay/base/own_process.h"

#define PAGE_MASK ((size_t)REP_PAGE_BYTES - 1)

static struct rep_calls resolved; /* what the substitutes below stand on */

static void *substitute_reallocarray(void *object, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return resolved.realloc(object, bytes);
}

static void substitute_free_sized(void *object, size_t size)
{
    resolved.free(object);
}

static void substitute_free_aligned_sized(void *object, size_t alignment, size_t size)
{
    resolved.free(object);
}

static void *substitute_aligned_alloc(size_t alignment, size_t size)
{
    void *object = NULL;
    const size_t least = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    return resolved.posix_memalign(&object, least, size) == 0 ? object : NULL;
}

static void *substitute_valloc(size_t size)
{
    return resolved.memalign(REP_PAGE_BYTES, size);
}

static void *substitute_pvalloc(size_t size)
{
    return resolved.memalign(REP_PAGE_BYTES, (size + PAGE_MASK) & ~PAGE_MASK);
}

/* The operators' substitutes are what libstdc++'s do with a malloc; they are needed only where no C++
 * library is in the process. */
static void *substitute_new(size_t size)
{
    return resolved.malloc(size != 0 ? size : 1);
}

static void *substitute_new_nothrow(size_t size, const void *nothrow)
{
    return substitute_new(size);
}

static void *substitute_new_aligned(size_t size, size_t alignment)
{
    return substitute_aligned_alloc(alignment, size != 0 ? size : 1);
}

static void *substitute_new_aligned_nothrow(size_t size, size_t alignment, const void *nothrow)
{
    return substitute_new_aligned(size, alignment);
}

static void substitute_delete(void *object)
{
    resolved.free(object);
}

static void substitute_delete_nothrow(void *object, const void *nothrow)
{
    resolved.delete_plain[0](object);
}

static void substitute_delete_sized(void *object, size_t size)
{
    resolved.delete_plain[0](object);
}

static void substitute_delete_aligned(void *object, size_t alignment)
{
    resolved.delete_plain[0](object);
}

static void substitute_delete_sized_aligned(void *object, size_t size, size_t alignment)
{
    resolved.delete_aligned[0](object, alignment);
}

static void substitute_delete_aligned_nothrow(void *object, size_t alignment, const void *nothrow)
{
    resolved.delete_aligned[0](object, alignment);
}

typedef void (*function)(void);

struct row {
    uint8_t call;
    size_t member; /* offset in struct rep_calls */
    const char *name;
    function substitute; /* NULL: the allocator must have it */
};

#define ROW(call, member, parameters, arguments, name, substitute)                                           \
    {FP_CALL_##call, offsetof(struct rep_calls, member), name, (function)(substitute)},

static const struct row ROWS[] = {REP_ALLOCATIONS(ROW) REP_POSIX_MEMALIGN(ROW) REP_RELEASES(ROW)};

static const void *library_base(void *address)
{
    Dl_info info;
    return address != NULL && dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

/* Tells whether a function found in the process may serve. In libc it may only when libc is the provider: its
 * functions hand out its own heap. The operators of libstdc++ go through malloc and free, and may. */
static bool may_serve(void *address, const void *provider, const void *libc)
{
    if (address == NULL)
        return false;
    const void *base = library_base(address);
    return base == provider || base != libc;
}

const char *rep_calls_resolve(struct rep_calls *ret_calls, uint64_t *ret_substituted)
{
    const void *provider = library_base(dlsym(RTLD_DEFAULT, "malloc"));
    const void *libc = library_base(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
    uint64_t substituted = 0;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        const struct row *row = &ROWS[i];
        void *found = dlsym(RTLD_DEFAULT, row->name);
        if (!may_serve(found, provider, libc)) {
            if (row->substitute == NULL)
                return row->name;
            memcpy(&found, &row->substitute, sizeof found);
            substituted |= UINT64_C(1) << row->call;
        }
        memcpy((char *)&resolved + row->member, &found, sizeof found);
    }
    *ret_calls = resolved;
    *ret_substituted = substituted;
    return NULL;
}

const size_t rep_touch_step = REP_PAGE_BYTES;
