/* source.h - events on their way from an input to the pairing, in one order of all lanes.
 *
 *   input   an opened footprint, recording or trace: where events come from, and what is known of it besides. It fills
 *           conv_error itself when it is at fault; a status that came back from the sink passes through with the
 *           error untouched (cause.status FP_OK)
 *
 *   lane    one thread's stream of events; its number indexes whatever names threads
 *   sink    takes events in batches, in order. It sees every batch before the source asks it again */
#ifndef MALLAB_CONVERT_BASE_SOURCE_H
#define MALLAB_CONVERT_BASE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/base/error.h"
#include "convert/base/survey_counts.h"
#include "footprint/base/call.h"
#include "footprint/base/status.h"
#include "footprint/fp/footprint.h"
#include "footprint/fp/fp_sites.h"

#define CONV_ADDRESS_LIMIT                                                                                   \
    (UINT64_C(1) << 48)   /* addresses and sizes are below: footprint/fp/record.h, workload.h */
#define CONV_NEST_MAX 16u /* reallocs of one lane begun and not ended: signal handlers interrupting */

/* A mark that only exists between source and sink: nothing more comes from this lane. The number is free in footprint/base/call.h,
 * but a damaged file may hold it. */
enum { CONV_MARK_LANE_END = 63 };

struct conv_event {
    uint64_t time_ns;
    uint64_t address;     /* result of an allocation or resize, argument of a release or RESIZE_FROM */
    uint64_t old_address; /* results of realloc and reallocarray: the address of their RESIZE_FROM, else 0 */
    uint64_t size;        /* shape of the call, see struct fp_shape */
    uint64_t extra;
    uint32_t lane;
    uint32_t call : 8;
    uint32_t
        site : 24; /* of an allocation or resize: the footprint's number of its call stack; 0: none is known */
};

_Static_assert(FP_SITES_MAX <= 1u << 24, "a site fits");

static inline struct fp_shape conv_event_shape(const struct conv_event *event)
{
    return (struct fp_shape){.call = event->call, .size = event->size, .extra = event->extra};
}

/* Marks begin .. end - 1 of a decoded block, of one lane, with no event of another lane between them. */
struct conv_slice {
    const struct fp_block *block;
    uint64_t block_number; /* differs from that of any other block of the pass */
    uint32_t lane;
    uint32_t begin, end;
    uint32_t stamp;   /* marks from here on are at stamp_q8: one at the most, a realloc's second */
    uint32_t bound;   /* end of the slices of this block that will follow without another lane's events */
    uint64_t time_q8; /* of the first mark, in 1/256 ns */
    uint64_t step_q8; /* from mark to mark */
    uint64_t stamp_q8;
    bool resizes; /* reallocs of the lane are under way */
};

struct conv_sink {
    void *data;
    /* Takes count events, borrowed for the call. What it returns other than FP_OK ends the pass. */
    enum fp_status (*events)(void *data, const struct conv_event *events, size_t count);
    /* Takes marks as long as nothing about them is out of the ordinary: *ret_taken of them. The next is to be handed
     * over as an event. NULL: everything is. */
    enum fp_status (*marks)(void *data, const struct conv_slice *slice, uint32_t *ret_taken);
    /* Tells whether an object stands at address after all events handed over so far; if so, ret_bytes receives its
     * requested size. */
    bool (*is_live)(void *data, uint64_t address, uint64_t *ret_bytes);
    /* Takes objects that were there before the first event, as their allocations; before any calls (a section that
     * begins amid reallocs has their RESIZE_FROM marks between them). NULL: they are of no interest. */
    enum fp_status (*inherit)(void *data, const struct conv_event *objects, size_t count);
};

/* conv_pass_inherit, conv_pass_is_live - for a sink that leaves these to another one: its data begins with that. */
static inline enum fp_status conv_pass_inherit(void *data, const struct conv_event *objects, size_t count)
{
    const struct conv_sink *next = data;
    return next->inherit(next->data, objects, count);
}

static inline bool conv_pass_is_live(void *data, uint64_t address, uint64_t *ret_bytes)
{
    const struct conv_sink *next = data;
    return next->is_live(next->data, address, ret_bytes);
}

/* Names lanes: called once a lane, before its first op. */
struct conv_namer {
    void *data;
    void (*name)(void *data, uint32_t lane, uint32_t *ret_thread_id, bool *ret_is_main);
};

struct conv_input {
    void *data;
    struct conv_namer namer;
    const char *source;      /* meta key `source` */
    uint64_t progress_total; /* 0: unknown */
    uint64_t end_ns;    /* when the recording ended, on its events' clock; 0: known when it is read only */
    uint32_t home_lane; /* which makes the objects that were there before: the process' main thread */
    /* Hand all events to the sink. */
    enum fp_status (*run)(void *data, const struct conv_sink *sink, struct conv_survey *survey,
                          struct conv_error *error);
    /* Bytes read so far; NULL: progress is counted in events. */
    uint64_t (*position)(void *data);
    /* After the run: losses, duration, completeness. gap_calls: calls that gap marks say are missing. */
    void (*conclude)(void *data, uint64_t gap_calls, struct conv_survey *survey);
    /* The stacks that events' sites are numbers of; to be ended with fp_stacks_release in any case. NULL: events have no
     * sites. */
    enum fp_status (*stacks)(void *data, struct fp_stacks *ret_stacks, struct conv_error *error);
    void (*close)(void *data);
};

#endif
