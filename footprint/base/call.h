/* call.h - the malloc-family calls, numbered once for shim, footprint, workload and replay.
 *
 * A call either allocates (returns a new object), resizes (consumes one and returns one) or
 * releases (consumes one). The numbers are stored in files: never renumber, only append. */
#ifndef MALLAB_FOOTPRINT_BASE_CALL_H
#define MALLAB_FOOTPRINT_BASE_CALL_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
/* Every call once: its constant, its number, its spelling, what it does, what its second number is. */
#define FP_CALLS(X) \
    X(MALLOC, 1, "malloc", ALLOCATE, NONE) \
    X(CALLOC, 2, "calloc", ALLOCATE, COUNT) \
    X(REALLOC, 3, "realloc", RESIZE, NONE) \
    X(REALLOCARRAY, 4, "reallocarray", RESIZE, COUNT) \
    X(FREE, 5, "free", RELEASE, NONE) \
    X(FREE_SIZED, 6, "free_sized", RELEASE, NONE) \
    X(FREE_ALIGNED_SIZED, 7, "free_aligned_sized", RELEASE, ALIGNMENT) \
    X(POSIX_MEMALIGN, 8, "posix_memalign", ALLOCATE, ALIGNMENT) \
    X(ALIGNED_ALLOC, 9, "aligned_alloc", ALLOCATE, ALIGNMENT) \
    X(MEMALIGN, 10, "memalign", ALLOCATE, ALIGNMENT) \
    X(VALLOC, 11, "valloc", ALLOCATE, NONE) \
    X(PVALLOC, 12, "pvalloc", ALLOCATE, NONE) \
    X(NEW, 13, "operator new", ALLOCATE, NONE) \
    X(NEW_ARRAY, 14, "operator new[]", ALLOCATE, NONE) \
    X(NEW_NOTHROW, 15, "operator new(nothrow)", ALLOCATE, NONE) \
    X(NEW_ARRAY_NOTHROW, 16, "operator new[](nothrow)", ALLOCATE, NONE) \
    X(NEW_ALIGNED, 17, "operator new(align)", ALLOCATE, ALIGNMENT) \
    X(NEW_ARRAY_ALIGNED, 18, "operator new[](align)", ALLOCATE, ALIGNMENT) \
    X(NEW_ALIGNED_NOTHROW, 19, "operator new(align,nothrow)", ALLOCATE, ALIGNMENT) \
    X(NEW_ARRAY_ALIGNED_NOTHROW, 20, "operator new[](align,nothrow)", ALLOCATE, ALIGNMENT) \
    X(DELETE, 21, "operator delete", RELEASE, NONE) \
    X(DELETE_ARRAY, 22, "operator delete[]", RELEASE, NONE) \
    X(DELETE_NOTHROW, 23, "operator delete(nothrow)", RELEASE, NONE) \
    X(DELETE_ARRAY_NOTHROW, 24, "operator delete[](nothrow)", RELEASE, NONE) \
    X(DELETE_SIZED, 25, "operator delete(size)", RELEASE, NONE) \
    X(DELETE_ARRAY_SIZED, 26, "operator delete[](size)", RELEASE, NONE) \
    X(DELETE_ALIGNED, 27, "operator delete(align)", RELEASE, ALIGNMENT) \
    X(DELETE_ARRAY_ALIGNED, 28, "operator delete[](align)", RELEASE, ALIGNMENT) \
    X(DELETE_SIZED_ALIGNED, 29, "operator delete(size,align)", RELEASE, ALIGNMENT) \
    X(DELETE_ARRAY_SIZED_ALIGNED, 30, "operator delete[](size,align)", RELEASE, ALIGNMENT) \
    X(DELETE_ALIGNED_NOTHROW, 31, "operator delete(align,nothrow)", RELEASE, ALIGNMENT) \
    X(DELETE_ARRAY_ALIGNED_NOTHROW, 32, "operator delete[](align,nothrow)", RELEASE, ALIGNMENT)
/* clang-format on */

#define FP_CALL_NUMBERED(name, number, spelling, kind, extra) FP_CALL_##name = (number),

enum fp_call {
    FP_CALL_NONE = 0,
    FP_CALLS(FP_CALL_NUMBERED) /* FP_CALL_MALLOC = 1, ... */
    FP_CALL_COUNT = 33,        /* one past the last call */

