/* loop.c - the timed loop. Laws of this file:
 *
 *   - no allocation of our own, no I/O, no lock, no clock, no assertion;
 *   - the same instructions for every candidate, `none` included, so that what `none` measures is what the
 *     others carry;
 *   - one switch, one call through the table, one slot, one touch. Whatever can be done before is done
 *     before, in plan.c. */
#include "replay/loop.h"

#include <stdbool.h>
#include <string.h>

/* Any address will do for a std::nothrow_t: the functions do not look at it. */
static const char NOTHROW = 0;

static inline size_t alignment_of(const struct wl_op *op)
{
    return (size_t)1 << (op->align_log2 & ~WL_OP_FRESH & 63);
}

/* Write into an object of `bytes` bytes, of which those before `from` were written before. */
static inline __attribute__((always_inline)) void touch_new(const struct wl_op *op, void *object, size_t from,
                                                            size_t bytes, enum rep_touch touch, size_t step)
{
    if (touch == REP_TOUCH_PAGE || (touch == REP_TOUCH_FULL && step == REP_TOUCH_FIRST_ONLY)) {
        if (__builtin_expect(bytes - 1 < REP_PAGE_BYTES, 1)) { /* one page: no loop to set up */
            *(volatile char *)object = 1;
            return;
        }
        if (__builtin_expect(op->align_log2 & REP_OP_SPARSE, 0)) {
            bytes = rep_op_touched(op, bytes);
            from = 0;
        }
        for (size_t at = from; at < bytes; at += step)
            ((volatile char *)object)[at] = 1;
    } else if (touch == REP_TOUCH_FULL) {
        if (__builtin_expect(op->align_log2 & REP_OP_SPARSE, 0))
            from = 0; /* where a resize tells what was touched before stands its share */
        if (from < bytes)
            memset((char *)object + from, 1, bytes - from);
    }
}

/* What the call for an op of op->size bytes answered goes into its slot, and is touched. The op is read once more: to
 * keep what is needed of it over the call costs a store and a load too, one after the other (0.3 ns an op).
 * Returns false where the answer may not be NULL and is. */
static inline __attribute__((always_inline)) bool keep(void **slots, const struct wl_op *op, void *object,
                                                       size_t from, enum rep_touch touch, size_t step)
{
    if (__builtin_expect(object == NULL, 0)) {
        if (op->size != 0)
            return false;
        slots[op->id] = NULL; /* a request of nothing may be answered with nothing */
        return true;
    }
    slots[op->id] = object;
    touch_new(op, object, from, op->size, touch, step);
    return true;
}

/* One run of ops; `touch` is a constant in each of the three copies that the compiler makes. The switch is the
 * table from calls to functions and is long for that reason only: splitting it costs a second jump an op. */
