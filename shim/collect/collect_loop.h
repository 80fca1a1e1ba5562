/* collect_loop.h - the loop of mallab-collect: a round, the rest between two, and how it knows that it is over. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_LOOP_H
#define MALLAB_SHIM_COLLECT_COLLECT_LOOP_H

#include "shim/collect/collect.h"

/* loop_run - collect until nobody is left, or until it was asked to end. */
void loop_run(struct collector *collector);

#endif
