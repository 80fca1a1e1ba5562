/* call.c - names and traits of the malloc-family calls, in one table. */
#include "footprint/base/call.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
#define CALLS(X) \
    X(FP_CALL_MALLOC, "malloc", ALLOCATE, NONE) \
    X(FP_CALL_CALLOC, "calloc", ALLOCATE, COUNT) \
    X(FP_CALL_REALLOC, "realloc", RESIZE, NONE) \
    X(FP_CALL_REALLOCARRAY, "reallocarray", RESIZE, COUNT) \
    X(FP_CALL_FREE, "free", RELEASE, NONE) \
    X(FP_CALL_FREE_SIZED, "free_sized", RELEASE, NONE) \
    X(FP_CALL_FREE_ALIGNED_SIZED, "free_aligned_sized", RELEASE, ALIGNMENT) \
    X(FP_CALL_POSIX_MEMALIGN, "posix_memalign", ALLOCATE, ALIGNMENT) \
    X(FP_CALL_ALIGNED_ALLOC, "aligned_alloc", ALLOCATE, ALIGNMENT) \
    X(FP_CALL_MEMALIGN, "memalign", ALLOCATE, ALIGNMENT) \
    X(FP_CALL_VALLOC, "valloc", ALLOCATE, NONE) \
    X(FP_CALL_PVALLOC, "pvalloc", ALLOCATE, NONE) \
    X(FP_CALL_NEW, "operator new", ALLOCATE, NONE) \
    X(FP_CALL_NEW_ARRAY, "operator new[]", ALLOCATE, NONE) \
    X(FP_CALL_NEW_NOTHROW, "operator new(nothrow)", ALLOCATE, NONE) \
    X(FP_CALL_NEW_ARRAY_NOTHROW, "operator new[](nothrow)", ALLOCATE, NONE) \
    X(FP_CALL_NEW_ALIGNED, "operator new(align)", ALLOCATE, ALIGNMENT) \
    X(FP_CALL_NEW_ARRAY_ALIGNED, "operator new[](align)", ALLOCATE, ALIGNMENT) \
    X(FP_CALL_NEW_ALIGNED_NOTHROW, "operator new(align,nothrow)", ALLOCATE, ALIGNMENT) \
    X(FP_CALL_NEW_ARRAY_ALIGNED_NOTHROW, "operator new[](align,nothrow)", ALLOCATE, ALIGNMENT) \
    X(FP_CALL_DELETE, "operator delete", RELEASE, NONE) \
    X(FP_CALL_DELETE_ARRAY, "operator delete[]", RELEASE, NONE) \
    X(FP_CALL_DELETE_NOTHROW, "operator delete(nothrow)", RELEASE, NONE) \
    X(FP_CALL_DELETE_ARRAY_NOTHROW, "operator delete[](nothrow)", RELEASE, NONE) \
    X(FP_CALL_DELETE_SIZED, "operator delete(size)", RELEASE, NONE) \
    X(FP_CALL_DELETE_ARRAY_SIZED, "operator delete[](size)", RELEASE, NONE) \
    X(FP_CALL_DELETE_ALIGNED, "operator delete(align)", RELEASE, ALIGNMENT) \
    X(FP_CALL_DELETE_ARRAY_ALIGNED, "operator delete[](align)", RELEASE, ALIGNMENT) \
    X(FP_CALL_DELETE_SIZED_ALIGNED, "operator delete(size,align)", RELEASE, ALIGNMENT) \
    X(FP_CALL_DELETE_ARRAY_SIZED_ALIGNED, "operator delete[](size,align)", RELEASE, ALIGNMENT) \
    X(FP_CALL_DELETE_ALIGNED_NOTHROW, "operator delete(align,nothrow)", RELEASE, ALIGNMENT) \
    X(FP_CALL_DELETE_ARRAY_ALIGNED_NOTHROW, "operator delete[](align,nothrow)", RELEASE, ALIGNMENT) \
    X(FP_MARK_RESIZE_FROM, "(resize from)", NONE, NONE) \
    X(FP_MARK_FORK, "(fork)", NONE, NONE) \
    X(FP_MARK_THREAD_EXIT, "(thread exit)", NONE, NONE) \
    X(FP_MARK_GAP, "(gap)", NONE, NONE) \
    X(FP_MARK_RESIDENT, "(resident)", NONE, NONE)
/* clang-format on */

#define NAME(number, name, kind, extra)  [number] = name,
#define KIND(number, name, kind, extra)  [number] = FP_KIND_##kind,
#define EXTRA(number, name, kind, extra) [number] = FP_EXTRA_##extra,

static const char *const NAMES[] = {CALLS(NAME)};
const uint8_t fp_call_kinds[256] = {CALLS(KIND)};
const uint8_t fp_call_extras[256] = {CALLS(EXTRA)};

const char *fp_call_name(unsigned call)
{
    return call < sizeof NAMES / sizeof NAMES[0] ? NAMES[call] : NULL;
}

enum fp_call fp_call_from_name(const char *name)
{
    for (unsigned call = 1; call < FP_CALL_COUNT; call++)
        if (strcmp(NAMES[call], name) == 0)
            return (enum fp_call)call;
    return FP_CALL_NONE;
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
    return fp_call_name(call) != NULL;
}
