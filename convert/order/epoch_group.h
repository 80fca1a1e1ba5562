/* epoch_group.h - a legal order for the events of one epoch (docs/order.md).
 *
 * Between epochs the order is known; within one, several lanes' events may come in any order that keeps
 * each lane's own and lets every address alternate between allocation and release. Only addresses that
 * two lanes touch within the group constrain it; all other events follow their lane. */
#ifndef MALLAB_CONVERT_ORDER_EPOCH_GROUP_H
#define MALLAB_CONVERT_ORDER_EPOCH_GROUP_H

#include "convert/order/epoch_steps.h"

void conv_epoch_group_init(struct conv_epoch_group *group);
/* conv_epoch_group_release - free what arranging allocated; events and lanes are the caller's. */
void conv_epoch_group_release(struct conv_epoch_group *group);

/* conv_epoch_group_arrange - put the group's events in order.
 * group    events, lanes and lane_count filled; lanes may be reordered. order and order_count receive
 *          every event of every lane once.
 * sink     asked what is live; it must have seen every event before the group.
 * survey   groups, groups_searched and irregular[CONV_ORDER_REPAIRED] are counted there.
 * Returns  false: no memory. */
bool conv_epoch_group_arrange(struct conv_epoch_group *group, const struct conv_sink *sink,
                              struct conv_survey *survey);

#endif
