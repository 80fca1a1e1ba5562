/* order.c - the merge by epochs: lanes alone, and lanes that meet. */
#include "convert/order/lane_cursor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "convert/order/epoch_steps.h"
#include "footprint/base/arrays.h"

#define BATCH_EVENTS 256u /* 12 KiB: stays in the first-level cache between source and sink */

/* A sink's preparations for a block want so many marks to pay off, or all that it has. */
#define SLICE_MARKS 1024u

/* The least events after a mark that a sink did not take: a realloc's two, so that it need not be asked in between. */
#define BAIL_EVENTS 2u

/* The most lanes of an oversized epoch that is cut by time. */
#define CUT_LANES_MAX 256u

/* Events of one lane that were gathered and not yet arranged. */
struct gathered {
    struct conv_lane_cursor *lane;
    uint32_t count;
    uint32_t taken; /* of them, arranged in the last round */
    bool more;      /* the epoch goes on beyond what was gathered */
};

/* A lane that has not begun. */
struct start {
    uint64_t epoch;
    uint32_t lane;
};

struct conv_order {
    const struct conv_blocks *blocks;
    const struct conv_sink *sink;
    struct conv_survey *survey;
    struct conv_buffer_pool pool;
    struct start *starts; /* by rising epoch */
    uint32_t start_count, start_next;
    struct conv_lane_cursor **heap; /* of lanes under way: lowest epoch first, then lowest number */
    uint32_t heap_count;
    size_t heap_capacity;
    uint32_t group_events;
    uint64_t slice_block; /* number of the last one whose marks were handed over */
    struct conv_epoch_group group;
    struct gathered *gathered;
    struct conv_epoch_lane *group_lanes;
    size_t gathered_capacity; /* of both */
    struct conv_event *events;
    size_t event_capacity;
    struct conv_event batch[BATCH_EVENTS];
};

/* ---- the heap ------------------------------------------------------------------------------ */

static bool comes_before(const struct conv_lane_cursor *a, const struct conv_lane_cursor *b)
{
    return a->epoch != b->epoch ? a->epoch < b->epoch : a->number < b->number;
}

