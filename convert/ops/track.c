/* track.c - what stands where, event by event. */
#include "convert/ops/track.h"

#include <stdlib.h>
#include <string.h>

#include "convert/base/grow.h"

bool conv_track_init(struct conv_track *track)
{
    *track = (struct conv_track){0};
    return conv_live_init(&track->live);
}

void conv_track_release(struct conv_track *track)
{
    for (size_t i = 0; i < track->lane_capacity; i++)
        free(track->lanes[i].pending);
    free(track->lanes);
    conv_live_release(&track->live);
    *track = (struct conv_track){0};
}

bool conv_track_put(struct conv_track *track, uint64_t address, uint32_t tag, uint64_t bytes)
{
    return conv_live_insert(&track->live, address, (struct conv_object){.id = tag, .bytes = bytes});
}

bool conv_track_remove(struct conv_track *track, uint64_t address, struct conv_object *ret_object)
{
    struct conv_live_entry *entry = address != 0 && address < CONV_ADDRESS_LIMIT
                                        ? conv_live_find(&track->live, address)
                                        : NULL;
    if (entry == NULL)
        return false;
    *ret_object = conv_live_object(entry);
    conv_live_remove(&track->live, entry);
    return true;
}

bool conv_track_is_live(const struct conv_track *track, uint64_t address, uint64_t *ret_bytes)
{
    const struct conv_live_entry *entry = address != 0 && address < CONV_ADDRESS_LIMIT
                                              ? conv_live_find(&track->live, address)
                                              : NULL;
    if (entry == NULL)
        return false;
    *ret_bytes = conv_live_object(entry).bytes;
    return true;
}

/* ---- reallocs ------------------------------------------------------------------------------ */

static enum fp_status put_back(struct conv_track *track, const struct conv_track_pending *pending)
{
    if (!pending->known)
        return FP_OK;
    if (conv_live_find(&track->live, pending->address) == NULL)
        return conv_live_insert(&track->live, pending->address, pending->object) ? FP_OK : FP_ERR_MEMORY;
    return track->lost != NULL ? track->lost(track->lost_data, pending->object) : FP_OK;
}

static enum fp_status drop_oldest(struct conv_track *track, struct conv_track_lane *lane)
{
    const struct conv_track_pending oldest = lane->pending[0];
    lane->count--;
    track->unfinished++;
    memmove(lane->pending, lane->pending + 1, lane->count * sizeof *lane->pending);
    return put_back(track, &oldest);
}

static enum fp_status drop_all(struct conv_track *track, struct conv_track_lane *lane)
{
    enum fp_status status = FP_OK;
    while (lane->count > 0 && status == FP_OK)
        status = drop_oldest(track, lane);
    return status;
}

enum fp_status conv_track_settle(struct conv_track *track)
{
    enum fp_status status = FP_OK;
    for (size_t i = 0; i < track->lane_capacity && status == FP_OK; i++)
        status = drop_all(track, &track->lanes[i]);
    return status;
}

static bool reserve_lane(struct conv_track *track, uint32_t number)
{
    struct conv_track_lane *lanes = conv_grown(track->lanes, sizeof *lanes, &track->lane_capacity, number);
    if (lanes == NULL)
        return false;
    track->lanes = lanes;
    return true;
}

static enum fp_status begin_move(struct conv_track *track, const struct conv_event *event,
                                 struct conv_track_step *step)
{
    struct conv_track_lane *lane;
    enum fp_status status;
    if (!reserve_lane(track, event->lane))
        return FP_ERR_MEMORY;
    lane = &track->lanes[event->lane];
    if (lane->pending == NULL)
        lane->pending = calloc(CONV_NEST_MAX, sizeof *lane->pending);
    if (lane->pending == NULL)
        return FP_ERR_MEMORY;
    if (lane->count == CONV_NEST_MAX) {
        status = drop_oldest(track, lane);
        if (status != FP_OK)
            return status;
    }
    step->what = CONV_TRACK_MOVING;
    step->known = conv_track_remove(track, event->address, &step->object);
    lane->pending[lane->count++] = (struct conv_track_pending){
        .address = event->address, .object = step->object, .known = step->known};
    return FP_OK;
}

