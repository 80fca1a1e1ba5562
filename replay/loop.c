/* loop.c - the timed loop. Laws of this file:
 *
 *   - no allocation of our own, no I/O, no lock, no clock, no assertion;
 *   - the same instructions for every candidate, `none` included, so that what `none` measures is what the
 *     others carry;
 *   - one switch, one call through the table, one slot, one touch. Whatever can be done before is done
 *     before, in plan.c. */
#include "replay/loop.h"

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
    } else if (touch == REP_TOUCH_FULL && from < bytes) {
        memset((char *)object + from, 1, bytes - from);
    }
}

/* One run of ops; `touch` is a constant in each of the three copies that the compiler makes. The switch is the
 * table from calls to functions and is long for that reason only: splitting it costs a second jump an op. */
static inline __attribute__((always_inline)) size_t run(const struct rep_loop *loop, const struct wl_op *ops,
                                                        size_t count, enum rep_touch touch)
{
    const struct rep_calls *calls = &loop->calls;
    void **slots = loop->slots;
    const size_t step = loop->touch_step;
    for (size_t i = 0; i < count; i++) {
        const struct wl_op *op = &ops[i];
        void **slot = &slots[op->id];
        const size_t size = op->size;
        size_t bytes = size, from = 0;
        void *object;
        /* Nine of ten ops are these two, and a branch that is mostly right is cheaper than a jump through a
         * table: 2.9 instead of 3.7 ns for an op of `none`. */
        if (op->call == FP_CALL_FREE) {
            calls->free(*slot);
            continue;
        }
        if (op->call == FP_CALL_MALLOC) {
            object = calls->malloc(size);
            goto obtained;
        }
        switch ((enum fp_call)op->call) {
        case FP_CALL_CALLOC:
            bytes = (size & REP_OP_SIZE_MASK) * op->count;
            object = calls->calloc(op->count, size & REP_OP_SIZE_MASK);
            break;
        case FP_CALL_REALLOC:
            if (op->align_log2 & WL_OP_FRESH) {
                object = calls->realloc(NULL, size);
                break;
            }
            from = (size_t)op->count * step;
            object = calls->realloc(*slot, size);
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
        case FP_CALL_POSIX_MEMALIGN:
            if (calls->posix_memalign(&object, alignment_of(op), size) != 0)
                object = NULL;
            break;
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
    obtained:
        if (__builtin_expect(object == NULL, 0)) {
            if (bytes != 0)
                return i;
            *slot = NULL; /* a request of nothing may be answered with nothing */
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