static void push(struct conv_order *order, struct conv_lane_cursor *lane)
{
    uint32_t at = order->heap_count++;
    while (at > 0 && comes_before(lane, order->heap[(at - 1) / 2])) {
        order->heap[at] = order->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    order->heap[at] = lane;
}

static struct conv_lane_cursor *pop(struct conv_order *order)
{
    struct conv_lane_cursor *first = order->heap[0];
    struct conv_lane_cursor *moved = order->heap[--order->heap_count];
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

/* Hand over marks as they stand in their blocks, as long as the sink takes them. ret_events: so many events are to be
 * handed over before it is tried again. */
static enum fp_status run_slices(struct conv_order *order, struct conv_lane_cursor *lane, uint64_t limit,
                                 size_t *ret_events)
{
    *ret_events = BATCH_EVENTS;
    for (;;) {
        struct conv_slice slice;
        uint32_t taken = 0;
        enum fp_status status = conv_cursor_slice(lane, order->blocks, &order->pool, limit, &slice);
        if (status != FP_OK || slice.begin == slice.end)
            return status;
        if (slice.block_number != order->slice_block && slice.bound - slice.begin < SLICE_MARKS &&
            !(slice.begin == 0 && slice.bound == slice.block->mark_count))
            return FP_OK;
        order->slice_block = slice.block_number;
        status = order->sink->marks(order->sink->data, &slice, &taken);
        conv_cursor_skip(lane, &order->pool, taken);
        if (status != FP_OK)
            return status;
        if (taken < slice.end - slice.begin) {
            *ret_events = BAIL_EVENTS;
            return FP_OK;
        }
    }
}

static enum fp_status run_alone(struct conv_order *order, struct conv_lane_cursor *lane, uint64_t limit)
{
    for (;;) {
        size_t count = 0, most = BATCH_EVENTS;
        enum fp_status status = FP_OK;
        if (order->sink->marks != NULL)
            status = run_slices(order, lane, limit, &most);
        if (status == FP_OK)
            status = conv_cursor_take(lane, order->blocks, &order->pool, limit, order->batch, most, &count);
        if (status == FP_OK && count > 0)
            status = order->sink->events(order->sink->data, order->batch, count);
        if (status != FP_OK || count < most)
            return status;
    }
}

/* ---- lanes that meet ----------------------------------------------------------------------- */

/* The place where the events of the lane-th gathered lane begin. An odd distance keeps the lanes' first events, which
 * are all of a usual group, in different cache sets. */
static size_t place_of(uint32_t lane, uint32_t quota)
{
    return (size_t)lane * (quota | 1);
}

/* Fill up every lane to its quota. ret_whole: the whole epoch is here now. */
static enum fp_status gather(struct conv_order *order, uint64_t epoch, uint32_t lane_count, uint32_t quota,
                             bool *ret_whole)
{
    *ret_whole = true;
    for (uint32_t i = 0; i < lane_count; i++) {
        struct gathered *gathered = &order->gathered[i];
        struct conv_lane_cursor *lane = gathered->lane;
        size_t count = 0;
        const enum fp_status status = conv_cursor_take(lane, order->blocks, &order->pool, epoch,
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
static uint64_t time_complete(const struct conv_order *order, uint32_t lane_count, uint32_t quota)
{
    uint64_t time_ns = UINT64_MAX;
    for (uint32_t i = 0; i < lane_count; i++) {
        const struct gathered *gathered = &order->gathered[i];
        if (gathered->more && order->events[place_of(i, quota) + gathered->count - 1].time_ns < time_ns)
            time_ns = order->events[place_of(i, quota) + gathered->count - 1].time_ns;
    }
    return time_ns;
}

static enum fp_status hand_over(struct conv_order *order)
{
    const struct conv_epoch_group *group = &order->group;
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
static enum fp_status arrange_until(struct conv_order *order, uint32_t lane_count, uint32_t quota,
                                    uint64_t time_ns)
{
    enum fp_status status;
    for (uint32_t i = 0; i < lane_count; i++) {
        const size_t begin = place_of(i, quota);
        size_t end = begin + order->gathered[i].count;
        while (end > begin && order->events[end - 1].time_ns > time_ns)
            end--;
        order->group_lanes[i] = (struct conv_epoch_lane){

            .number = order->gathered[i].lane->number, .begin = (uint32_t)begin, .end = (uint32_t)end};
        order->gathered[i].taken = (uint32_t)(end - begin);
    }
    order->group.events = order->events;
    order->group.lanes = order->group_lanes;
    order->group.lane_count = lane_count;
    if (!conv_epoch_group_arrange(&order->group, order->sink, order->survey))
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

/* Room for as many lanes as are under way. */
static bool reserve_gathered(struct conv_order *order)
{
    if (order->heap_count <= order->gathered_capacity)
        return true;
    free(order->gathered);
    free(order->group_lanes);
    order->gathered_capacity = order->heap_capacity;
    order->gathered = malloc(order->gathered_capacity * sizeof *order->gathered);
    order->group_lanes = malloc(order->gathered_capacity * sizeof *order->group_lanes);
    return order->gathered != NULL && order->group_lanes != NULL;
}

/* Back into the heap, or away. */
static void put_back(struct conv_order *order, struct conv_lane_cursor *lane)
{
    if (!lane->ended) {
        push(order, lane);
        return;
    }
    conv_cursor_release(lane);
    free(lane);
}

/* Events of the group before are not kept, and new ones are not zeroed as by FP_GROW: most are never touched. */
static bool reserve_events(struct conv_order *order, size_t wanted)
{
    if (wanted > order->event_capacity) {
        free(order->events);
        order->event_capacity = wanted + wanted / 2;
        order->events = malloc(order->event_capacity * sizeof *order->events);
    }
    return order->events != NULL;
}

/* All lanes whose heads are at this epoch. */
static enum fp_status run_group(struct conv_order *order, uint64_t epoch)
{
    uint32_t lane_count = 0, quota;
    bool whole = false, oversized = false;
    enum fp_status status = FP_OK;
    if (!reserve_gathered(order))
        return FP_ERR_MEMORY;
    while (order->heap_count > 0 && order->heap[0]->epoch == epoch)
        order->gathered[lane_count++] = (struct gathered){.lane = pop(order)};
    assert(lane_count > 0); /* the caller saw the first */
    quota = order->group_events / lane_count;
    if (quota < 2)
        quota = 2;
    if (!reserve_events(order, place_of(lane_count, quota)))
        status = FP_ERR_MEMORY;
    while (!whole && status == FP_OK) {
        status = gather(order, epoch, lane_count, quota, &whole);
        if (status != FP_OK)
            break;
        oversized = oversized || !whole;
        /* The lane that bounds the time hands over all it gathered, so each round moves on; with very many
         * lanes it might be the only one, round after round. */
        status = arrange_until(order, lane_count, quota,
                               lane_count <= CUT_LANES_MAX ? time_complete(order, lane_count, quota)
                                                           : UINT64_MAX);
    }
    order->survey->irregular[CONV_OVERSIZED_GROUPS] += oversized;
    for (uint32_t i = 0; i < lane_count; i++)
        put_back(order, order->gathered[i].lane);
    return status;
}

/* ---- all together -------------------------------------------------------------------------- */

static uint64_t next_start(const struct conv_order *order)
{
    return order->start_next < order->start_count ? order->starts[order->start_next].epoch : UINT64_MAX;
}

/* Begin the lanes whose first epoch has come: it is not above any head's. */
static bool begin_lanes(struct conv_order *order)
{
    while (order->start_next < order->start_count &&
           (order->heap_count == 0 || next_start(order) <= order->heap[0]->epoch)) {
        struct conv_lane_cursor *lane = malloc(sizeof *lane);
        if (lane == NULL)
            return false;
        if (!FP_GROW(order->heap, order->heap_capacity, (size_t)order->heap_count + 1)) {
            free(lane);
            return false;
        }
        conv_cursor_init(lane, order->blocks, order->starts[order->start_next++].lane);
        push(order, lane);
    }
    return true;
}

/* The highest epoch that the first lane may reach alone. */
static uint64_t limit_alone(const struct conv_order *order)
{
    uint64_t limit = next_start(order);
    if (order->heap_count > 0 && order->heap[0]->epoch < limit)
        limit = order->heap[0]->epoch;
    return limit == UINT64_MAX ? limit : limit - 1;
}

/* The lane that is behind all others, or those that meet there. */
static enum fp_status advance(struct conv_order *order)
{
    struct conv_lane_cursor *lane;
    uint64_t epoch;
    enum fp_status status;
    if (!begin_lanes(order))
        return FP_ERR_MEMORY;
    epoch = order->heap[0]->epoch;
    lane = pop(order);
    if (order->heap_count > 0 && order->heap[0]->epoch == epoch) {
        push(order, lane);
        return run_group(order, epoch);
    }
    status = run_alone(order, lane, limit_alone(order));
    put_back(order, lane);
    return status;
}

static bool has_more(const struct conv_order *order)
{
    return order->heap_count > 0 || order->start_next < order->start_count;
}

static int compare_starts(const void *left, const void *right)
{
    const struct start *a = left, *b = right;
    if (a->epoch != b->epoch)
        return a->epoch < b->epoch ? -1 : 1;
    return a->lane < b->lane ? -1 : a->lane > b->lane;
}

/* Lanes cost a few bytes before they begin and nothing after their end: a server may start a thread for every
 * request, all night. */
static bool list_starts(struct conv_order *order)
{
    const struct conv_blocks *blocks = order->blocks;
    order->starts = malloc(((size_t)blocks->lane_count + 1) * sizeof *order->starts);
    if (order->starts == NULL)
        return false;
    for (uint32_t i = 0; i < blocks->lane_count; i++) {
        size_t count;
        const struct conv_block_note *notes = blocks->notes(blocks->data, i, &count);
        if (count > 0)
            order->starts[order->start_count++] = (struct start){.epoch = notes[0].base_epoch, .lane = i};
    }
    qsort(order->starts, order->start_count, sizeof *order->starts, compare_starts);
    return true;
}

static void close_order(struct conv_order *order)
{
    if (order == NULL)
        return;
    for (uint32_t i = 0; i < order->heap_count; i++) {
        conv_cursor_release(order->heap[i]);
        free(order->heap[i]);
    }
    conv_buffer_pool_release(&order->pool);
    conv_epoch_group_release(&order->group);
    free(order->starts);
    free(order->heap);
    free(order->gathered);
    free(order->group_lanes);
    free(order->events);
    free(order);
}

static enum fp_status open_order(const struct conv_blocks *blocks, uint64_t buffer_bytes,
                                 uint32_t group_events, struct conv_survey *survey,
                                 struct conv_order **ret_order)
{
    struct conv_order *order = calloc(1, sizeof *order);
    if (order == NULL)
        return FP_ERR_MEMORY;
    order->blocks = blocks;
    order->survey = survey;
    order->group_events = group_events != 0 ? group_events : CONV_GROUP_EVENTS;
    conv_buffer_pool_init(&order->pool, buffer_bytes);
    conv_epoch_group_init(&order->group);
    if (!list_starts(order)) {
        close_order(order);
        return FP_ERR_MEMORY;
    }
    *ret_order = order;
    return FP_OK;
}

enum fp_status conv_order_run(const struct conv_blocks *blocks, uint64_t buffer_bytes, uint32_t group_events,
                              const struct conv_sink *sink, struct conv_survey *survey)
{
    struct conv_order *order;
    enum fp_status status = open_order(blocks, buffer_bytes, group_events, survey, &order);
    if (status != FP_OK)
        return status;
    order->sink = sink;
    while (status == FP_OK && has_more(order))
        status = advance(order);
    close_order(order);
    return status;
}
