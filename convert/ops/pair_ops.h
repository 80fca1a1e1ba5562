/* pair_ops.h - what the rules of pairing come to: ops for the writer, objects in the table of live ones. Private to
 * pair.c and pair_resize.c; inline, since pair.c goes through here for each event.
 *
 * All take the lane of the event at hand, and hand on the writer's errors; those that put something into the table return
 * FP_ERR_MEMORY too. Without a writer they count only. */
#ifndef MALLAB_CONVERT_OPS_PAIR_OPS_H
#define MALLAB_CONVERT_OPS_PAIR_OPS_H

#include "convert/base/stats.h"
#include "convert/ops/pair.h"

/* conv_pair_irregular - count one more of a kind. */
static inline void conv_pair_irregular(struct conv_pair *pair, enum conv_irregularity which)
{
    pair->survey->irregular[which]++;
}

/* conv_pair_emit_release - the op that releases an object which the table of live ones has no more.
 * shape  of the call, as it is to be replayed. */
static inline enum fp_status conv_pair_emit_release(struct conv_pair *pair, const struct conv_pair_lane *lane,
                                                    const struct fp_shape *shape, struct conv_object object)
{
    struct conv_survey *survey = pair->survey;
    survey->ops++;
    survey->ops_by_call[shape->call]++;
    conv_stats_live(survey, 0, object.bytes, -1);
    if (pair->writer == NULL)
        return FP_OK;
    return wl_writer_release(pair->writer, lane->thread, shape, pair->last_time_ns, object.id, object.bytes);
}

/* conv_pair_emit_implied_release - likewise, of an object that no event released. */
static inline enum fp_status conv_pair_emit_implied_release(struct conv_pair *pair,
                                                            const struct conv_pair_lane *lane,
                                                            struct conv_object object)
{
    const struct fp_shape shape = {.call = FP_CALL_FREE};
    return conv_pair_emit_release(pair, lane, &shape, object);
}

/* conv_pair_evict - whatever stands where an object is about to be put has lost its release. entry is empty behind. */
static inline enum fp_status conv_pair_evict(struct conv_pair *pair, const struct conv_pair_lane *lane,
                                             struct conv_live_entry *entry)
{
    const struct conv_object object = conv_live_object(entry);
    conv_live_remove(&pair->live, entry);
    conv_pair_irregular(pair, CONV_LOST_FREE);
    return conv_pair_emit_implied_release(pair, lane, object);
}

/* conv_pair_make_place - ret_entry: the empty entry for an object at address, until the table changes. */
static inline enum fp_status conv_pair_make_place(struct conv_pair *pair, const struct conv_pair_lane *lane,
                                                  uint64_t address, struct conv_live_entry **ret_entry)
{
    struct conv_live_entry *entry = conv_live_place(&pair->live, address);
    if (__builtin_expect(!conv_live_is_empty(entry), 0)) {
        const enum fp_status status = conv_pair_evict(pair, lane, entry);
        if (status != FP_OK)
            return status;
        entry = conv_live_place(&pair->live, address);
    }
    *ret_entry = entry;
    return FP_OK;
}

/* conv_pair_create - the op that makes an object of bytes, which stands at the event's address from now on. */
static inline enum fp_status conv_pair_create(struct conv_pair *pair, const struct conv_pair_lane *lane,
                                              const struct conv_event *event, uint64_t bytes)
{
    struct conv_survey *survey = pair->survey;
    const struct fp_shape shape = conv_event_shape(event);
    struct conv_object object = {.id = 0, .bytes = bytes};
    struct conv_live_entry *entry;
    enum fp_status status = conv_pair_make_place(pair, lane, event->address, &entry);
    if (status != FP_OK)
        return status;
    survey->ops++;
    survey->ops_by_call[event->call]++;
    conv_stats_live(survey, bytes, 0, 1);
    if (pair->writer != NULL) {
        status = wl_writer_allocate(pair->writer, lane->thread, &shape, pair->last_time_ns, &object.id);
        if (status != FP_OK)
            return status;
    }
    return conv_live_insert_at(&pair->live, entry, event->address, object) ? FP_OK : FP_ERR_MEMORY;
}

/* conv_pair_emit_allocate - likewise, counted as asked for by the program. */
static inline enum fp_status conv_pair_emit_allocate(struct conv_pair *pair,
                                                     const struct conv_pair_lane *lane,
                                                     const struct conv_event *event, uint64_t bytes)
{
    conv_stats_requests(pair->survey, bytes, 1);
    return conv_pair_create(pair, lane, event, bytes);
}

#endif
