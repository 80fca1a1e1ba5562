/* op.h - ops as the timed loop reads them: what the plan adds to a workload's ops.
 *
 *   pages  of a resized object, how many were touched before
 *   share  of a large object, what was in memory in the program; the rest of it is not written to. Only REP_TOUCH_PAGE
 *          heeds it, from the object's start: where in it the program wrote is not known
 *   code   which call each op makes, a byte an op, side by side. A processor often guesses wrong which call comes next,
 *          and how long it takes to find that out depends on how early the call can be read. From here the loop reads it
 *          one op ahead, and need not look at WL_OP_FRESH (docs/notes/scale.md has what that brings)
 *
 * Pages and share stand in fields that the op's call does not use. */
#ifndef MALLAB_REPLAY_BASE_OP_H
#define MALLAB_REPLAY_BASE_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "footprint/wl/workload.h"

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

/* rep_op_has_upper_bits - whether an op's pages or share stand in the upper 16 bits of its size. */
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

/* rep_op_bytes - the bytes that an op requests, as the workload or as the plan has it. */
static inline uint64_t rep_op_bytes(const struct wl_op *op)
{
    return rep_op_has_upper_bits(op) ? (op->size & REP_OP_SIZE_MASK) * op->count : op->size;
}

/* rep_op_touched - how many of its object's bytes are to be touched, of an op with a share. */
static inline size_t rep_op_touched(const struct wl_op *op, size_t bytes)
{
    const size_t share = rep_op_has_upper_bits(op) ? op->size >> REP_OP_SIZE_BITS : op->count;
    return bytes / FP_SHARE_WHOLE * share + bytes % FP_SHARE_WHOLE * share / FP_SHARE_WHOLE;
}

#define REP_CODE_FRESH (WL_OP_FRESH >> 1) /* beside the call, where WL_OP_FRESH is set */

/* rep_code_make - code for count ops, as many bytes. */
static inline void rep_code_make(uint8_t *code, const struct wl_op *ops, size_t count)
{
    _Static_assert((unsigned)FP_CALL_COUNT <= REP_CODE_FRESH, "no call has that bit");
    for (size_t i = 0; i < count; i++)
        code[i] = (uint8_t)(ops[i].call | (ops[i].align_log2 & WL_OP_FRESH) >> 1);
}

#endif
