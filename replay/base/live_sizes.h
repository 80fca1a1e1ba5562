/* live_sizes.h - which objects are live and how many bytes each of them is, followed op by op outside of timed code. */
#ifndef MALLAB_REPLAY_BASE_LIVE_SIZES_H
#define MALLAB_REPLAY_BASE_LIVE_SIZES_H

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

#endif
