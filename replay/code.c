/* code.c - from ops to code. All ops of a replay come by here, and to guess which is a malloc and which a free costs here
 * what it costs in the loop: no branch depends on it. */
#include "replay/code.h"

#include <assert.h>
#include <stdbool.h>

_Static_assert(FP_CALL_COUNT <= REP_CODE_FRESH, "calls stand below what is added to them");
_Static_assert((FP_CALL_MALLOC ^ FP_CALL_FREE) == 4 && (FP_CALL_MALLOC & 4) == 0, "they differ in one bit");
_Static_assert(REP_CODE_GROUP + (2u << REP_CODE_OPS_MAX) <= REP_CODES, "all groups have a code");

_Static_assert(REP_CODE_OPS_MAX == 4, "whole groups are of four");

/* 0 for malloc, 4 for free; others have other bits too. */
static unsigned kind(const struct wl_op *op)
{
    return op->call ^ FP_CALL_MALLOC;
}

static bool joins(unsigned kinds)
{
    return (kinds & ~4u) == 0;
}

/* Code for one op that joins no group and for those before it that do, or for those before the end: fewer than a group
 * takes. Returns the op after it. */
static const struct wl_op *make_rest(uint8_t **code, const struct wl_op *op, const struct wl_op *end)
{
    unsigned group = 1; /* no digit yet */
    for (; op != end && joins(kind(op)); op++)
        group = group << 1 | kind(op) >> 2;
    if (group != 1)
        *(*code)++ = (uint8_t)(REP_CODE_GROUP + group);
    if (op == end)
        return op;
    *(*code)++ = (uint8_t)(op->call + ((op->align_log2 & WL_OP_FRESH) != 0 ? REP_CODE_FRESH : 0));
    return op + 1;
}

void rep_code_make(uint8_t *code, const struct wl_op *ops, size_t count)
{
    const struct wl_op *op = ops, *const end = ops + count;
    while (op != end) {
        if (end - op >= REP_CODE_OPS_MAX) {
            const unsigned a = kind(&op[0]), b = kind(&op[1]), c = kind(&op[2]), d = kind(&op[3]);
            if (joins(a | b | c | d)) {
                *code++ = (uint8_t)(REP_CODE_GROUP + (16 | a << 1 | b | c >> 1 | d >> 2));
                op += REP_CODE_OPS_MAX;
                continue;
            }
        }
        op = make_rest(&code, op, end);
    }
    *code = REP_CODE_END;
}
