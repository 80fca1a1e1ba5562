/* epoch_search.h - the complete search for a group that greedy order could not finish. */
#ifndef MALLAB_CONVERT_ORDER_EPOCH_SEARCH_H
#define MALLAB_CONVERT_ORDER_EPOCH_SEARCH_H

#include "convert/order/epoch_steps.h"

#define CONV_SEARCH_STATES 20000u /* positions of all lanes that one search may visit */
#define CONV_SEARCH_LANES  1024u
#define CONV_SEARCH_WORK   512u /* steps that may be looked at for each state, on average */

/* conv_epoch_search - complete search for an order of the steps, depth first, with the lanes' positions
 * as memo: what is live follows from them.
 * Returns  true: plan holds the order. false: there is none, or the cap was reached. */
bool conv_epoch_search(struct conv_epoch_group *group, uint32_t states_max);

#endif
