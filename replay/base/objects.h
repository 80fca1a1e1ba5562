/* objects.h - facts about a workload's live objects; looked at outside of timed code.
 *
 *   live      how many bytes each object is, op by op
 *   promise   what an allocator owes an object's address: aligned as asked, at least as the C standard demands of an
 *             object of that size, 16 bytes from 16 bytes on. A checking run (promise_check.h) looks at each */
#ifndef MALLAB_REPLAY_BASE_OBJECTS_H
#define MALLAB_REPLAY_BASE_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "footprint/wl/workload.h"

struct rep_live {
    uint64_t *sizes; /* by id: bytes requested plus one; 0: not live */
    uint32_t id_max;
    uint64_t bytes, objects;
};

/* rep_live_init - map room for ids up to id_max. Returns false when it does not fit. */
bool rep_live_init(struct rep_live *live, uint32_t id_max);

/* rep_live_follow - take the first count ops of a window into account, in the recorded order. */
void rep_live_follow(struct rep_live *live, const struct wl_window *window, uint32_t count);

/* rep_alignment_promised - what the address of these bytes, more than none, must be a multiple of. */
uint64_t rep_alignment_promised(const struct wl_op *op, uint64_t bytes);

#endif