    /* Marks that are not calls of the program; they occur in records and footprints only. */
    FP_MARK_RESIZE_FROM = 48, /* address: the object a realloc or reallocarray is about to consume */
    FP_MARK_FORK = 49,        /* size: number of this fork within the process; before fork(2) */
    FP_MARK_THREAD_EXIT = 50, /* the thread's last mark, unless destructors of others ran later */
    FP_MARK_GAP = 51,         /* size: calls of this thread lost here; ids of order are broken */
    /* The share of the large or middling object at address that is in memory (extra, of FP_SHARE_WHOLE): before its
     * release or resize, or where its process ends. */
    FP_MARK_RESIDENT = 52,
};

#define FP_SHARE_WHOLE 256u /* what the extra of FP_MARK_RESIDENT is a part of; at most this */
/* Objects from here on are large: recorders note how much is resident. As many bytes as do not fit a record of one word
 * (record.h), so that noting large ones costs the recorder's fast path nothing. */
#define FP_LARGE_BYTES (64u * 1024)
/* Objects from here on, and not large, are middling: recorders note how much is resident of some of them. */
#define FP_MIDDLING_BYTES (16u * 1024)

#define FP_TIME_UNIT_NS 64u /* resolution of the times that files hold */

#define FP_GAP_PAUSE 1u /* extra of FP_MARK_GAP: recording was paused here, as asked; nothing is lost */

enum fp_call_kind {
    FP_KIND_NONE = 0,
    FP_KIND_ALLOCATE = 1,
    FP_KIND_RESIZE = 2,
    FP_KIND_RELEASE = 3,
};

/* The meaning of a shape's second number (`extra`). */
enum fp_extra {
    FP_EXTRA_NONE = 0,
    FP_EXTRA_COUNT = 1,     /* number of elements: calloc, reallocarray; size is that of one element */
    FP_EXTRA_ALIGNMENT = 2, /* bytes, as the program passed it */
};

/* A call without its address: what the program asked for. In bytes; size is 0 for releases
 * that do not tell it. For valloc and pvalloc the alignment is implied (page), extra is 0. */
struct fp_shape {
    uint8_t call; /* enum fp_call or a mark */
    uint64_t size;
    uint64_t extra;
};

/* fp_call_name - the C or C++ spelling ("malloc", "operator new[](nothrow)"); marks have names too.
 * Returns a static string, NULL for a number that is none. */
const char *fp_call_name(unsigned call);

/* fp_call_from_name - the reverse; FP_CALL_NONE for an unknown name. */
enum fp_call fp_call_from_name(const char *name);

/* Traits by number; zero for marks and unknown numbers. Programs that only number calls (the shim) need not link them. */
extern const uint8_t fp_call_kinds[256], fp_call_extras[256];

/* fp_call_kind_of / fp_call_extra_of - the traits above; NONE for marks and unknown numbers. */
static inline enum fp_call_kind fp_call_kind_of(unsigned call)
{
    return call < sizeof fp_call_kinds ? (enum fp_call_kind)fp_call_kinds[call] : FP_KIND_NONE;
}

static inline enum fp_extra fp_call_extra_of(unsigned call)
{
    return call < sizeof fp_call_extras ? (enum fp_extra)fp_call_extras[call] : FP_EXTRA_NONE;
}

/* fp_call_tells_size - whether a release states the size of its object (free_sized, operator delete(size),
 * ...), which allocators may believe without a look. False for all other calls. */
bool fp_call_tells_size(unsigned call);

/* fp_mark_is_valid - whether a number is a call or a mark of this version. */
bool fp_mark_is_valid(unsigned call);

/* fp_shape_bytes - bytes requested by a shape: size, times count where extra is one.
 * Returns UINT64_MAX where the product overflows (such a call fails in every allocator). */
static inline uint64_t fp_shape_bytes(const struct fp_shape *shape)
{
    uint64_t bytes = shape->size;
    if (fp_call_extra_of(shape->call) == FP_EXTRA_COUNT &&
        __builtin_mul_overflow(shape->size, shape->extra, &bytes))
        return UINT64_MAX;
    return bytes;
}

#endif
