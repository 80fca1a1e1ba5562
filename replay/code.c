/* code.c - from ops to code. Every op of every replay comes by here, and to guess which it is costs here what it costs in
 * the loop: so no branch depends on whether it is malloc or free. */
#include "replay/code.h"

#include <assert.h>
#include <stdbool.h>

_Static_assert(FP_CALL_COUNT <= REP_CODE_FRESH, "calls stand below what is added to them");
_Static_assert((FP_CALL_MALLOC ^ FP_CALL_FREE) == 4 && (FP_CALL_MALLOC & 4) == 0, "they differ in one bit");
_Static_assert(REP_CODE_GROUP + (2u << REP_CODE_OPS_MAX) <= REP_CODES, "all groups have a code");

#define EMPTY 1u /* a group of no op */

static uint8_t single(const struct wl_op *op)
{
    return (uint8_t)(op->call + ((op->align_log2 & WL_OP_FRESH) != 0 ? REP_CODE_FRESH : 0));
}

void rep_code_make(uint8_t *code, const struct wl_op *ops, size_t count)
{
    unsigned group = EMPTY;
    for (const struct wl_op *op = ops; op != ops + count; op++) {
        if ((op->call & ~4u) == FP_CALL_MALLOC) {
            group = group << 1 | (op->call & 4u) >> 2;
            const unsigned full = group >> REP_CODE_OPS_MAX;
            *code = (uint8_t)(REP_CODE_GROUP + group); /* for good when it is full */
            code += full;
            group = full != 0 ? EMPTY : group;
            continue;
        }
        if (group != EMPTY)
            *code++ = (uint8_t)(REP_CODE_GROUP + group);
        group = EMPTY;
        *code++ = single(op);
    }
    if (group != EMPTY)
        *code++ = (uint8_t)(REP_CODE_GROUP + group);
    *code = REP_CODE_END;
}
