/* none.c - the candidate without an allocator: it measures what the harness itself costs.
 *
 * The loop runs as for any other, through a table of stubs that return an address with a few writable
 * bytes behind it. The memory is per thread: one area for all would have the threads fight for its cache
 * lines and charge that to the harness.
 *
 * That no allocator call is made is proven by counting: this program defines the malloc family itself, in
 * front of the C library's, and counts every call while it is watched. */
#include "replay/exec/calls.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "replay/base/watch.h"
#include "replay/exec/loop.h"

#define AREA_BYTES 4096u /* of the first-level cache, with room left for the ops and the slots */

static _Thread_local char area[AREA_BYTES] __attribute__((aligned(64)));

/* Sizes spread over the area without a counter that would have to be kept. */
static inline void *stub(size_t size)
{
    return area + (size & (AREA_BYTES - 64));
}

static void *stub_malloc(size_t size)
{
    return stub(size);
}

static void *stub_calloc(size_t count, size_t size)
{
    return stub(count * size);
}

static void *stub_realloc(void *object, size_t size)
{
    return stub(size);
}

static void *stub_reallocarray(void *object, size_t count, size_t size)
{
    return stub(count * size);
}

static void stub_free(void *object)
{
}

static void stub_free_2(void *object, size_t size)
{
}

static void stub_free_3(void *object, size_t first, size_t second)
{
}

static void stub_delete_nothrow(void *object, const void *nothrow)
{
}

static void stub_delete_aligned_nothrow(void *object, size_t alignment, const void *nothrow)
{
}

static int stub_posix_memalign(void **ret_object, size_t alignment, size_t size)
{
    *ret_object = stub(size);
    return 0;
}

static void *stub_aligned(size_t alignment, size_t size)
{
    return stub(size);
}

static void *stub_new_nothrow(size_t size, const void *nothrow)
{
    return stub(size);
}

static void *stub_new_aligned(size_t size, size_t alignment)
{
    return stub(size);
}

static void *stub_new_aligned_nothrow(size_t size, size_t alignment, const void *nothrow)
{
    return stub(size);
}

const char *rep_calls_resolve(struct rep_calls *ret_calls, uint64_t *ret_substituted)
{
    *ret_calls = (struct rep_calls){
        .malloc = stub_malloc,
        .calloc = stub_calloc,
        .realloc = stub_realloc,
        .reallocarray = stub_reallocarray,
        .free = stub_free,
        .free_sized = stub_free_2,
        .free_aligned_sized = stub_free_3,
        .posix_memalign = stub_posix_memalign,
        .aligned_alloc = stub_aligned,
        .memalign = stub_aligned,
        .valloc = stub_malloc,
        .pvalloc = stub_malloc,
        .new_plain = {stub_malloc, stub_malloc},
        .new_nothrow = {stub_new_nothrow, stub_new_nothrow},
        .new_aligned = {stub_new_aligned, stub_new_aligned},
        .new_aligned_nothrow = {stub_new_aligned_nothrow, stub_new_aligned_nothrow},
        .delete_plain = {stub_free, stub_free},
        .delete_nothrow = {stub_delete_nothrow, stub_delete_nothrow},
        .delete_sized = {stub_free_2, stub_free_2},
        .delete_aligned = {stub_free_2, stub_free_2},
        .delete_sized_aligned = {stub_free_3, stub_free_3},
        .delete_aligned_nothrow = {stub_delete_aligned_nothrow, stub_delete_aligned_nothrow},
    };
    *ret_substituted = 0;
    return NULL;
}

const size_t rep_touch_step = REP_TOUCH_FIRST_ONLY;

/* ---- counting ------------------------------------------------------------------------------ */

/* The C library's own functions under the names that it exports for this purpose. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *object, size_t size);
extern void __libc_free(void *object);
extern void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
    rep_watch_note();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    rep_watch_note();
    return __libc_calloc(count, size);
}

void *realloc(void *object, size_t size)
{
    rep_watch_note();
    return __libc_realloc(object, size);
}

/* free(NULL) is not counted: the C library makes two whenever a thread exits, and they reach no memory. */
void free(void *object)
{
    if (object != NULL)
        rep_watch_note();
    __libc_free(object);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    rep_watch_note();
    return __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

int posix_memalign(void **ret_object, size_t alignment, size_t size)
{
    void *object = aligned_alloc(alignment, size);
    if (object == NULL)
        return ENOMEM;
    *ret_object = object;
    return 0;
}
