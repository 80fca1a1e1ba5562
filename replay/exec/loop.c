/* loop.c - the timed loop. Laws of this file:
 *
 *   - no allocation of our own, no I/O, no lock, no clock, no assertion;
 *   - the same instructions for every candidate, `none` included, so that what `none` measures is what the
 *     others carry;
 *   - one jump, one call through the table, one slot, one touch. Whatever can be done before is done before, in window_plan.c
 *     and op.h. */
#include "replay/exec/loop.h"

#include "replay/base/own_process.h"

/* Any address will do for a std::nothrow_t: the functions do not look at it. */
static const char NOTHROW = 0;

static inline size_t alignment_of(const struct wl_op *op)
{
    return (size_t)1 << (op->align_log2 & ~WL_OP_FRESH & 63);
}

static void *posix_memalign_of(const struct rep_calls *calls, const struct wl_op *op)
{
    void *object;
    return calls->posix_memalign(&object, alignment_of(op), op->size) == 0 ? object : NULL;
}

/* The number of an object's first bytes that are known to have been written before its resize. */
static size_t touched_before(const struct wl_op *op, size_t step)
{
    if ((op->align_log2 & (WL_OP_FRESH | REP_OP_SPARSE)) != 0)
        return 0; /* of a sparse one its share stands there */
    if (op->call == FP_CALL_REALLOC)
        return (size_t)op->count * step;
    return op->call == FP_CALL_REALLOCARRAY ? (op->size >> REP_OP_SIZE_BITS) * step : 0;
}

/* Write into an object of `bytes` bytes where more is to be written than one byte. */
static __attribute__((noinline, cold)) void touch_more(const struct rep_loop *loop, const struct wl_op *op,
                                                       char *object, size_t bytes)
{
    const size_t step = loop->touch_step;
    const size_t from = touched_before(op, step);
    if ((op->align_log2 & REP_OP_SPARSE) != 0)
        bytes = rep_op_touched(op, bytes);
    for (size_t at = from; at < bytes; at += step)
        ((volatile char *)object)[at] = 1;
}

/* The answer to a call for `bytes` bytes goes into the op's slot, and is touched: at its first
 * byte only, where it has at most `small` bytes. The op is read once more: to keep what is
 * needed of it over the call costs a store and a load, one after the other (0.3 ns an op).
 * Returns false where the answer may not be NULL and is. */
static inline __attribute__((always_inline)) bool keep(const struct rep_loop *loop, void **slots,
                                                       size_t small, const struct wl_op *op, void *object,
                                                       size_t bytes)
{
    if (__builtin_expect(object == NULL, 0)) {
        if (bytes != 0)
            return false;
        slots[op->id] = NULL; /* a request of nothing may be answered with nothing */
        return true;
    }
    slots[op->id] = object;
    if (__builtin_expect(bytes - 1 < small, 1))
        *(volatile char *)object = 1;
    else if (loop->touch != REP_TOUCH_NONE)
        touch_more(loop, op, object, bytes);
    return true;
}

/* clang-format off */
/* The rare calls: the call; what it is in the table; how many bytes what it returns has. */
#define ALLOCATIONS(X)                                                                                       \
    X(REALLOCARRAY, calls->reallocarray(OBJECT, op->count, ELEMENT), ELEMENT * op->count)                    \
    X(POSIX_MEMALIGN, posix_memalign_of(calls, op), op->size)                                                \
    X(ALIGNED_ALLOC, calls->aligned_alloc(alignment_of(op), op->size), op->size)                             \
    X(MEMALIGN, calls->memalign(alignment_of(op), op->size), op->size)                                       \
    X(VALLOC, calls->valloc(op->size), op->size)                                                             \
    X(PVALLOC, calls->pvalloc(op->size), op->size)                                                           \
    X(NEW, calls->new_plain[0](op->size), op->size)                                                          \
    X(NEW_ARRAY, calls->new_plain[1](op->size), op->size)                                                    \
    X(NEW_NOTHROW, calls->new_nothrow[0](op->size, &NOTHROW), op->size)                                      \
    X(NEW_ARRAY_NOTHROW, calls->new_nothrow[1](op->size, &NOTHROW), op->size)                                \
    X(NEW_ALIGNED, calls->new_aligned[0](op->size, alignment_of(op)), op->size)                              \
    X(NEW_ARRAY_ALIGNED, calls->new_aligned[1](op->size, alignment_of(op)), op->size)                        \
    X(NEW_ALIGNED_NOTHROW, calls->new_aligned_nothrow[0](op->size, alignment_of(op), &NOTHROW), op->size)    \
    X(NEW_ARRAY_ALIGNED_NOTHROW, calls->new_aligned_nothrow[1](op->size, alignment_of(op), &NOTHROW), op->size)
#define ALLOCATIONS_FRESH(X)                                                                                 \
    X(REALLOC, calls->realloc(NULL, op->size), op->size)                                                     \
    X(REALLOCARRAY, calls->reallocarray(NULL, op->count, ELEMENT), ELEMENT * op->count)
