/* call.c - names and traits of the malloc-family calls, in one table. */
#include "footprint/call.h"

#include <stddef.h>
#include <string.h>

struct call_traits {
    const char *name;
    enum fp_call_kind kind;
    enum fp_extra extra;
};

/* clang-format off */
static const struct call_traits CALLS[] = {
    [FP_CALL_MALLOC] = {"malloc", FP_KIND_ALLOCATE, FP_EXTRA_NONE},
    [FP_CALL_CALLOC] = {"calloc", FP_KIND_ALLOCATE, FP_EXTRA_COUNT},
    [FP_CALL_REALLOC] = {"realloc", FP_KIND_RESIZE, FP_EXTRA_NONE},
    [FP_CALL_REALLOCARRAY] = {"reallocarray", FP_KIND_RESIZE, FP_EXTRA_COUNT},
    [FP_CALL_FREE] = {"free", FP_KIND_RELEASE, FP_EXTRA_NONE},
    [FP_CALL_FREE_SIZED] = {"free_sized", FP_KIND_RELEASE, FP_EXTRA_NONE},
    [FP_CALL_FREE_ALIGNED_SIZED] = {"free_aligned_sized", FP_KIND_RELEASE, FP_EXTRA_ALIGNMENT},
    [FP_CALL_POSIX_MEMALIGN] = {"posix_memalign", FP_KIND_ALLOCATE, FP_EXTRA_ALIGNMENT},
    [FP_CALL_ALIGNED_ALLOC] = {"aligned_alloc", FP_KIND_ALLOCATE, FP_EXTRA_ALIGNMENT},
    [FP_CALL_MEMALIGN] = {"memalign", FP_KIND_ALLOCATE, FP_EXTRA_ALIGNMENT},
    [FP_CALL_VALLOC] = {"valloc", FP_KIND_ALLOCATE, FP_EXTRA_NONE},
    [FP_CALL_PVALLOC] = {"pvalloc", FP_KIND_ALLOCATE, FP_EXTRA_NONE},
    [FP_CALL_NEW] = {"operator new", FP_KIND_ALLOCATE, FP_EXTRA_NONE},
    [FP_CALL_NEW_ARRAY] = {"operator new[]", FP_KIND_ALLOCATE, FP_EXTRA_NONE},
    [FP_CALL_NEW_NOTHROW] = {"operator new(nothrow)", FP_KIND_ALLOCATE, FP_EXTRA_NONE},
    [FP_CALL_NEW_ARRAY_NOTHROW] = {"operator new[](nothrow)", FP_KIND_ALLOCATE, FP_EXTRA_NONE},
    [FP_CALL_NEW_ALIGNED] = {"operator new(align)", FP_KIND_ALLOCATE, FP_EXTRA_ALIGNMENT},
    [FP_CALL_NEW_ARRAY_ALIGNED] = {"operator new[](align)", FP_KIND_ALLOCATE, FP_EXTRA_ALIGNMENT},
    [FP_CALL_NEW_ALIGNED_NOTHROW] = {"operator new(align,nothrow)", FP_KIND_ALLOCATE, FP_EXTRA_ALIGNMENT},
    [FP_CALL_NEW_ARRAY_ALIGNED_NOTHROW] = {"operator new[](align,nothrow)", FP_KIND_ALLOCATE, FP_EXTRA_ALIGNMENT},
    [FP_CALL_DELETE] = {"operator delete", FP_KIND_RELEASE, FP_EXTRA_NONE},
    [FP_CALL_DELETE_ARRAY] = {"operator delete[]", FP_KIND_RELEASE, FP_EXTRA_NONE},
    [FP_CALL_DELETE_NOTHROW] = {"operator delete(nothrow)", FP_KIND_RELEASE, FP_EXTRA_NONE},
    [FP_CALL_DELETE_ARRAY_NOTHROW] = {"operator delete[](nothrow)", FP_KIND_RELEASE, FP_EXTRA_NONE},
    [FP_CALL_DELETE_SIZED] = {"operator delete(size)", FP_KIND_RELEASE, FP_EXTRA_NONE},
    [FP_CALL_DELETE_ARRAY_SIZED] = {"operator delete[](size)", FP_KIND_RELEASE, FP_EXTRA_NONE},
    [FP_CALL_DELETE_ALIGNED] = {"operator delete(align)", FP_KIND_RELEASE, FP_EXTRA_ALIGNMENT},
    [FP_CALL_DELETE_ARRAY_ALIGNED] = {"operator delete[](align)", FP_KIND_RELEASE, FP_EXTRA_ALIGNMENT},
    [FP_CALL_DELETE_SIZED_ALIGNED] = {"operator delete(size,align)", FP_KIND_RELEASE, FP_EXTRA_ALIGNMENT},
    [FP_CALL_DELETE_ARRAY_SIZED_ALIGNED] = {"operator delete[](size,align)", FP_KIND_RELEASE, FP_EXTRA_ALIGNMENT},
    [FP_CALL_DELETE_ALIGNED_NOTHROW] = {"operator delete(align,nothrow)", FP_KIND_RELEASE, FP_EXTRA_ALIGNMENT},
    [FP_CALL_DELETE_ARRAY_ALIGNED_NOTHROW] = {"operator delete[](align,nothrow)", FP_KIND_RELEASE, FP_EXTRA_ALIGNMENT},
    [FP_MARK_RESIZE_FROM] = {"(resize from)", FP_KIND_NONE, FP_EXTRA_NONE},
    [FP_MARK_FORK] = {"(fork)", FP_KIND_NONE, FP_EXTRA_NONE},
    [FP_MARK_THREAD_EXIT] = {"(thread exit)", FP_KIND_NONE, FP_EXTRA_NONE},
    [FP_MARK_GAP] = {"(gap)", FP_KIND_NONE, FP_EXTRA_NONE},
};
/* clang-format on */

#define CALLS_LENGTH (sizeof CALLS / sizeof CALLS[0])

static const struct call_traits *traits_of(unsigned call)
{
    static const struct call_traits none = {NULL, FP_KIND_NONE, FP_EXTRA_NONE};
    return call < CALLS_LENGTH ? &CALLS[call] : &none;
}

const char *fp_call_name(unsigned call)
{
    return traits_of(call)->name;
}

enum fp_call fp_call_from_name(const char *name)
{
    for (unsigned call = 1; call < FP_CALL_COUNT; call++)
        if (strcmp(CALLS[call].name, name) == 0)
            return (enum fp_call)call;
    return FP_CALL_NONE;
}

enum fp_call_kind fp_call_kind_of(unsigned call)
{
    return traits_of(call)->kind;
}

enum fp_extra fp_call_extra_of(unsigned call)
{
    return traits_of(call)->extra;
}

bool fp_call_tells_size(unsigned call)
{
    switch (call) {
    case FP_CALL_FREE_SIZED:
    case FP_CALL_FREE_ALIGNED_SIZED:
    case FP_CALL_DELETE_SIZED:
    case FP_CALL_DELETE_ARRAY_SIZED:
    case FP_CALL_DELETE_SIZED_ALIGNED:
    case FP_CALL_DELETE_ARRAY_SIZED_ALIGNED:
        return true;
    default:
        return false;
    }
}

bool fp_mark_is_valid(unsigned call)
{
    return traits_of(call)->name != NULL;
}

uint64_t fp_shape_bytes(const struct fp_shape *shape)
{
    uint64_t bytes = shape->size;
    if (fp_call_extra_of(shape->call) == FP_EXTRA_COUNT &&
        __builtin_mul_overflow(shape->size, shape->extra, &bytes))
        return UINT64_MAX;
    return bytes;
}
