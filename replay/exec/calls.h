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

/* rep_calls_resolve - find all functions; every member is set afterwards.
 * ret_substituted  bit N is set when a substitute stands in for FP_CALL N.
 * Returns          NULL; the name of a function without which nothing can be replayed, when the provider
 *                  of malloc does not have it. */
const char *rep_calls_resolve(struct rep_calls *ret_calls, uint64_t *ret_substituted);

/* Bytes between the writes into new memory: what rep_loop.touch_step is to be for this candidate. */
extern const size_t rep_touch_step;

#endif