#define RELEASES(X)                                                                                          \
    X(FREE_SIZED, calls->free_sized(OBJECT, op->size))                                                       \
    X(FREE_ALIGNED_SIZED, calls->free_aligned_sized(OBJECT, alignment_of(op), op->size))                     \
    X(DELETE, calls->delete_plain[0](OBJECT))                                                                \
    X(DELETE_ARRAY, calls->delete_plain[1](OBJECT))                                                          \
    X(DELETE_NOTHROW, calls->delete_nothrow[0](OBJECT, &NOTHROW))                                            \
    X(DELETE_ARRAY_NOTHROW, calls->delete_nothrow[1](OBJECT, &NOTHROW))                                      \
    X(DELETE_SIZED, calls->delete_sized[0](OBJECT, op->size))                                                \
    X(DELETE_ARRAY_SIZED, calls->delete_sized[1](OBJECT, op->size))                                          \
    X(DELETE_ALIGNED, calls->delete_aligned[0](OBJECT, alignment_of(op)))                                    \
    X(DELETE_ARRAY_ALIGNED, calls->delete_aligned[1](OBJECT, alignment_of(op)))                              \
    X(DELETE_SIZED_ALIGNED, calls->delete_sized_aligned[0](OBJECT, op->size, alignment_of(op)))              \
    X(DELETE_ARRAY_SIZED_ALIGNED, calls->delete_sized_aligned[1](OBJECT, op->size, alignment_of(op)))        \
    X(DELETE_ALIGNED_NOTHROW, calls->delete_aligned_nothrow[0](OBJECT, alignment_of(op), &NOTHROW))          \
    X(DELETE_ARRAY_ALIGNED_NOTHROW, calls->delete_aligned_nothrow[1](OBJECT, alignment_of(op), &NOTHROW))

#define OBJECT  slots[op->id]
#define ELEMENT (op->size & REP_OP_SIZE_MASK)

/* Each piece of run() reads the next op's call before it makes its own: so the next jump's
 * target is known when it comes. A jump at the end of each piece has a history of its own, which
 * tells the processor more about what follows than one for all would. */
#define BEGIN                                                                                                \
    do {                                                                                                     \
        next = *code++;                                                                                      \
        if (far)                                                                                             \
            __builtin_prefetch(&slots[op[REP_LOOP_AHEAD].id], 1);                                            \
    } while (0)
#define GO                                                                                                   \
    do {                                                                                                     \
        if (__builtin_expect(op == end, 0))                                                                  \
            return op;                                                                                       \
        if (next == FP_CALL_FREE)                                                                            \
            goto call_free;                                                                                  \
        if (next == FP_CALL_MALLOC)                                                                          \
            goto call_malloc;                                                                                \
        goto call_other;                                                                                     \
    } while (0)
#define GO_ON                                                                                                \
    do {                                                                                                     \
        op++;                                                                                                \
        GO;                                                                                                  \
    } while (0)
#define KEEP(object, bytes)                                                                                  \
    do {                                                                                                     \
        if (!keep(loop, slots, small, op, object, bytes))                                                    \
            return op;                                                                                       \
        GO_ON;                                                                                               \
    } while (0)
#define ALLOCATION(call, object, bytes)       case FP_CALL_##call: BEGIN; KEEP(object, bytes);
#define ALLOCATION_FRESH(call, object, bytes) case REP_CODE_FRESH + FP_CALL_##call: BEGIN; KEEP(object, bytes);
#define RELEASE(call, released)               case FP_CALL_##call: BEGIN; released; GO_ON;

/* Execute count ops, or until the allocator refuses. Returns the first op that was not executed.
 * small: the size up to which one byte is written; 0: none is. far: each slot is fetched before its op comes. */
static inline __attribute__((always_inline)) const struct wl_op *
run(const struct rep_loop *loop, const struct wl_op *op, const uint8_t *code, size_t count, size_t small, bool far)
{
    const struct rep_calls *calls = &loop->calls;
    void **slots = loop->slots;
    const struct wl_op *const end = op + count;
    unsigned next;
    BEGIN;
    GO;

call_free:
    BEGIN;
    calls->free(OBJECT);
    GO_ON;
call_malloc:
    BEGIN;
    KEEP(calls->malloc(op->size), op->size);
call_other:
    /* A branch that is mostly right costs less than a jump through a table; the others are rare. */
    if (next == FP_CALL_REALLOC) {
        BEGIN;
        KEEP(calls->realloc(OBJECT, op->size), op->size);
    }
    if (next == FP_CALL_CALLOC) {
        BEGIN;
        KEEP(calls->calloc(op->count, ELEMENT), ELEMENT * op->count);
    }
    switch (next) {
        ALLOCATIONS(ALLOCATION)
        ALLOCATIONS_FRESH(ALLOCATION_FRESH)
        RELEASES(RELEASE)
    default:
        __builtin_unreachable(); /* wl_reader_next lets no other call pass */
    }
}
/* clang-format on */

size_t rep_loop_run(const struct rep_loop *loop, const struct wl_op *ops, const uint8_t *code, size_t count)
{
    const size_t small = loop->touch == REP_TOUCH_PAGE ? REP_PAGE_BYTES : 0;
    return (size_t)((loop->far ? run(loop, ops, code, count, small, true)
                               : run(loop, ops, code, count, small, false)) -
                    ops);
}
