/* pair_resize.h - the part of pairing that is about realloc. Private to pair.c.
 *
 * Its first event (FP_MARK_RESIZE_FROM) takes the object out of the table of live ones, since its address may be another's
 * before the call is back; until its second event, the result, the object is pending with its lane. An object whose result
 * never comes is put back. All return FP_OK, FP_ERR_MEMORY, or the writer's. */
#ifndef MALLAB_CONVERT_OPS_PAIR_RESIZE_H
#define MALLAB_CONVERT_OPS_PAIR_RESIZE_H

#include "convert/ops/pair.h"

/* conv_pair_resize_from - the first event; its address is not 0. Beyond CONV_NEST_MAX pending ones the oldest is given up. */
enum fp_status conv_pair_resize_from(struct conv_pair *pair, struct conv_pair_lane *lane,
                                     const struct conv_event *event);

/* conv_pair_resize_result - the second event; bytes: what the program asked for. */
enum fp_status conv_pair_resize_result(struct conv_pair *pair, struct conv_pair_lane *lane,
                                       const struct conv_event *event, uint64_t bytes);

/* conv_pair_drop_pending - no result of this lane will come: put back what is pending, and count it. */
enum fp_status conv_pair_drop_pending(struct conv_pair *pair, struct conv_pair_lane *lane);

#endif
