/* heap.c - objects in slots, found by address through the track, put in order of birth when asked for. */
#include "convert/ops/heap.h"

#include <stdlib.h>

#include "convert/base/limits.h"
#include "footprint/base/memory_bound.h"

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
    return conv_track_put(&heap->track, object->address, (uint32_t)slot, bytes) ? FP_OK : FP_ERR_MEMORY;
}

enum fp_status conv_heap_put(struct conv_heap *heap, const struct conv_event *object)
{
    const struct fp_shape shape = conv_event_shape(object);
    struct conv_object before;
    if (conv_track_remove(&heap->track, object->address, &before))
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
