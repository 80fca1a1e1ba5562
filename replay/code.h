/* code.h - ops as the timed loop jumps by them: one byte for up to four ops.
 *
 * Which call comes next is what a processor cannot foresee, and each wrong guess costs it more than twice what an op of
 * `none` takes otherwise. So the loop decides once for up to REP_CODE_OPS_MAX mallocs and frees, in each order that they
 * can have, and knows the next decision before it has executed this one (docs/scale.md has what that brings).
 *
 *   0                    the end
 *   call                 of one op, its own number; REP_CODE_FRESH + call where WL_OP_FRESH is set
 *   REP_CODE_GROUP + n   of mallocs and frees: n in binary is a 1 and then a digit for each, 0 malloc and 1 free */
#ifndef MALLAB_REPLAY_CODE_H
#define MALLAB_REPLAY_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "footprint/workload.h"

#define REP_CODE_END     0u
#define REP_CODE_FRESH   64u
#define REP_CODE_GROUP   128u
#define REP_CODE_OPS_MAX 4 /* of a group */
#define REP_CODES        160u

/* rep_code_make - code for count ops and the end, count + 1 bytes at most. Ops are as wl_reader_next or a plan hands
 * them out: their calls are calls. */
void rep_code_make(uint8_t *code, const struct wl_op *ops, size_t count);

#endif
