/* calls.h - the functions of the allocator under test, as the loop calls them.
 *
 *   provider    the library that malloc comes from
 *   substitute  what stands in for a function the provider does not have. A function of the same name in
 *               another library must never do: glibc's pvalloc, say, would hand out memory of glibc's own
 *               heap, which the provider's free does not know
 *
 * Linked twice: calls.c resolves the real ones, none.c puts stubs in their place. */
#ifndef MALLAB_REPLAY_EXEC_CALLS_H
#define MALLAB_REPLAY_EXEC_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "footprint/base/call.h"

/* Operators new and delete by their C signature: size_t for align_val_t, a pointer for nothrow_t. */
struct rep_calls {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*reallocarray)(void *, size_t, size_t);
    void (*free)(void *);
    void (*free_sized)(void *, size_t);
    void (*free_aligned_sized)(void *, size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    void *(*new_plain[2])(size_t); /* [1]: the array forms */
    void *(*new_nothrow[2])(size_t, const void *);
    void *(*new_aligned[2])(size_t, size_t);
    void *(*new_aligned_nothrow[2])(size_t, size_t, const void *);
    void (*delete_plain[2])(void *);
    void (*delete_nothrow[2])(void *, const void *);
    void (*delete_sized[2])(void *, size_t);
    void (*delete_aligned[2])(void *, size_t);
    void (*delete_sized_aligned[2])(void *, size_t, size_t);
    void (*delete_aligned_nothrow[2])(void *, size_t, const void *);
};

/* clang-format off */
/* Each of them: its FP_CALL, its member, parameters, arguments, the symbol, and what stands in
 * for it (NULL: the allocator must have it). Those that return an object, those that release
 * one; posix_memalign is neither. */
#define REP_NOTHROW "RKSt9nothrow_t"
#define REP_ALIGN   "St11align_val_t"
#define REP_ALLOCATIONS(X) \
    X(MALLOC, malloc, (size_t size), (size), "malloc", NULL) \
    X(CALLOC, calloc, (size_t count, size_t size), (count, size), "calloc", NULL) \
    X(REALLOC, realloc, (void *object, size_t size), (object, size), "realloc", NULL) \
    X(REALLOCARRAY, reallocarray, (void *object, size_t count, size_t size), (object, count, size), \
      "reallocarray", substitute_reallocarray) \
    X(ALIGNED_ALLOC, aligned_alloc, (size_t align, size_t size), (align, size), \
      "aligned_alloc", substitute_aligned_alloc) \
    X(MEMALIGN, memalign, (size_t align, size_t size), (align, size), "memalign", substitute_aligned_alloc) \
    X(VALLOC, valloc, (size_t size), (size), "valloc", substitute_valloc) \
    X(PVALLOC, pvalloc, (size_t size), (size), "pvalloc", substitute_pvalloc) \
    X(NEW, new_plain[0], (size_t size), (size), "_Znwm", substitute_new) \
    X(NEW_ARRAY, new_plain[1], (size_t size), (size), "_Znam", substitute_new) \
    X(NEW_NOTHROW, new_nothrow[0], (size_t size, const void *nothrow), (size, nothrow), \
      "_Znwm" REP_NOTHROW, substitute_new_nothrow) \
    X(NEW_ARRAY_NOTHROW, new_nothrow[1], (size_t size, const void *nothrow), (size, nothrow), \
      "_Znam" REP_NOTHROW, substitute_new_nothrow) \
    X(NEW_ALIGNED, new_aligned[0], (size_t size, size_t align), (size, align), \
      "_Znwm" REP_ALIGN, substitute_new_aligned) \
    X(NEW_ARRAY_ALIGNED, new_aligned[1], (size_t size, size_t align), (size, align), \
      "_Znam" REP_ALIGN, substitute_new_aligned) \
    X(NEW_ALIGNED_NOTHROW, new_aligned_nothrow[0], (size_t size, size_t align, const void *nothrow), (size, align, nothrow), \
      "_Znwm" REP_ALIGN REP_NOTHROW, substitute_new_aligned_nothrow) \
    X(NEW_ARRAY_ALIGNED_NOTHROW, new_aligned_nothrow[1], (size_t size, size_t align, const void *nothrow), (size, align, nothrow), \
      "_Znam" REP_ALIGN REP_NOTHROW, substitute_new_aligned_nothrow)
