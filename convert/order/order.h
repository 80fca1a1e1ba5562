/* order.h - merge lanes into one legal order (docs/order.md).
 *
 * Lanes wait in a heap by the epoch of their heads. A lane alone below all others runs until it meets the
 * next epoch; lanes that meet in one epoch form a group (epoch_group.h). Groups follow each other, so the state
 * between them is exact and memory is that of one group and the blocks under way. */
#ifndef MALLAB_CONVERT_ORDER_ORDER_H
#define MALLAB_CONVERT_ORDER_ORDER_H

#include "convert/order/lane_cursor.h"

#define CONV_GROUP_EVENTS (1u << 17) /* of all lanes; more are cut by time: CONV_OVERSIZED_GROUPS */

/* conv_order_run - hand all events of all lanes to the sink, in order.
 * blocks        borrowed. buffer_bytes: bound of decoded blocks held at once.
 * group_events  most events of one epoch to look at together; 0: CONV_GROUP_EVENTS.
 * survey        counts of groups and repairs are added there.
 * Returns       FP_OK; what load() or the sink returned; FP_ERR_MEMORY. */
enum fp_status conv_order_run(const struct conv_blocks *blocks, uint64_t buffer_bytes, uint32_t group_events,
                              const struct conv_sink *sink, struct conv_survey *survey);

/* The same in parts, for merging several inputs (merge.h).
 *
 * conv_order_open - set out; blocks and survey are borrowed until conv_order_close. FP_OK or FP_ERR_MEMORY.
 * conv_order_step - hand over at most one batch of a lane alone, or one group. FP_END: there was nothing left. Else as
 *                   conv_order_run.
 * conv_order_close - accepts NULL, and any state. */
struct conv_order;
enum fp_status conv_order_open(const struct conv_blocks *blocks, uint64_t buffer_bytes, uint32_t group_events,
                               struct conv_survey *survey, struct conv_order **ret_order);
enum fp_status conv_order_step(struct conv_order *order, const struct conv_sink *sink);
void conv_order_close(struct conv_order *order);

#endif
