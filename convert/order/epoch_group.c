/* epoch_group.c - find the addresses that lanes share, have an order of their steps made, put all events into it. */
#include "convert/order/epoch_steps.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "convert/ops/live_table.h"
#include "footprint/base/arrays.h"

#define NONE UINT32_MAX

/* Beyond so many steps a group without any legal order is emitted lane by lane: looking for the event
 * to move is quadratic. Real groups have hundreds of events. */
#define REPAIR_STEPS_MAX 2048u

/* States that searches may visit beyond the number of events. */
#define STATES_SPARE (UINT64_C(1) << 22)

struct conv_epoch_slot {
    uint64_t address;
    uint32_t generation;
    uint32_t lane;   /* that touched it first */
    uint32_t shared; /* index into addresses, NONE while one lane touches it or order cannot help it */
    uint32_t allocations, releases;
    bool is_shared;
};

void conv_epoch_group_init(struct conv_epoch_group *group)
{
    *group = (struct conv_epoch_group){.seed = conv_seed()};
}

void conv_epoch_group_release(struct conv_epoch_group *group)
{
    free(group->order);
    free(group->slots);
    free(group->steps);
    free(group->addresses);
    free(group->plan);
    free(group->visited);
    *group = (struct conv_epoch_group){0};
}

/* An event's effect, and the address that it is about. */
static inline int effect_of(const struct conv_event *event, uint64_t *ret_address)
{
    *ret_address = event->address;
    switch (event->call) {
    case FP_CALL_REALLOC:
    case FP_CALL_REALLOCARRAY:
        if (event->address != 0)
            return 1;
        /* A realloc that failed leaves the old object where it was; one to size 0 freed it. */
        *ret_address = event->old_address;
        return event->old_address != 0 && event->size != 0 ? 1 : 0;
    case FP_CALL_MALLOC:
    case FP_CALL_CALLOC:
        return event->address != 0 ? 1 : 0;
    case FP_CALL_FREE:
    case FP_MARK_RESIZE_FROM:
        return event->address != 0 ? -1 : 0;
    default:
        break;
    }
    if (event->address == 0 || fp_call_kind_of(event->call) == FP_KIND_NONE)
        return 0;
    return fp_call_kind_of(event->call) == FP_KIND_ALLOCATE ? 1 : -1;
}

/* The size that the event's object has, or is said to have. */
static uint64_t size_told(const struct conv_event *event)
{
    const struct fp_shape shape = conv_event_shape(event);
    switch (fp_call_kind_of(event->call)) {
    case FP_KIND_ALLOCATE:
        return fp_shape_bytes(&shape);
    case FP_KIND_RESIZE: /* one that failed leaves an object of unknown size */
        return event->address != 0 ? fp_shape_bytes(&shape) : CONV_ANY_SIZE;
    case FP_KIND_RELEASE:
        return fp_call_tells_size(event->call) ? event->size : CONV_ANY_SIZE;
    default:
        return CONV_ANY_SIZE;
    }
}

static inline size_t slot_of(const struct conv_epoch_group *group, size_t mask, uint64_t address)
{
    size_t at = conv_mix(address, group->seed) & mask;
    while (group->slots[at].generation == group->generation && group->slots[at].address != address)
        at = (at + 1) & mask;
    return at;
}

/* Room for twice the events; a new generation empties the table. */
static bool prepare_slots(struct conv_epoch_group *group, size_t events, size_t *ret_mask)
{
    size_t capacity = 64;
    while (capacity < events * 2)
        capacity *= 2;
    if (capacity > group->slot_capacity) {
        free(group->slots);
        group->slot_capacity = 0;
        group->slots = calloc(capacity, sizeof *group->slots);
        if (group->slots == NULL)
            return false;
        group->slot_capacity = capacity;
        group->generation = 0;
    }
    if (++group->generation == 0) { /* after 2^32 groups old slots would come to life again */
        memset(group->slots, 0, group->slot_capacity * sizeof *group->slots);
        group->generation = 1;
    }
    *ret_mask = capacity - 1;
    return true;
}

/* Note who touches what, and in touches, which the order's array lends, the slot of each event in turn (NONE:
 * it has no effect). Returns whether any address is shared. */