/* Take the innermost realloc of this address off the lane; false: there is none. */
static bool take_pending(struct conv_track *track, const struct conv_event *event,
                         struct conv_track_pending *ret_pending)
{
    struct conv_track_lane *lane = event->lane < track->lane_capacity ? &track->lanes[event->lane] : NULL;
    for (uint32_t i = lane != NULL && event->old_address != 0 ? lane->count : 0; i-- > 0;) {
        if (lane->pending[i].address != event->old_address)
            continue;
        *ret_pending = lane->pending[i];
        lane->count--;
        memmove(&lane->pending[i], &lane->pending[i + 1], (lane->count - i) * sizeof *lane->pending);
        return true;
    }
    return false;
}

static enum fp_status end_move(struct conv_track *track, const struct conv_event *event, uint64_t bytes,
                               struct conv_track_step *step)
{
    struct conv_track_pending pending = {0};
    (void)take_pending(track, event, &pending); /* else it stays of nothing known */
    step->known = pending.known;
    step->object = pending.object;
    if (event->address != 0) {
        step->what = pending.known ? CONV_TRACK_MOVED : CONV_TRACK_BORN;
        conv_track_make_place(track, event->address, bytes, step);
        return FP_OK;
    }
    if (bytes == 0 && pending.known) {
        step->what = CONV_TRACK_GONE;
        return FP_OK;
    }
    return bytes > 0 ? put_back(track, &pending) : FP_OK;
}

/* ---- events -------------------------------------------------------------------------------- */

static enum fp_status take_mark(struct conv_track *track, const struct conv_event *event,
                                struct conv_track_step *step)
{
    struct conv_track_lane *lane = event->lane < track->lane_capacity ? &track->lanes[event->lane] : NULL;
    enum fp_status status;
    switch (event->call) {
    case FP_MARK_RESIZE_FROM:
        return event->address != 0 ? begin_move(track, event, step) : FP_OK;
    case FP_MARK_GAP:
        return lane != NULL ? drop_all(track, lane) : FP_OK;
    case CONV_MARK_LANE_END:
        if (lane == NULL)
            return FP_OK;
        status = drop_all(track, lane);
        free(lane->pending); /* lanes that ended may be many */
        lane->pending = NULL;
        return status;
    default:
        return FP_OK;
    }
}

enum fp_status conv_track_take(struct conv_track *track, const struct conv_event *event,
                               struct conv_track_step *ret_step)
{
    const unsigned kind = (unsigned)fp_call_kind_of(event->call);
    struct fp_shape shape;
    uint64_t bytes;
    *ret_step = (struct conv_track_step){.what = CONV_TRACK_NOTHING};
    if (event->address >= CONV_ADDRESS_LIMIT)
        return FP_OK;
    if (kind == FP_KIND_NONE)
        return take_mark(track, event, ret_step);
    if (kind == FP_KIND_RELEASE) {
        ret_step->known = conv_track_remove(track, event->address, &ret_step->object);
        ret_step->what = ret_step->known ? CONV_TRACK_GONE : CONV_TRACK_NOTHING;
        return FP_OK;
    }
    shape = conv_event_shape(event);
    bytes = fp_shape_bytes(&shape);
    if (event->address != 0 && bytes >= CONV_ADDRESS_LIMIT)
        return FP_OK;
    if (kind == FP_KIND_RESIZE)
        return end_move(track, event, bytes, ret_step);
    if (event->address == 0)
        return FP_OK;
    ret_step->what = CONV_TRACK_BORN;
    conv_track_make_place(track, event->address, bytes, ret_step);
    return FP_OK;
}
