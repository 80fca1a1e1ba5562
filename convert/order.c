/* order.c - the merge by epochs: lanes alone, and lanes that meet. */
#include "convert/order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "convert/group.h"

#define BATCH_EVENTS 256u /* 12 KiB: stays in the first-level cache between source and sink */

/* Events of one lane that were gathered and not yet arranged. */
struct gathered {
    uint32_t lane;
    uint32_t count;
    uint32_t taken; /* of them, arranged in the last round */
    bool more;      /* the epoch goes on beyond what was gathered */
};

struct order {
    const struct conv_blocks *blocks;
    const struct conv_sink *sink;
    struct conv_survey *survey;
    struct conv_buffer_pool pool;
    struct conv_lane *lanes;
    uint32_t lane_count;
    struct conv_lane **heap; /* lowest epoch first, then lowest number */
    uint32_t heap_count;
    uint32_t group_events;
    struct conv_group group;
    struct gathered *gathered;
    struct conv_group_lane *group_lanes;
    struct conv_event *events;
    size_t event_capacity;
    struct conv_event batch[BATCH_EVENTS];
};

/* ---- the heap ------------------------------------------------------------------------------ */

static bool comes_before(const struct conv_lane *a, const struct conv_lane *b)
{
    return a->epoch != b->epoch ? a->epoch < b->epoch : a->number < b->number;
}

