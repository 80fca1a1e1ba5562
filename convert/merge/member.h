/* member.h - one process image that takes part in a merge: its events on their way into the merged input. Private to
 * merge/.
 *
 *   queue   events that its order has arranged and that wait for their turn: at most a batch of a lane alone, or a
 *           group (order.h); their times never decrease */
#ifndef MALLAB_CONVERT_MERGE_MEMBER_H
#define MALLAB_CONVERT_MERGE_MEMBER_H

#include "convert/base/request.h"
#include "convert/base/source.h"
#include "convert/merge/regions.h"

struct conv_member;

/* All members share this. */
struct conv_merge {
    struct conv_options options; /* of the members */
    struct conv_member *members;
    uint32_t count, open_count;
    uint32_t *thread_ids; /* by lane: known also when its member is closed */
    uint32_t *heap;       /* of members not done: earliest next event first, then lowest number */
    uint32_t heap_count;
    struct conv_regions regions;
    const struct conv_sink *sink; /* while it runs */
    struct conv_survey *survey;   /* of the whole */
    struct conv_error *error;
    enum fp_status early; /* of what had to be handed over out of turn */
    bool complete;
    char incomplete_why[256];
    uint64_t duration_ns;
};

struct conv_member {
    struct conv_merge *merge;
    char *path;
    const struct conv_process *listed; /* borrowed from the merge's survey */
    uint32_t number;                   /* among the members */
    uint32_t process_id;
    uint32_t lane_base, lane_count, main_lane;
    uint64_t start_unix_ns;
    uint64_t offset_ns; /* of its time 0 behind the merged input's */
    uint64_t next_ns;   /* of its next event, or no event is earlier */
    bool open;
    bool begun;     /* its first event was looked for */
    bool delivered; /* some event was handed over */
    bool done;      /* nothing comes behind the queue */
    bool concluded;
    struct conv_input input;                  /* while open */
    struct conv_survey *survey;               /* its own, while open */
    uint64_t paired[CONV_IRREGULARITY_COUNT]; /* what its events made the pairing count */
    uint64_t gap_calls;
    uint64_t live_bytes,
        live_objects; /* what its events added to the whole's; may pass below 0 for a moment, and wraps */
    struct conv_event *queue;
    size_t begin, end, capacity;
};

/* conv_member_open - open its footprint, if it is not. Returns FP_OK; what that returns, in merge->error. */
enum fp_status conv_member_open(struct conv_member *member);
void conv_member_close(struct conv_member *member);

/* conv_member_refill - arrange its next events when the queue is empty; `done` when there are none. It must be open and
 * the merge run. Returns FP_OK; what the input, or the sink, returned. */
enum fp_status conv_member_refill(struct conv_member *member);

/* conv_member_deliver - hand over what is not later than limit_ns. Returns FP_OK; what the sink returned. */
enum fp_status conv_member_deliver(struct conv_member *member, uint64_t limit_ns);

/* conv_member_conclude - once, after its last event that is taken: its losses, names of irregularities, completeness and
 * duration join the whole's. */
void conv_member_conclude(struct conv_member *member);

static inline bool conv_member_waits(const struct conv_member *member)
{
    return member->begin < member->end;
}

#endif
