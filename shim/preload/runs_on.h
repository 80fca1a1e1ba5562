/* runs_on.h - which allocator is under the program: the definition of malloc behind ours, or one that stands in front. */
#ifndef MALLAB_SHIM_PRELOAD_RUNS_ON_H
#define MALLAB_SHIM_PRELOAD_RUNS_ON_H

#include "shim/preload/shim.h"

#pragma GCC visibility push(hidden)

/* runs_on_put - what was found before main, into a slot: of a forked child all of it, of a fresh image nothing yet. */
void runs_on_put(struct seg_slot *slot);

/* runs_on_ask - find it, for a process that is on; where no call of the allocator is under way. */
void runs_on_ask(void);

#pragma GCC visibility pop

#endif
