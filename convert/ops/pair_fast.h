/* pair_fast.h - the common case in one loop: marks of one lane become ops as they stand in their block.
 *
 * What is not plain is left to pair.c, whose rules these are: one workload, byte for byte, by either way. An object lives
 * in the table of live objects (live_table.h) or here, so whoever looks at the table settles first. */
#ifndef MALLAB_CONVERT_OPS_PAIR_FAST_H
#define MALLAB_CONVERT_OPS_PAIR_FAST_H

#include "convert/ops/pair.h"

struct conv_pair_fast;

/* conv_pair_fast_take - the pairing's conv_sink.marks. pair->writer is not NULL.
 * Returns FP_OK, FP_ERR_MEMORY, and the writer's. */
enum fp_status conv_pair_fast_take(struct conv_pair *pair, const struct conv_slice *slice,
                                   uint32_t *ret_taken);

/* conv_pair_fast_settle - write into the table what is known here of addresses. */
void conv_pair_fast_settle(struct conv_pair *pair);

/* conv_pair_fast_end - settle, add what was counted to survey and writer, and free. NULL (never begun) is fine. */
void conv_pair_fast_end(struct conv_pair *pair);

#endif
