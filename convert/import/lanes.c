/* lanes.c - a table of thread ids, open addressing with a seed that files cannot know. */
#include "convert/import/lanes.h"

#include <stdlib.h>

#include "convert/base/grow.h"
#include "convert/ops/live_table.h"
#include "footprint/wl/workload.h"

#define ENDED UINT32_MAX /* of a slot: the thread has ended */

struct conv_lane_slot {
    uint64_t key; /* thread id + 1; 0: empty */
    uint32_t lane;
};

void conv_lanes_init(struct conv_lanes *lanes)
{
    *lanes = (struct conv_lanes){.seed = conv_seed()};
}

void conv_lanes_release(struct conv_lanes *lanes)
{
    free(lanes->slots);
    free(lanes->thread_ids);
    *lanes = (struct conv_lanes){0};
}

static struct conv_lane_slot *slot_of(const struct conv_lanes *lanes, uint64_t key)
{
    size_t at = conv_mix(key, lanes->seed) & lanes->slot_mask;
    while (lanes->slots[at].key != 0 && lanes->slots[at].key != key)
        at = (at + 1) & lanes->slot_mask;
    return &lanes->slots[at];
}

static bool grow_slots(struct conv_lanes *lanes)
{
    struct conv_lane_slot *old = lanes->slots;
    const size_t old_capacity = old != NULL ? lanes->slot_mask + 1 : 0;
    const size_t capacity = old_capacity != 0 ? old_capacity * 2 : 256;
    struct conv_lane_slot *slots = calloc(capacity, sizeof *slots);
    if (slots == NULL)
        return false;
    lanes->slots = slots;
    lanes->slot_mask = capacity - 1;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].key != 0)
            *slot_of(lanes, old[i].key) = old[i];
    free(old);
    return true;
}

static enum fp_status new_lane(struct conv_lanes *lanes, uint32_t thread_id, uint32_t *ret_lane)
{
    if (lanes->count == WL_THREADS_MAX)
        return FP_ERR_LIMIT;
    if (!CONV_RESERVE(lanes->thread_ids, lanes->capacity, (size_t)lanes->count + 1))
        return FP_ERR_MEMORY;
    lanes->thread_ids[lanes->count] = thread_id;
    *ret_lane = lanes->count++;
    return FP_OK;
}

enum fp_status conv_lanes_of(struct conv_lanes *lanes, uint32_t thread_id, uint32_t *ret_lane)
{
    const uint64_t key = (uint64_t)thread_id + 1;
    struct conv_lane_slot *slot;
    enum fp_status status = FP_OK;
    if (key == lanes->recent_key) {
        *ret_lane = lanes->recent_lane;
        return FP_OK;
    }
    /* Ids of threads that have ended stay in the table, so it is what ids there were that is bounded by lanes. */
    if ((lanes->slots == NULL || lanes->slots_used * 2 > lanes->slot_mask) && !grow_slots(lanes))
        return FP_ERR_MEMORY;
    slot = slot_of(lanes, key);
    if (slot->key == 0 || slot->lane == ENDED) {
        uint32_t lane;
        status = new_lane(lanes, thread_id, &lane);
        if (status != FP_OK)
            return status;
        lanes->slots_used += slot->key == 0;
        *slot = (struct conv_lane_slot){.key = key, .lane = lane};
    }
    lanes->recent_key = key;
    *ret_lane = lanes->recent_lane = slot->lane;
    return FP_OK;
}

void conv_lanes_end(struct conv_lanes *lanes, uint32_t thread_id)
{
    slot_of(lanes, (uint64_t)thread_id + 1)->lane = ENDED;
    lanes->recent_key = 0;
}

static void name_lane(void *data, uint32_t lane, uint32_t *ret_thread_id, bool *ret_is_main)
{
    const struct conv_lanes *lanes = data;
    *ret_thread_id = lanes->thread_ids[lane];
    *ret_is_main = lanes->main_is_named ? *ret_thread_id == lanes->main_thread_id : lane == 0;
}

struct conv_namer conv_lanes_namer(struct conv_lanes *lanes)
{
    return (struct conv_namer){.data = lanes, .name = name_lane};
}
