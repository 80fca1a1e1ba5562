/* epoch_greedy.h - orders of a group's steps that need no search: greedy, greedy with repair, lane by lane. */
#ifndef MALLAB_CONVERT_ORDER_EPOCH_GREEDY_H
#define MALLAB_CONVERT_ORDER_EPOCH_GREEDY_H

#include "convert/order/epoch_steps.h"

/* conv_epoch_reset - lanes at their first steps, addresses as at the group's start, an empty plan. */
void conv_epoch_reset(struct conv_epoch_group *group);

/* conv_epoch_order_greedily - lane after lane as far as it may go; one that may not waits for another to change its address.
 * Returns  whether every step was taken: then plan holds a legal order. */
bool conv_epoch_order_greedily(struct conv_epoch_group *group);

/* conv_epoch_order_with_repair - greedy order; where it is stuck, the step that the earliest waiting one needs is moved
 * before it, so that every event is kept, every address alternates and the group ends in the state it must.
 * survey   irregular[CONV_ORDER_REPAIRED] counts what was moved. */
void conv_epoch_order_with_repair(struct conv_epoch_group *group, struct conv_survey *survey);

/* conv_epoch_order_by_lane - steps lane by lane, legal or not. */
void conv_epoch_order_by_lane(struct conv_epoch_group *group);

#endif
