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

#include "replay/base/own_process.h"
#include "replay/exec/loop.h"

#define AREA_BYTES 4096u /* of the first-level cache, with room left for the ops and the slots */

static _Thread_local char area[AREA_BYTES] __attribute__((aligned(64)));

/* Sizes spread over the area without a counter that would have to be kept. */
static inline void *stub(size_t size)
{
    return area + (size & (AREA_BYTES - 64));
}

#define STUB(call, member, parameters, arguments, name, substitute)                                          \
    static void *stub_##call parameters                                                                      \
    {                                                                                                        \
        return stub(size);                                                                                   \
    }
#define EMPTY_STUB(call, member, parameters, arguments, name, substitute)                                    \
    static void stub_##call parameters                                                                       \
    {                                                                                                        \
    }
#define MEMBER(call, member, parameters, arguments, name, substitute) .member = stub_##call,

REP_ALLOCATIONS(STUB)
REP_RELEASES(EMPTY_STUB)

static int stub_POSIX_MEMALIGN(void **ret_object, size_t alignment, size_t size)
{
    *ret_object = stub(size);
    return 0;
}

const char *rep_calls_resolve(struct rep_calls *ret_calls, uint64_t *ret_substituted)
{
    *ret_calls = (struct rep_calls){REP_ALLOCATIONS(MEMBER) REP_POSIX_MEMALIGN(MEMBER) REP_RELEASES(MEMBER)};
    *ret_substituted = 0;
    return NULL;
}

const size_t rep_touch_step = REP_TOUCH_FIRST_ONLY;

/* ---- the malloc family of this program ------------------------------------------------------- */

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