static inline __attribute__((always_inline)) size_t run(const struct rep_loop *loop, const struct wl_op *ops,
                                                        size_t count, enum rep_touch touch)
{
    const struct rep_calls *calls = &loop->calls;
    void **slots = loop->slots;
    const size_t step = loop->touch_step;
    const struct wl_op *const end = ops + count;
    for (const struct wl_op *op = ops; op != end; op++) {
        void *object;
        /* Nearly all ops are these three, and a branch that is mostly right is cheaper than a jump through a
         * table: for an op of `none` 2.9 instead of 3.7 ns by the first two, 2.7 instead of 3.0 by the third. */
        if (op->call == FP_CALL_FREE) {
            calls->free(slots[op->id]);
            continue;
        }
        if (op->call == FP_CALL_MALLOC) {
            if (!keep(slots, op, calls->malloc(op->size), 0, touch, step))
                return (size_t)(op - ops);
            continue;
        }
        if (op->call == FP_CALL_REALLOC && !(op->align_log2 & WL_OP_FRESH)) {
            const size_t from = (size_t)op->count * step;
            if (!keep(slots, op, calls->realloc(slots[op->id], op->size), from, touch, step))
                return (size_t)(op - ops);
            continue;
        }
        void **slot = &slots[op->id];
        const size_t size = op->size;
        size_t bytes = size, from = 0;
        switch ((enum fp_call)op->call) {
        case FP_CALL_CALLOC:
            bytes = (size & REP_OP_SIZE_MASK) * op->count;
            object = calls->calloc(op->count, size & REP_OP_SIZE_MASK);
            break;
        case FP_CALL_REALLOC: /* of NULL */
            object = calls->realloc(NULL, size);
            break;
        case FP_CALL_REALLOCARRAY: {
            const size_t element = size & REP_OP_SIZE_MASK;
            bytes = element * op->count;
            if (op->align_log2 & WL_OP_FRESH) {
                object = calls->reallocarray(NULL, op->count, element);
                break;
            }
            from = (size >> REP_OP_SIZE_BITS) * step;
            object = calls->reallocarray(*slot, op->count, element);
            break;
        }
        case FP_CALL_POSIX_MEMALIGN: {
            void *aligned; /* not `object`, which would have to live in memory for this one's sake */
            object = calls->posix_memalign(&aligned, alignment_of(op), size) == 0 ? aligned : NULL;
            break;
        }
        case FP_CALL_ALIGNED_ALLOC:
            object = calls->aligned_alloc(alignment_of(op), size);
            break;
        case FP_CALL_MEMALIGN:
            object = calls->memalign(alignment_of(op), size);
            break;
        case FP_CALL_VALLOC:
            object = calls->valloc(size);
            break;
        case FP_CALL_PVALLOC:
            object = calls->pvalloc(size);
            break;
        case FP_CALL_NEW:
            object = calls->new_plain[0](size);
            break;
        case FP_CALL_NEW_ARRAY:
            object = calls->new_plain[1](size);
            break;
        case FP_CALL_NEW_NOTHROW:
            object = calls->new_nothrow[0](size, &NOTHROW);
            break;
        case FP_CALL_NEW_ARRAY_NOTHROW:
            object = calls->new_nothrow[1](size, &NOTHROW);
            break;
        case FP_CALL_NEW_ALIGNED:
            object = calls->new_aligned[0](size, alignment_of(op));
            break;
        case FP_CALL_NEW_ARRAY_ALIGNED:
            object = calls->new_aligned[1](size, alignment_of(op));
            break;
        case FP_CALL_NEW_ALIGNED_NOTHROW:
            object = calls->new_aligned_nothrow[0](size, alignment_of(op), &NOTHROW);
            break;
        case FP_CALL_NEW_ARRAY_ALIGNED_NOTHROW:
            object = calls->new_aligned_nothrow[1](size, alignment_of(op), &NOTHROW);
            break;
        case FP_CALL_FREE_SIZED:
            calls->free_sized(*slot, size);
            continue;
        case FP_CALL_FREE_ALIGNED_SIZED:
            calls->free_aligned_sized(*slot, alignment_of(op), size);
            continue;
        case FP_CALL_DELETE:
            calls->delete_plain[0](*slot);
            continue;
        case FP_CALL_DELETE_ARRAY:
            calls->delete_plain[1](*slot);
            continue;
        case FP_CALL_DELETE_NOTHROW:
            calls->delete_nothrow[0](*slot, &NOTHROW);
            continue;
        case FP_CALL_DELETE_ARRAY_NOTHROW:
            calls->delete_nothrow[1](*slot, &NOTHROW);
            continue;
        case FP_CALL_DELETE_SIZED:
            calls->delete_sized[0](*slot, size);
            continue;
        case FP_CALL_DELETE_ARRAY_SIZED:
            calls->delete_sized[1](*slot, size);
            continue;
        case FP_CALL_DELETE_ALIGNED:
            calls->delete_aligned[0](*slot, alignment_of(op));
            continue;
        case FP_CALL_DELETE_ARRAY_ALIGNED:
            calls->delete_aligned[1](*slot, alignment_of(op));
            continue;
        case FP_CALL_DELETE_SIZED_ALIGNED:
            calls->delete_sized_aligned[0](*slot, size, alignment_of(op));
            continue;
        case FP_CALL_DELETE_ARRAY_SIZED_ALIGNED:
            calls->delete_sized_aligned[1](*slot, size, alignment_of(op));
            continue;
        case FP_CALL_DELETE_ALIGNED_NOTHROW:
            calls->delete_aligned_nothrow[0](*slot, alignment_of(op), &NOTHROW);
            continue;
        case FP_CALL_DELETE_ARRAY_ALIGNED_NOTHROW:
            calls->delete_aligned_nothrow[1](*slot, alignment_of(op), &NOTHROW);
            continue;
        default:
            __builtin_unreachable(); /* wl_reader_next lets no other number pass */
        }
        if (__builtin_expect(object == NULL, 0)) {
            if (bytes != 0)
                return (size_t)(op - ops);
            *slot = NULL;
            continue;
        }
        *slot = object;
        touch_new(op, object, from, bytes, touch, step);
    }
    return count;
}

size_t rep_loop_run(const struct rep_loop *loop, const struct wl_op *ops, size_t count)
{
    switch (loop->touch) {
    case REP_TOUCH_NONE:
        return run(loop, ops, count, REP_TOUCH_NONE);
    case REP_TOUCH_PAGE:
        return run(loop, ops, count, REP_TOUCH_PAGE);
    default:
        return run(loop, ops, count, REP_TOUCH_FULL);
    }
}
