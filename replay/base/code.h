/* code.h - which call each op makes, as the timed loop reads it: a byte an op, side by side.
 *
 * Which call comes next a processor often guesses wrong, and how long it takes to find that out depends on how early the
 * call can be read. From here the loop reads it one op ahead, and need not look at WL_OP_FRESH (docs/scale.md has what
 * that brings). */
#ifndef MALLAB_REPLAY_BASE_CODE_H
#define MALLAB_REPLAY_BASE_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "footprint/wl/workload.h"

#define REP_CODE_FRESH (WL_OP_FRESH >> 1) /* beside the call, where WL_OP_FRESH is set */

/* rep_code_make - code for count ops, as many bytes. */
static inline void rep_code_make(uint8_t *code, const struct wl_op *ops, size_t count)
{
    _Static_assert((unsigned)FP_CALL_COUNT <= REP_CODE_FRESH, "no call has that bit");
    for (size_t i = 0; i < count; i++)
        code[i] = (uint8_t)(ops[i].call | (ops[i].align_log2 & WL_OP_FRESH) >> 1);
}

#endif