static bool count_touches(struct conv_epoch_group *group, size_t mask)
{
    uint32_t *touches = group->order;
    bool any = false;
    for (uint32_t lane = 0; lane < group->lane_count; lane++) {
        for (uint32_t i = group->lanes[lane].begin; i < group->lanes[lane].end; i++) {
            uint64_t address;
            const int effect = effect_of(&group->events[i], &address);
            struct conv_epoch_slot *slot;
            size_t at;
            if (effect == 0) {
                *touches++ = NONE;
                continue;
            }
            at = slot_of(group, mask, address);
            *touches++ = (uint32_t)at;
            slot = &group->slots[at];
            if (slot->generation != group->generation)
                *slot = (struct conv_epoch_slot){
                    .address = address, .generation = group->generation, .lane = lane, .shared = NONE};
            slot->allocations += effect > 0;
            slot->releases += effect < 0;
            if (slot->lane != lane)
                slot->is_shared = any = true;
        }
    }
    return any;
}

/* An address alternates between live and dead: whatever the order, its counts must fit. Where they do not,
 * no order within the group is legal, and it must not hold up the others: pair.c repairs it. */
static bool counts_fit(const struct conv_epoch_slot *slot, bool live)
{
    if (live)
        return slot->releases == slot->allocations || slot->releases == slot->allocations + 1;
    return slot->releases == slot->allocations || slot->allocations == slot->releases + 1;
}

static bool add_address(struct conv_epoch_group *group, struct conv_epoch_slot *slot,
                        const struct conv_sink *sink)
{
    uint64_t bytes = CONV_ANY_SIZE;
    const bool live = sink->is_live(sink->data, slot->address, &bytes);
    slot->is_shared = false; /* once */
    if (!counts_fit(slot, live))
        return true;
    if (!FP_GROW(group->addresses, group->address_capacity, group->address_count + 1))
        return false;
    slot->shared = (uint32_t)group->address_count;
    group->addresses[group->address_count++] = (struct conv_epoch_address){
        .address = slot->address, .live_first = live, .bytes_first = bytes};
    return true;
}

static bool make_steps(struct conv_epoch_group *group, const struct conv_sink *sink)
{
    const uint32_t *touches = group->order;
    group->step_count = 0;
    group->address_count = 0;
    group->tells_sizes = false;
    for (uint32_t lane = 0; lane < group->lane_count; lane++) {
        group->lanes[lane].step_begin = (uint32_t)group->step_count;
        for (uint32_t i = group->lanes[lane].begin; i < group->lanes[lane].end; i++) {
            const uint32_t at = *touches++;
            struct conv_epoch_slot *slot;
            uint64_t address;
            if (at == NONE)
                continue;
            slot = &group->slots[at];
            if (slot->is_shared && !add_address(group, slot, sink))
                return false;
            if (slot->shared == NONE)
                continue;
            if (!FP_GROW(group->steps, group->step_capacity, group->step_count + 1))
                return false;
            group->steps[group->step_count++] = (struct conv_epoch_step){
                .event = i,
                .address = slot->shared,
                .lane = lane,
                .bytes = size_told(&group->events[i]),
                .effect = (int8_t)effect_of(&group->events[i], &address)};
            group->tells_sizes |= fp_call_tells_size(group->events[i].call);
        }
        group->lanes[lane].step_end = (uint32_t)group->step_count;
    }
    return true;
}

/* own_left of every step; addresses' `left` serves as the counter. */
static void count_own_steps(struct conv_epoch_group *group)
{
    for (uint32_t lane = 0; lane < group->lane_count; lane++) {
        const struct conv_epoch_lane *at = &group->lanes[lane];
        for (uint32_t i = at->step_begin; i < at->step_end; i++)
            group->addresses[group->steps[i].address].left = 0;
        for (uint32_t i = at->step_end; i-- > at->step_begin;)
            group->steps[i].own_left = ++group->addresses[group->steps[i].address].left;
    }
}

/* ---- from steps to events ------------------------------------------------------------------ */

static void emit(struct conv_epoch_group *group, uint32_t event)
{
    group->order[group->order_count++] = event;
}

/* The lane's events from where it stands up to `end`, but those that were moved. lane->step follows. */
static void emit_until(struct conv_epoch_group *group, struct conv_epoch_lane *lane, uint32_t *at,
                       uint32_t end)
{
    for (; *at < end; ++*at) {
        while (lane->step < lane->step_end && group->steps[lane->step].event < *at)
            lane->step++;
        if (lane->step < lane->step_end && group->steps[lane->step].event == *at &&
            group->steps[lane->step].taken)
            continue;
        emit(group, *at);
    }
}

