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

#endif
