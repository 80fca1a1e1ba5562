/* heap.h - the objects alive at a moment of a stream of events, each with the call that makes it again.
 * Private to convert/.
 *
 *   birth   number of an object's allocation, from 1; a resize is one too, as what it made is made by malloc
 *
 * Takes the events that are not to be replayed and keeps what is left of them: ancestors of a forked process and earlier
 * windows (inherit.h), what comes before a section (select/chain.h). Memory follows the live objects. */
#ifndef MALLAB_CONVERT_OPS_HEAP_H
#define MALLAB_CONVERT_OPS_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/ops/track.h"

struct conv_heap {
    struct conv_track track; /* the tag is an index into slots */
    struct conv_event
        *slots; /* old_address holds the birth, 0 in a free slot, whose size is the next free one */
    size_t slot_count, slot_capacity, free_slot;
    uint64_t births;
};

/* One object, or one realloc under way. */
struct conv_heir {
    uint64_t birth;
    uint32_t moving_lane; /* its lane, where a realloc of the object is under way; else CONV_NOT_MOVING */
    size_t slot;
};

#define CONV_NOT_MOVING UINT32_MAX

/* conv_heap_init - nothing is alive. Returns false: no memory; conv_heap_release accepts it in either case.
 * The struct stays where it is until then. */
bool conv_heap_init(struct conv_heap *heap);
void conv_heap_release(struct conv_heap *heap);

/* conv_heap_take - one event, in the order of all lanes. Returns FP_OK; FP_ERR_MEMORY. */
enum fp_status conv_heap_take(struct conv_heap *heap, const struct conv_event *event);

/* conv_heap_put - an object that was there before any event: its allocation. Returns FP_OK; FP_ERR_MEMORY. */
enum fp_status conv_heap_put(struct conv_heap *heap, const struct conv_event *object);

/* conv_heap_heirs - what is alive now, the oldest first; the caller frees ret_heirs. Returns FP_OK; FP_ERR_MEMORY. */
enum fp_status conv_heap_heirs(const struct conv_heap *heap, struct conv_heir **ret_heirs, size_t *ret_count);

/* conv_heap_object - an heir as the allocation that makes it: time 0, the lane that made it. Its address is where it
 * stands, or stood before its realloc. */
struct conv_event conv_heap_object(const struct conv_heap *heap, const struct conv_heir *heir);

#endif