/* Lane by lane: each lane's begin is used as its cursor. */
static void expand_plan(struct conv_epoch_group *group)
{
    group->order_count = 0;
    for (uint32_t i = 0; i < group->lane_count; i++) {
        struct conv_epoch_lane *lane = &group->lanes[i];
        lane->step = lane->step_begin;
        if (lane->step_begin == lane->step_end)
            emit_until(group, lane, &lane->begin, lane->end);
    }
    for (size_t i = 0; i < group->plan_count; i++) {
        const struct conv_epoch_choice *choice = &group->plan[i];
        const struct conv_epoch_step *step = &group->steps[choice->step];
        struct conv_epoch_lane *lane = &group->lanes[step->lane];
        if (choice->moved)
            emit(group, step->event);
        else
            emit_until(group, lane, &lane->begin,
                       choice->step + 1 == lane->step_end ? lane->end : step->event + 1);
    }
    /* A lane whose last step was moved has its tail still to come. */
    for (uint32_t i = 0; i < group->lane_count; i++)
        emit_until(group, &group->lanes[i], &group->lanes[i].begin, group->lanes[i].end);
}

static void order_whole_lanes(struct conv_epoch_group *group)
{
    group->order_count = 0;
    for (uint32_t i = 0; i < group->lane_count; i++)
        for (uint32_t at = group->lanes[i].begin; at < group->lanes[i].end; at++)
            emit(group, at);
}

/* ---- all together -------------------------------------------------------------------------- */

static int compare_lanes(const void *left, const void *right)
{
    const struct conv_epoch_lane *a = left, *b = right;
    if (a->first_time_ns != b->first_time_ns)
        return a->first_time_ns < b->first_time_ns ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Hostile files may need every search to its cap: what is spent stays in proportion to the events. Real
 * recordings need some hundred states in one of a thousand groups. */
static uint32_t states_allowed(struct conv_epoch_group *group, size_t events)
{
    group->states_earned += events;
    return group->states_spent < group->states_earned + STATES_SPARE ? CONV_SEARCH_STATES : 0;
}

static bool lanes_searchable(const struct conv_epoch_group *group)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < group->lane_count; i++)
        lanes += group->lanes[i].step_begin < group->lanes[i].step_end;
    return lanes <= CONV_SEARCH_LANES;
}

static void order_steps(struct conv_epoch_group *group, size_t events, struct conv_survey *survey)
{
    const uint32_t states_max = states_allowed(group, events);
    /* First an order that fits the sizes too. A program may state wrong ones: then they are given up. */
    for (int sizes = group->tells_sizes; sizes >= 0; sizes--) {
        group->by_size = sizes;
        if (conv_epoch_order_greedily(group))
            return;
        if (sizes == group->tells_sizes) {
            count_own_steps(group);
            survey->groups_searched++;
        }
        if (states_max > 0 && lanes_searchable(group) && conv_epoch_search(group, states_max))
            return;
    }
    if (group->step_count <= REPAIR_STEPS_MAX)
        conv_epoch_order_with_repair(group, survey);
    else
        conv_epoch_order_by_lane(group);
}

bool conv_epoch_group_arrange(struct conv_epoch_group *group, const struct conv_sink *sink,
                              struct conv_survey *survey)
{
    size_t events = 0, mask;
    uint32_t busy = 0;
    for (uint32_t i = 0; i < group->lane_count; i++) {
        struct conv_epoch_lane *lane = &group->lanes[i];
        if (lane->begin == lane->end)
            continue;
        lane->first_time_ns = group->events[lane->begin].time_ns;
        events += lane->end - lane->begin;
        group->lanes[busy++] = *lane;
    }
    group->lane_count = busy;
    if (!FP_GROW(group->order, group->order_capacity, events))
        return false;
    survey->groups++;
    if (busy > 1)
        qsort(group->lanes, busy, sizeof *group->lanes, compare_lanes);
    if (busy > 1 && !prepare_slots(group, events, &mask))
        return false;
    if (busy <= 1 || !count_touches(group, mask)) {
        order_whole_lanes(group);
        return true;
    }
    if (!make_steps(group, sink) || !FP_GROW(group->plan, group->plan_capacity, group->step_count + 1))
        return false;
    order_steps(group, events, survey);
    expand_plan(group);
    assert(group->order_count == events);
    return true;
}
