/* track.c - the objects at addresses, event by event; objects in slots, put in order of birth when asked for. */
#include "convert/ops/track.h"

#include <stdlib.h>
#include <string.h>

#include "convert/base/error.h"
#include "footprint/base/arrays.h"
#include "footprint/base/memory_bound.h"

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

static bool remove_object(struct conv_track *track, uint64_t address, struct conv_object *ret_object)
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
    step->known = remove_object(track, event->address, &step->object);
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
        ret_step->known = remove_object(track, event->address, &ret_step->object);
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

/* ---- the objects alive ------------------------------------------------------------------------------- */

#define NO_SLOT SIZE_MAX

static void free_slot(struct conv_heap *heap, size_t slot)
{
    heap->slots[slot].old_address = 0;
    heap->slots[slot].size = heap->free_slot;
    heap->free_slot = slot;
}

static enum fp_status lost(void *data, struct conv_object object)
{
    free_slot(data, object.id);
    return FP_OK;
}

bool conv_heap_init(struct conv_heap *heap)
{
    *heap = (struct conv_heap){.free_slot = NO_SLOT};
    if (!conv_track_init(&heap->track))
        return false;
    heap->track.lost = lost;
    heap->track.lost_data = heap;
    return true;
}

void conv_heap_release(struct conv_heap *heap)
{
    conv_track_release(&heap->track);
    free(heap->slots);
    fp_memory_give(heap->slot_capacity * sizeof *heap->slots);
    *heap = (struct conv_heap){.free_slot = NO_SLOT};
}

static enum fp_status take_slot(struct conv_heap *heap, size_t *ret_slot)
{
    if (heap->free_slot != NO_SLOT) {
        *ret_slot = heap->free_slot;
        heap->free_slot = heap->slots[heap->free_slot].size;
        return FP_OK;
    }
    if (heap->slot_count == UINT32_MAX ||
        !CONV_RESERVE_COUNTED(heap->slots, heap->slot_capacity, heap->slot_count + 1))
        return FP_ERR_MEMORY;
    *ret_slot = heap->slot_count++;
    return FP_OK;
}

static enum fp_status keep(struct conv_heap *heap, const struct conv_event *object, uint64_t bytes)
{
    size_t slot;
    const enum fp_status status = take_slot(heap, &slot);
    if (status != FP_OK)
        return status;
    heap->slots[slot] = *object;
    heap->slots[slot].time_ns = 0;
    heap->slots[slot].old_address = ++heap->births;
    return conv_live_insert(&heap->track.live, object->address, (struct conv_object){(uint32_t)slot, bytes})
               ? FP_OK
               : FP_ERR_MEMORY;
}

enum fp_status conv_heap_put(struct conv_heap *heap, const struct conv_event *object)
{
    const struct fp_shape shape = conv_event_shape(object);
    struct conv_object before;
    if (remove_object(&heap->track, object->address, &before))
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
    if (step.evicted)
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

static int by_birth(const void *left, const void *right)
{
    const struct conv_heir *a = left, *b = right;
    return a->birth < b->birth ? -1 : a->birth > b->birth;
}

static struct conv_heir *find(struct conv_heir *heirs, size_t count, uint64_t birth)
{
    const struct conv_heir key = {.birth = birth};
    return bsearch(&key, heirs, count, sizeof *heirs, by_birth);
}

enum fp_status conv_heap_heirs(const struct conv_heap *heap, struct conv_heir **ret_heirs, size_t *ret_count)
{
    struct conv_heir *heirs = malloc((heap->slot_count + 1) * sizeof *heirs);
    size_t count = 0;
    if (heirs == NULL)
        return FP_ERR_MEMORY;
    for (size_t i = 0; i < heap->slot_count; i++)
        if (heap->slots[i].old_address != 0)
            heirs[count++] = (struct conv_heir){
                .birth = heap->slots[i].old_address, .moving_lane = CONV_NOT_MOVING, .slot = i};
    qsort(heirs, count, sizeof *heirs, by_birth);
    for (size_t lane = 0; lane < heap->track.lane_capacity; lane++) {
        const struct conv_track_lane *pending = &heap->track.lanes[lane];
        for (uint32_t i = 0; i < pending->count; i++)
            if (pending->pending[i].known)
                find(heirs, count, heap->slots[pending->pending[i].object.id].old_address)->moving_lane =
                    (uint32_t)lane;
    }
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