static void push(struct order *order, struct conv_lane *lane)
{
    uint32_t at = order->heap_count++;
    while (at > 0 && comes_before(lane, order->heap[(at - 1) / 2])) {
        order->heap[at] = order->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    order->heap[at] = lane;
}

static struct conv_lane *pop(struct order *order)
{
    struct conv_lane *first = order->heap[0];
    struct conv_lane *moved = order->heap[--order->heap_count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = at * 2 + 1;
        if (child >= order->heap_count)
            break;
        if (child + 1 < order->heap_count && comes_before(order->heap[child + 1], order->heap[child]))
            child++;
        if (!comes_before(order->heap[child], moved))
            break;
        order->heap[at] = order->heap[child];
        at = child;
    }
    order->heap[at] = moved;
    return first;
}

/* ---- a lane alone -------------------------------------------------------------------------- */

static enum fp_status run_alone(struct order *order, struct conv_lane *lane, uint64_t limit)
{
    for (;;) {
        size_t count;
        enum fp_status status = conv_lane_take(lane, order->blocks, &order->pool, limit, order->batch,
                                               BATCH_EVENTS, &count);
        if (status == FP_OK && count > 0)
            status = order->sink->events(order->sink->data, order->batch, count);
        if (status != FP_OK || count < BATCH_EVENTS)
            return status;
    }
}

/* ---- lanes that meet ----------------------------------------------------------------------- */

/* Where the events of the lane-th gathered lane begin. An odd distance keeps the lanes' first events, which
 * are all of a usual group, in different cache sets. */
static size_t place_of(uint32_t lane, uint32_t quota)
{
    return (size_t)lane * (quota | 1);
}

static bool reserve_events(struct order *order, uint32_t lane_count, uint32_t quota)
{
    const size_t wanted = place_of(lane_count, quota);
    struct conv_event *events;
    if (wanted <= order->event_capacity)
        return true;
    events = realloc(order->events, wanted * sizeof *events);
    if (events == NULL)
        return false;
    order->events = events;
    order->event_capacity = wanted;
    return true;
}

/* Fill up every lane to its quota. ret_whole: the whole epoch is here now. */
static enum fp_status gather(struct order *order, uint64_t epoch, uint32_t lane_count, uint32_t quota,
                             bool *ret_whole)
{
    *ret_whole = true;
    for (uint32_t i = 0; i < lane_count; i++) {
        struct gathered *gathered = &order->gathered[i];
        struct conv_lane *lane = &order->lanes[gathered->lane];
        size_t count = 0;
        const enum fp_status status = conv_lane_take(lane, order->blocks, &order->pool, epoch,
                                                     order->events + place_of(i, quota) + gathered->count,
                                                     quota - gathered->count, &count);
        if (status != FP_OK)
            return status;
        gathered->count += (uint32_t)count;
        gathered->more = gathered->count == quota && !lane->ended && lane->epoch <= epoch;
        if (gathered->more)
            *ret_whole = false;
    }
    return FP_OK;
}

/* The latest time up to which every lane's events are here. */
static uint64_t time_complete(const struct order *order, uint32_t lane_count, uint32_t quota)
{
    uint64_t time_ns = UINT64_MAX;
    for (uint32_t i = 0; i < lane_count; i++) {
        const struct gathered *gathered = &order->gathered[i];
        if (gathered->more && order->events[place_of(i, quota) + gathered->count - 1].time_ns < time_ns)
            time_ns = order->events[place_of(i, quota) + gathered->count - 1].time_ns;
    }
    return time_ns;
}

static enum fp_status hand_over(struct order *order)
{
    const struct conv_group *group = &order->group;
    for (uint32_t done = 0; done < group->order_count;) {
        const uint32_t left = group->order_count - done;
        const uint32_t count = left < BATCH_EVENTS ? left : BATCH_EVENTS;
        enum fp_status status;
        for (uint32_t i = 0; i < count; i++)
            order->batch[i] = group->events[group->order[done + i]];
        status = order->sink->events(order->sink->data, order->batch, count);
        if (status != FP_OK)
            return status;
        done += count;
    }
    return FP_OK;
}

/* Arrange and hand over what is not later than time_ns, and move the rest to the front. */
static enum fp_status arrange_until(struct order *order, uint32_t lane_count, uint32_t quota,
                                    uint64_t time_ns)
{
    enum fp_status status;
    for (uint32_t i = 0; i < lane_count; i++) {
        const size_t begin = place_of(i, quota);
        size_t end = begin + order->gathered[i].count;
        while (end > begin && order->events[end - 1].time_ns > time_ns)
            end--;
        order->group_lanes[i] = (struct conv_group_lane){
            .number = order->gathered[i].lane, .begin = (uint32_t)begin, .end = (uint32_t)end};
        order->gathered[i].taken = (uint32_t)(end - begin);
    }
    order->group.events = order->events;
    order->group.lanes = order->group_lanes;
    order->group.lane_count = lane_count;
    if (!conv_group_arrange(&order->group, order->sink, order->survey))
        return FP_ERR_MEMORY;
    status = hand_over(order);
    for (uint32_t i = 0; i < lane_count && status == FP_OK; i++) {
        struct gathered *gathered = &order->gathered[i];
        struct conv_event *first = order->events + place_of(i, quota);
        gathered->count -= gathered->taken;
        if (gathered->taken > 0 && gathered->count > 0)
            memmove(first, first + gathered->taken, gathered->count * sizeof *first);
    }
    return status;
}

/* All lanes whose heads are at this epoch. */
static enum fp_status run_group(struct order *order, uint64_t epoch)
{
    uint32_t lane_count = 0, quota;
    bool whole = false, oversized = false;
    enum fp_status status = FP_OK;
    while (order->heap_count > 0 && order->heap[0]->epoch == epoch)
        order->gathered[lane_count++] = (struct gathered){.lane = (uint32_t)(pop(order) - order->lanes)};
    quota = order->group_events / lane_count;
    if (quota < 2)
        quota = 2;
    if (!reserve_events(order, lane_count, quota))
        return FP_ERR_MEMORY;
    while (!whole && status == FP_OK) {
        status = gather(order, epoch, lane_count, quota, &whole);
        if (status != FP_OK)
            break;
        oversized = oversized || !whole;
        /* The lane that bounds the time hands over all it gathered, so each round moves on. */
        status = arrange_until(order, lane_count, quota, time_complete(order, lane_count, quota));
    }
    order->survey->irregular[CONV_OVERSIZED_GROUPS] += oversized;
    for (uint32_t i = 0; i < lane_count; i++)
        if (!order->lanes[order->gathered[i].lane].ended)
            push(order, &order->lanes[order->gathered[i].lane]);
    return status;
}

/* ---- all together -------------------------------------------------------------------------- */

static enum fp_status run(struct order *order)
{
    enum fp_status status = FP_OK;
    while (order->heap_count > 0 && status == FP_OK) {
        const uint64_t epoch = order->heap[0]->epoch;
        struct conv_lane *lane = pop(order);
        if (order->heap_count > 0 && order->heap[0]->epoch == epoch) {
            push(order, lane);
            status = run_group(order, epoch);
            continue;
        }
        status = run_alone(order, lane, order->heap_count > 0 ? order->heap[0]->epoch - 1 : UINT64_MAX);
        if (!lane->ended)
            push(order, lane);
    }
    return status;
}

/* Only lanes that have blocks cost anything: a trailer may name a million. */
static bool init_lanes(struct order *order)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < order->blocks->lane_count; i++) {
        size_t count;
        (void)order->blocks->notes(order->blocks->data, i, &count);
        used += count > 0;
    }
    order->lanes = calloc((size_t)used + 1, sizeof *order->lanes);
    order->heap = calloc((size_t)used + 1, sizeof *order->heap);
    order->gathered = calloc((size_t)used + 1, sizeof *order->gathered);
    order->group_lanes = calloc((size_t)used + 1, sizeof *order->group_lanes);
    if (order->lanes == NULL || order->heap == NULL || order->gathered == NULL || order->group_lanes == NULL)
        return false;
    for (uint32_t i = 0; i < order->blocks->lane_count; i++) {
        struct conv_lane *lane = &order->lanes[order->lane_count];
        conv_lane_init(lane, order->blocks, i);
        if (lane->ended)
            continue;
        push(order, lane);
        order->lane_count++;
    }
    return true;
}

enum fp_status conv_order_run(const struct conv_blocks *blocks, uint64_t buffer_bytes, uint32_t group_events,
                              const struct conv_sink *sink, struct conv_survey *survey)
{
    struct order *order = calloc(1, sizeof *order);
    enum fp_status status = FP_ERR_MEMORY;
    if (order == NULL)
        return FP_ERR_MEMORY;
    order->blocks = blocks;
    order->sink = sink;
    order->survey = survey;
    order->group_events = group_events != 0 ? group_events : CONV_GROUP_EVENTS;
    conv_buffer_pool_init(&order->pool, buffer_bytes);
    conv_group_init(&order->group);
    if (init_lanes(order))
        status = run(order);
    for (uint32_t i = 0; i < order->lane_count; i++)
        conv_lane_release(&order->lanes[i]);
    conv_buffer_pool_release(&order->pool);
    conv_group_release(&order->group);
    free(order->lanes);
    free(order->heap);
    free(order->gathered);
    free(order->group_lanes);
    free(order->events);
    free(order);
    return status;
}
