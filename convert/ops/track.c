/* track.c - the objects at addresses, event by event; objects in slots, put in order of birth when asked for. */
#include "convert/ops/track.h"

#include <stdlib.h>
#include <string.h>

#include "convert/base/error.h"
#include "footprint/base/arrays.h"
#include "footprint/base/memory_bound.h"

bool conv_track_init(struct conv_track *track, enum fp_status (*lost)(void *data, struct conv_object object),
                     void *lost_data)
{
    *track = (struct conv_track){.lost = lost, .lost_data = lost_data};
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

bool conv_track_is_live(const struct conv_track *track, uint64_t address, uint64_t *ret_bytes)
{
    const uint64_t *entry = address < CONV_ADDRESS_LIMIT ? conv_live_find(&track->live, address) : NULL;
    if (entry == NULL)
        return false;
    *ret_bytes = conv_live_object(&track->live, entry).bytes;
    return true;
}

/* ---- reallocs ------------------------------------------------------------------------------ */

static enum fp_status put_back(struct conv_track *track, const struct conv_track_pending *pending)
{
    if (pending->object.id == 0)
        return FP_OK;
    if (conv_live_find(&track->live, pending->address) == NULL)
        return conv_live_insert(&track->live, pending->address, pending->object) ? FP_OK : FP_ERR_MEMORY;
    return track->lost(track->lost_data, pending->object);
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

static enum fp_status begin_move(struct conv_track *track, const struct conv_event *event,
                                 struct conv_track_step *step)
{
    struct conv_track_lane *lane;
    enum fp_status status;
    if (!FP_GROW(track->lanes, track->lane_capacity, (size_t)event->lane + 1))
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
    (void)conv_live_take_out(&track->live, event->address, &step->object);
    lane->pending[lane->count++] = (struct conv_track_pending){event->address, step->object};
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
    step->object = pending.object;
    if (event->address != 0) {
        step->what = pending.object.id != 0 ? CONV_TRACK_MOVED : CONV_TRACK_BORN;
        step->bytes = bytes;
        return conv_live_make_place(&track->live, event->address, &step->evictee) ? FP_OK : FP_ERR_MEMORY;
    }
    if (bytes == 0 && pending.object.id != 0) {
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
        if (conv_live_take_out(&track->live, event->address, &ret_step->object))
            ret_step->what = CONV_TRACK_GONE;
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
    ret_step->bytes = bytes;
    return conv_live_make_place(&track->live, event->address, &ret_step->evictee) ? FP_OK : FP_ERR_MEMORY;
}

/* ---- the objects alive ------------------------------------------------------------------------------- */

static void free_slot(struct conv_heap *heap, uint32_t slot)
{
    heap->slots[slot].old_address = 0;
    conv_live_give_number(&heap->track.live, slot);
}

static enum fp_status lost(void *data, struct conv_object object)
{
    free_slot(data, object.id);
    return FP_OK;
}

bool conv_heap_init(struct conv_heap *heap)
{
    *heap = (struct conv_heap){0};
    return conv_track_init(&heap->track, lost, heap);
}

void conv_heap_release(struct conv_heap *heap)
{
    conv_track_release(&heap->track);
    free(heap->slots);
    fp_memory_give(heap->slot_capacity * sizeof *heap->slots);
    *heap = (struct conv_heap){0};
}

static enum fp_status keep(struct conv_heap *heap, const struct conv_event *object, uint64_t bytes)
{
    uint32_t slot;
    if (!conv_live_take_number(&heap->track.live, &slot) ||
        !CONV_RESERVE_COUNTED(heap->slots, heap->slot_capacity, (size_t)slot + 1))
        return FP_ERR_MEMORY;
    heap->slots[slot] = *object;
    heap->slots[slot].time_ns = 0;
    heap->slots[slot].old_address = ++heap->births;
    return conv_live_insert(&heap->track.live, object->address, (struct conv_object){slot, bytes})
               ? FP_OK
               : FP_ERR_MEMORY;
}

enum fp_status conv_heap_put(struct conv_heap *heap, const struct conv_event *object)
{
    const struct fp_shape shape = conv_event_shape(object);
    struct conv_object before;
    if (conv_live_take_out(&heap->track.live, object->address, &before))
        free_slot(heap, before.id);
    return keep(heap, object, fp_shape_bytes(&shape));
}

enum fp_status conv_heap_take(struct conv_heap *heap, const struct conv_event *event)
{
    struct conv_track_step step;
    struct conv_event made = *event;
    const enum fp_status status = conv_track_take(&heap->track, event, &step);
    if (status != FP_OK)
        return status;
    if (step.evictee.id != 0)
        free_slot(heap, step.evictee.id);
    if (step.what == CONV_TRACK_GONE || step.what == CONV_TRACK_MOVED)
        free_slot(heap, step.object.id);
    if (step.what != CONV_TRACK_BORN && step.what != CONV_TRACK_MOVED)
        return FP_OK;
    /* A resized object is created by malloc, of its present size: only malloc's objects may be resized. */
    if (fp_call_kind_of(event->call) == FP_KIND_RESIZE) {
        made.call = FP_CALL_MALLOC;
        made.size = step.bytes;
        made.extra = 0;
    }
    return keep(heap, &made, step.bytes);
}

/* ---- in order ------------------------------------------------------------------------------ */

/* Free slots, whose birth is 0, come last. */
static int by_birth(const void *left, const void *right)
{
    const uint64_t a = ((const struct conv_heir *)left)->birth - 1;
    const uint64_t b = ((const struct conv_heir *)right)->birth - 1;
    return a < b ? -1 : a > b;
}

enum fp_status conv_heap_heirs(const struct conv_heap *heap, struct conv_heir **ret_heirs, size_t *ret_count)
{
    const size_t slots = heap->track.live.numbers;
    struct conv_heir *heirs = malloc((slots + 1) * sizeof *heirs);
    size_t count = 0;
    if (heirs == NULL)
        return FP_ERR_MEMORY;
    for (size_t i = 0; i < slots; i++) {
        heirs[i] = (struct conv_heir){heap->slots[i + 1].old_address, CONV_NOT_MOVING, i + 1};
        count += heirs[i].birth != 0;
    }
    for (size_t lane = 0; lane < heap->track.lane_capacity; lane++) {
        const struct conv_track_lane *pending = &heap->track.lanes[lane];
        for (uint32_t i = 0; i < pending->count; i++)
            if (pending->pending[i].object.id != 0)
                heirs[pending->pending[i].object.id - 1].moving_lane = (uint32_t)lane;
    }
    qsort(heirs, slots, sizeof *heirs, by_birth);
    *ret_heirs = heirs;
    *ret_count = count;
    return FP_OK;
}

struct conv_event conv_heap_object(const struct conv_heap *heap, const struct conv_heir *heir)
{
    struct conv_event object = heap->slots[heir->slot];
    object.old_address = 0;
    return object;
}
