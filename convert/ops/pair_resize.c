/* pair_resize.c - the rules for realloc: an event before the call and one behind it. */
#include "convert/ops/pair_resize.h"

#include <stdlib.h>
#include <string.h>

#include "convert/ops/pair_ops.h"

/* Put an object back where it stood when its realloc began. */
static enum fp_status restore(struct conv_pair *pair, const struct conv_pair_lane *lane,
                              const struct conv_pending *pending)
{
    if (!pending->known)
        return FP_OK;
    if (conv_live_find(&pair->live, pending->address) != NULL) {
        /* Another object stands there by now: the one put back was released unseen. */
        conv_pair_irregular(pair, CONV_LOST_FREE);
        return conv_pair_emit_implied_release(pair, lane, pending->object);
    }
    return conv_live_insert(&pair->live, pending->address, pending->object) ? FP_OK : FP_ERR_MEMORY;
}

static enum fp_status drop_oldest_pending(struct conv_pair *pair, struct conv_pair_lane *lane)
{
    const struct conv_pending oldest = lane->pending[0];
    lane->pending_count--;
    memmove(lane->pending, lane->pending + 1, lane->pending_count * sizeof *lane->pending);
    conv_pair_irregular(pair, CONV_UNFINISHED_CALLS);
    return restore(pair, lane, &oldest);
}

enum fp_status conv_pair_drop_pending(struct conv_pair *pair, struct conv_pair_lane *lane)
{
    enum fp_status status = FP_OK;
    while (lane->pending_count > 0 && status == FP_OK)
        status = drop_oldest_pending(pair, lane);
    return status;
}

enum fp_status conv_pair_resize_from(struct conv_pair *pair, struct conv_pair_lane *lane,
                                     const struct conv_event *event)
{
    struct conv_pending pending = {.address = event->address};
    struct conv_live_entry *entry;
    if (lane->pending == NULL) {
        lane->pending = calloc(CONV_NEST_MAX, sizeof *lane->pending);
        if (lane->pending == NULL)
            return FP_ERR_MEMORY;
    }
    if (lane->pending_count == CONV_NEST_MAX) {
        const enum fp_status status = drop_oldest_pending(pair, lane);
        if (status != FP_OK)
            return status;
    }
    entry = conv_live_find(&pair->live, event->address); /* after the above, which may have put it back */
    pending.known = entry != NULL;
    if (entry != NULL) {
        pending.object = conv_live_object(entry);
        conv_live_remove(&pair->live, entry);
    } else {
        conv_pair_irregular(pair, CONV_RESIZE_OF_UNKNOWN);
    }
    lane->pending[lane->pending_count++] = pending;
    return FP_OK;
}

/* Take the innermost pending realloc of this address off the lane; false: there is none. */
static bool take_pending(struct conv_pair_lane *lane, uint64_t address, struct conv_pending *ret_pending)
{
    for (uint32_t i = lane->pending_count; i-- > 0;) {
        if (lane->pending[i].address != address)
            continue;
        *ret_pending = lane->pending[i];
        lane->pending_count--;
        memmove(&lane->pending[i], &lane->pending[i + 1], (lane->pending_count - i) * sizeof *lane->pending);
        return true;
    }
    return false;
}

static enum fp_status resize_failed(struct conv_pair *pair, const struct conv_pair_lane *lane,
                                    const struct conv_pending *pending, uint64_t bytes)
{
    if (bytes > 0) {
        conv_pair_irregular(pair, CONV_FAILED_CALLS);
        return restore(pair, lane, pending);
    }
    conv_pair_irregular(pair, CONV_REALLOC_TO_ZERO);
    return pending->known ? conv_pair_emit_implied_release(pair, lane, pending->object) : FP_OK;
}

enum fp_status conv_pair_resize_result(struct conv_pair *pair, struct conv_pair_lane *lane,
                                       const struct conv_event *event, uint64_t bytes)
{
    const struct fp_shape shape = conv_event_shape(event);
    struct conv_survey *survey = pair->survey;
    struct conv_pending pending = {0};
    struct conv_live_entry *entry;
    enum fp_status status;
    if (event->old_address != 0)
        (void)take_pending(lane, event->old_address, &pending); /* none: as a realloc of NULL */
    if (event->address == 0)
        return resize_failed(pair, lane, &pending, bytes);
    if (!pending.known)
        return conv_pair_emit_allocate(pair, lane, event, bytes);
    status = conv_pair_make_place(pair, lane, event->address, &entry);
    if (status != FP_OK)
        return status;
    survey->ops++;
    survey->ops_by_call[event->call]++;
    conv_stats_requests(survey, bytes, 1);
    conv_stats_live(survey, bytes, pending.object.bytes, 0);
    if (pair->writer != NULL) {
        status = wl_writer_resize(pair->writer, lane->thread, &shape, pair->last_time_ns, pending.object.id,
                                  pending.object.bytes);
        if (status != FP_OK)
            return status;
    }
    pending.object.bytes = bytes;
    return conv_live_insert_at(&pair->live, entry, event->address, pending.object) ? FP_OK : FP_ERR_MEMORY;
}
