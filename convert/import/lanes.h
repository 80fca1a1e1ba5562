/* lanes.h - thread ids of a trace to lanes, numbered from 0 as threads appear.
 *
 * An id whose thread has ended may come again: that is another thread, with a lane of its own. Memory grows with
 * threads, which are at most WL_THREADS_MAX. */
#ifndef MALLAB_CONVERT_IMPORT_LANES_H
#define MALLAB_CONVERT_IMPORT_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/base/source.h"
#include "footprint/base/status.h"

struct conv_lane_slot;

struct conv_lanes {
    struct conv_lane_slot *slots;
    size_t slot_mask, slots_used;
    uint64_t seed;
    uint32_t *thread_ids; /* by lane */
    uint32_t count;
    size_t capacity;
    uint64_t recent_key; /* of the thread asked for last, which is mostly the next one too; 0: none */
    uint32_t recent_lane;
    bool main_is_named;      /* the format says which thread is the main one: main_thread_id */
    uint32_t main_thread_id; /* else it is taken to be the first */
};

/* conv_lanes_init - no threads yet. conv_lanes_release drops them. */
void conv_lanes_init(struct conv_lanes *lanes);
void conv_lanes_release(struct conv_lanes *lanes);

/* conv_lanes_of - the lane of a running thread, a new one where there is none.
 * Returns  FP_OK; FP_ERR_LIMIT beyond WL_THREADS_MAX threads; FP_ERR_MEMORY. */
enum fp_status conv_lanes_of(struct conv_lanes *lanes, uint32_t thread_id, uint32_t *ret_lane);

/* conv_lanes_end - the thread has ended. It has a lane. */
void conv_lanes_end(struct conv_lanes *lanes, uint32_t thread_id);

/* conv_lanes_namer - names lanes by their threads' ids; borrows lanes. */
struct conv_namer conv_lanes_namer(struct conv_lanes *lanes);

#endif
