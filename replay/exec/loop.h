/* loop.h - the timed code: ops in, allocator calls out, and nothing else.
 *
 *   slot   where the address of an object stands, by object id; slot 0 holds NULL
 *   share  of a large object, what was in memory in the program; the rest of it is not written to. Only REP_TOUCH_PAGE
 *          heeds it, from the object's start: where in it the program wrote is not known
 *   touch  a write into new memory, so that it becomes resident as it would in the program. It stays
 *          within the timed part: a fault on memory that the allocator had to fetch is its doing */
#ifndef MALLAB_REPLAY_EXEC_LOOP_H
#define MALLAB_REPLAY_EXEC_LOOP_H

#include <stdbool.h>
#include <stddef.h>

#include "footprint/wl/workload.h"
#include "replay/exec/calls.h"

#define REP_PAGE_BYTES 4096u

enum rep_touch {
    REP_TOUCH_NONE = 0,
    REP_TOUCH_PAGE = 1, /* one byte at the start, one per further page */
    REP_TOUCH_FULL = 2, /* every byte */
};

struct rep_loop {
    struct rep_calls calls;
    void **slots; /* by id, 0 .. the workload's id_max */
    enum rep_touch touch;
    size_t touch_step; /* bytes between writes of REP_TOUCH_PAGE; REP_TOUCH_FIRST_ONLY for none */
};

/* The stubs of `none` have no memory behind their addresses beyond a few bytes, and a loop that touched
 * more there than one byte would charge the harness with the faults of an allocator. */
#define REP_TOUCH_FIRST_ONLY ((size_t)1 << 62)

/* Ops as the loop takes them are wl_op with what only the preparation can know filled in: how much of a
 * resized object was touched before. Fields that the call does not use hold it. */
#define REP_OP_PAGES_MAX 65535u /* older pages beyond are touched again */
#define REP_OP_SIZE_BITS 48     /* sizes end below 2^48 (workload.h) */
#define REP_OP_SIZE_MASK (((uint64_t)1 << REP_OP_SIZE_BITS) - 1)

/* rep_op_set_pages - note in a copy of a resize op that `pages` pages of its object were touched before.
 * FP_CALL_REALLOC keeps it in count, FP_CALL_REALLOCARRAY in the upper 16 bits of size. */
static inline void rep_op_set_pages(struct wl_op *op, uint64_t pages)
{
    const uint16_t kept = (uint16_t)(pages < REP_OP_PAGES_MAX ? pages : REP_OP_PAGES_MAX);
    if (op->call == FP_CALL_REALLOC)
        op->count = kept;
    else
        op->size |= (uint64_t)kept << REP_OP_SIZE_BITS;
}

#define REP_OP_SPARSE 0x40u /* in align_log2, where no alignment reaches: the op has a share */

/* rep_op_has_upper_bits - whether what an op has besides stands in the upper 16 bits of size, its count being taken. */
static inline bool rep_op_has_upper_bits(const struct wl_op *op)
{
    return op->call == FP_CALL_CALLOC || op->call == FP_CALL_REALLOCARRAY;
}

/* rep_op_set_share - note in a copy of an op the share of its object, below FP_SHARE_WHOLE: in the place of
 * rep_op_set_pages, since all of what is to be touched is touched again then. */
static inline void rep_op_set_share(struct wl_op *op, uint32_t share)
{
    op->align_log2 |= REP_OP_SPARSE;
    if (rep_op_has_upper_bits(op))
        op->size = (op->size & REP_OP_SIZE_MASK) | (uint64_t)share << REP_OP_SIZE_BITS;
    else
        op->count = (uint16_t)share;
}

/* rep_op_touched - how many of its object's bytes are to be touched, of an op with a share. */
static inline size_t rep_op_touched(const struct wl_op *op, size_t bytes)
{
    const size_t share = rep_op_has_upper_bits(op) ? op->size >> REP_OP_SIZE_BITS : op->count;
    return bytes / FP_SHARE_WHOLE * share + bytes % FP_SHARE_WHOLE * share / FP_SHARE_WHOLE;
}

/* rep_loop_run - execute count ops. code: theirs (code.h); one byte behind it is read, and not heeded.
 * Returns   count; less when the allocator returned NULL for a request of at least one byte: then it is
 *           the index of that op, and nothing after it was executed. */
size_t rep_loop_run(const struct rep_loop *loop, const struct wl_op *ops, const uint8_t *code, size_t count);

#endif