#define REP_RELEASES(X) \
    X(FREE, free, (void *object), (object), "free", NULL) \
    X(FREE_SIZED, free_sized, (void *object, size_t size), (object, size), \
      "free_sized", substitute_free_sized) \
    X(FREE_ALIGNED_SIZED, free_aligned_sized, (void *object, size_t align, size_t size), (object, align, size), \
      "free_aligned_sized", substitute_free_aligned_sized) \
    X(DELETE, delete_plain[0], (void *object), (object), "_ZdlPv", substitute_delete) \
    X(DELETE_ARRAY, delete_plain[1], (void *object), (object), "_ZdaPv", substitute_delete) \
    X(DELETE_NOTHROW, delete_nothrow[0], (void *object, const void *nothrow), (object, nothrow), \
      "_ZdlPv" REP_NOTHROW, substitute_delete_nothrow) \
    X(DELETE_ARRAY_NOTHROW, delete_nothrow[1], (void *object, const void *nothrow), (object, nothrow), \
      "_ZdaPv" REP_NOTHROW, substitute_delete_nothrow) \
    X(DELETE_SIZED, delete_sized[0], (void *object, size_t size), (object, size), \
      "_ZdlPvm", substitute_delete_sized) \
    X(DELETE_ARRAY_SIZED, delete_sized[1], (void *object, size_t size), (object, size), \
      "_ZdaPvm", substitute_delete_sized) \
    X(DELETE_ALIGNED, delete_aligned[0], (void *object, size_t align), (object, align), \
      "_ZdlPv" REP_ALIGN, substitute_delete_aligned) \
    X(DELETE_ARRAY_ALIGNED, delete_aligned[1], (void *object, size_t align), (object, align), \
      "_ZdaPv" REP_ALIGN, substitute_delete_aligned) \
    X(DELETE_SIZED_ALIGNED, delete_sized_aligned[0], (void *object, size_t size, size_t align), (object, size, align), \
      "_ZdlPvm" REP_ALIGN, substitute_delete_sized_aligned) \
    X(DELETE_ARRAY_SIZED_ALIGNED, delete_sized_aligned[1], (void *object, size_t size, size_t align), (object, size, align), \
      "_ZdaPvm" REP_ALIGN, substitute_delete_sized_aligned) \
    X(DELETE_ALIGNED_NOTHROW, delete_aligned_nothrow[0], (void *object, size_t align, const void *nothrow), (object, align, nothrow), \
      "_ZdlPv" REP_ALIGN REP_NOTHROW, substitute_delete_aligned_nothrow) \
    X(DELETE_ARRAY_ALIGNED_NOTHROW, delete_aligned_nothrow[1], (void *object, size_t align, const void *nothrow), (object, align, nothrow), \
      "_ZdaPv" REP_ALIGN REP_NOTHROW, substitute_delete_aligned_nothrow)
#define REP_POSIX_MEMALIGN(X) \
    X(POSIX_MEMALIGN, posix_memalign, (void **object, size_t align, size_t size), (object, align, size), \
      "posix_memalign", NULL)
/* clang-format on */

/* rep_calls_resolve - find all functions; every member is set afterwards.
 * ret_substituted  bit N is set when a substitute stands in for FP_CALL N.
 * Returns          NULL; the name of a function without which nothing can be replayed, when the provider
 *                  of malloc does not have it. */
const char *rep_calls_resolve(struct rep_calls *ret_calls, uint64_t *ret_substituted);

/* Bytes between the writes into new memory: what rep_loop.touch_step is to be for this candidate. */
extern const size_t rep_touch_step;

#endif
