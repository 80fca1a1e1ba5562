/* pair_state.h - what the rules of pairing (pair.c) and their short cut (pair_fast.c) share. Private to them. */
#ifndef MALLAB_CONVERT_OPS_PAIR_STATE_H
#define MALLAB_CONVERT_OPS_PAIR_STATE_H

#include "convert/ops/track.h"

#include "footprint/wl/workload.h"

#define NOT_ANNOUNCED UINT32_MAX /* a thread of which the writer was not told yet */

struct conv_pair {
    struct wl_writer *writer; /* NULL: count only */
    struct conv_namer namer;
    struct conv_survey *survey;
    struct conv_track track; /* the tag: the object's id */
    uint32_t *threads;       /* by lane: the writer's number, UINT32_MAX before it is announced */
    size_t lane_capacity;
    uint32_t thread;             /* of the event at hand */
    struct conv_pair_fast *fast; /* pair_fast.h; NULL until it is used */
    bool inheriting;             /* all ops so far are of objects that were there before */
    uint64_t gap_calls;          /* that gap marks say are missing */
    uint64_t last_time_ns;       /* highest seen: the order's time never decreases */
};

/* conv_pair_thread - a lane's thread, announced to the writer. Returns FP_OK, FP_ERR_MEMORY, or the writer's. */
enum fp_status conv_pair_thread(struct conv_pair *pair, uint32_t lane, uint32_t *ret_thread);

/* conv_pair_resident - FP_MARK_RESIDENT of a live object. What cannot be (a share of more than all, of an object that is not
 * large) is passed over. Returns FP_OK, or the writer's. */
enum fp_status conv_pair_resident(struct conv_pair *pair, struct conv_object object, uint64_t share);

#endif
