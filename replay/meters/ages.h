/* ages.h - which objects are live, in the order in which their threads allocated them; followed op by op outside of timed
 * code.
 *
 *   age       of two objects of one thread the one allocated first is older. A resized object keeps its age, wherever it
 *             lies now: to the program it is the same one
 *   thread    the one that allocated it, whoever frees it */
#ifndef MALLAB_REPLAY_METERS_AGES_H
#define MALLAB_REPLAY_METERS_AGES_H

#include <stdbool.h>
#include <stdint.h>

#include "footprint/wl/workload.h"

/* A ring for each thread, through an end that is no object: nodes 1 .. id_max are object ids, the one of thread t is
 * id_max + 1 + t. */
struct rep_ages {
    uint32_t *older, *younger; /* by node */
    uint32_t *sizes;           /* by id: bytes requested plus one, at most UINT32_MAX; 0: not live */
    uint32_t id_max, thread_count;
    uint64_t objects; /* live */
};

/* rep_ages_init - map room for a workload's ids and threads. Returns false when it does not fit. */
bool rep_ages_init(struct rep_ages *ages, const struct wl_summary *summary);

/* rep_ages_follow - take a whole window into account, in the recorded order. */
void rep_ages_follow(struct rep_ages *ages, const struct wl_window *window);

/* Walk a thread's objects: for (id = rep_ages_oldest(ages, thread); id != 0; id = rep_ages_next(ages, id)). 0: none is left. */
uint32_t rep_ages_oldest(const struct rep_ages *ages, uint32_t thread);
uint32_t rep_ages_next(const struct rep_ages *ages, uint32_t id);

#endif
