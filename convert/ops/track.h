/* track.h - the addresses that hold an object, each with a number of the caller's; pair.c makes ops of them.
 * Private to convert/.
 *
 *   tag      what the caller keeps of an object; 32 bits
 *   moving   between a realloc's two marks: the address is free for others, the object not yet gone
 *   step     what one event did
 *
 * Whoever leaves out events on their way to the pairing must itself know what stands where (source.h, is_live), and to
 * which object an address belongs. Memory: the table (live_table.h), and the reallocs under way. */
#ifndef MALLAB_CONVERT_OPS_TRACK_H
#define MALLAB_CONVERT_OPS_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/base/source.h"
#include "convert/ops/live_table.h"

enum conv_track_what {
    CONV_TRACK_NOTHING = 0, /* no call, one on nothing known, or one that failed */
    CONV_TRACK_BORN,        /* an object stands at the event's address: put it in */
    CONV_TRACK_GONE,        /* `object` was released */
    CONV_TRACK_MOVING,      /* a realloc begins: of `object`, or of nothing known */
    CONV_TRACK_MOVED,       /* it returned: `object` stands at the event's address now: put it in */
};

struct conv_track_step {
    enum conv_track_what what;
    struct conv_object object; /* id is the tag; 0: nothing known */
    struct conv_object
        evictee;    /* stood at the address of what was born or moved, its release was lost; id 0: none */
    uint64_t bytes; /* asked for by what was born or moved */
};

struct conv_track_pending {
    uint64_t address;
    struct conv_object object;
};

struct conv_track_lane {
    struct conv_track_pending *pending; /* CONV_NEST_MAX entries, made when first needed; innermost last */
    uint32_t count;
};

struct conv_track {
    struct conv_live_table live;
    struct conv_track_lane *lanes;
    size_t lane_capacity;
    /* An object whose realloc never returned and whose place is taken: gone unseen. What it returns other than FP_OK
     * ends what was begun. */
    enum fp_status (*lost)(void *data, struct conv_object object);
    void *lost_data;
    uint64_t unfinished; /* reallocs that were given up, no result of theirs was seen */
};

/* conv_track_init - nothing is alive. Returns false: no memory; conv_track_release accepts it in either case. */
bool conv_track_init(struct conv_track *track, enum fp_status (*lost)(void *data, struct conv_object object),
                     void *lost_data);
void conv_track_release(struct conv_track *track);

/* conv_track_take - one event, in the order of all lanes.
 * ret_step  what it did. After BORN and MOVED there is place at the address: conv_live_insert comes next.
 * Returns   FP_OK; FP_ERR_MEMORY; what lost() returned. */
enum fp_status conv_track_take(struct conv_track *track, const struct conv_event *event,
                               struct conv_track_step *ret_step);

/* conv_track_settle - reallocs under way, of all lanes, count as not begun. */
enum fp_status conv_track_settle(struct conv_track *track);

/* conv_track_is_live - as is_live of a sink (source.h). */
bool conv_track_is_live(const struct conv_track *track, uint64_t address, uint64_t *ret_bytes);

/* ---- the objects alive at a moment of a stream of events, each with the call that makes it again ----
 *
 *   birth   number of an object's allocation, from 1; a resize is one too, as what it made is made by malloc
 *
 * Takes the events that are not to be replayed and keeps what is left of them: ancestors of a forked process and earlier
 * windows (inherit.c), what comes before a section (selection_plan.h). Memory follows the live objects. */

struct conv_heap {
    struct conv_track track; /* the tag, a number of the table, is an index into slots */
    struct conv_event
        *slots; /* from 1 to the table's numbers; old_address holds the birth, 0 in a free slot */
    size_t slot_capacity;
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
