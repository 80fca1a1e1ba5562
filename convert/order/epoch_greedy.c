/* epoch_greedy.c - orders of a group's steps that need no search: greedy, greedy with repair, lane by lane. */
#include "convert/order/epoch_greedy.h"

#include <assert.h>

#define NONE UINT32_MAX

void conv_epoch_reset(struct conv_epoch_group *group)
{
    group->plan_count = 0;
    for (size_t i = 0; i < group->address_count; i++) {
        struct conv_epoch_address *address = &group->addresses[i];
        address->live = address->live_first;
        address->bytes = address->bytes_first;
        address->left = 0;
        for (int want = 0; want < 2; want++)
            address->waiting_head[want] = address->waiting_tail[want] = NONE;
    }
    for (size_t i = 0; i < group->step_count; i++) {
        group->addresses[group->steps[i].address].left++;
        group->steps[i].taken = false;
    }
    for (uint32_t i = 0; i < group->lane_count; i++)
        group->lanes[i].step = group->lanes[i].step_begin;
}

/* ---- greedy order -------------------------------------------------------------------------- */

/* Lanes that may move on, first in first out. */
struct queue {
    uint32_t head, tail;
};

static void enqueue(struct conv_epoch_group *group, uint32_t *head, uint32_t *tail, uint32_t lane)
{
    group->lanes[lane].next = NONE;
    if (*head == NONE)
        *head = lane;
    else
        group->lanes[*tail].next = lane;
    *tail = lane;
}

static uint32_t dequeue(struct conv_epoch_group *group, uint32_t *head)
{
    const uint32_t lane = *head;
    if (lane != NONE)
        *head = group->lanes[lane].next;
    return lane;
}

/* Take a step: its address changes, and one lane that waited for the change may go on. One is enough, as its
 * own step changes the address back, unless it turns out to have waited for another size. */
static void take_step(struct conv_epoch_group *group, struct queue *queue, uint32_t number, bool moved)
{
    struct conv_epoch_step *step = &group->steps[number];
    struct conv_epoch_address *address = &group->addresses[step->address];
    const int now = step->effect > 0;
    uint32_t woken;
    address->live = now;
    if (now)
        address->bytes = step->bytes;
    address->left--;
    group->plan[group->plan_count++] = (struct conv_epoch_choice){.step = number, .moved = moved};
    do {
        woken = dequeue(group, &address->waiting_head[now]);
        if (woken != NONE)
            enqueue(group, &queue->head, &queue->tail, woken);
    } while (woken != NONE && group->by_size);
}

/* Move one lane on as far as it may go, and leave it waiting where it may not. */
static void run_lane(struct conv_epoch_group *group, struct queue *queue, uint32_t number)
{
    struct conv_epoch_lane *lane = &group->lanes[number];
    for (; lane->step < lane->step_end; lane->step++) {
        const struct conv_epoch_step *step = &group->steps[lane->step];
        if (step->taken)
            continue;
        if (!conv_epoch_step_is_legal(group, step)) {
            struct conv_epoch_address *address = &group->addresses[step->address];
            const int wanted = step->effect < 0;
            enqueue(group, &address->waiting_head[wanted], &address->waiting_tail[wanted], number);
            return;
        }
        take_step(group, queue, lane->step, false);
    }
}

static void run_queue(struct conv_epoch_group *group, struct queue *queue)
{
    uint32_t lane;
    while ((lane = dequeue(group, &queue->head)) != NONE)
        run_lane(group, queue, lane);
}

static void start_all(struct conv_epoch_group *group, struct queue *queue)
{
    *queue = (struct queue){NONE, NONE};
    conv_epoch_reset(group);
    for (uint32_t i = 0; i < group->lane_count; i++)
        enqueue(group, &queue->head, &queue->tail, i);
}

bool conv_epoch_order_greedily(struct conv_epoch_group *group)
{
    struct queue queue;
    start_all(group, &queue);
    run_queue(group, &queue);
    return group->plan_count == group->step_count;
}

/* ---- repair -------------------------------------------------------------------------------- */

static uint64_t time_of(const struct conv_epoch_group *group, const struct conv_epoch_step *step)
{
    return group->events[step->event].time_ns;
}

/* The lane whose waiting step is earliest by the clock; there is one. */
static uint32_t earliest_waiting(const struct conv_epoch_group *group)
{
    uint32_t earliest = NONE;
    for (uint32_t i = 0; i < group->lane_count; i++) {
        const struct conv_epoch_lane *lane = &group->lanes[i];
        if (lane->step == lane->step_end)
            continue;
        if (earliest == NONE || time_of(group, &group->steps[lane->step]) <
                                    time_of(group, &group->steps[group->lanes[earliest].step]))
            earliest = i;
    }
    assert(earliest != NONE);
    return earliest;
}

/* The earliest step that would make `blocked` legal; NONE: there is none that may be moved. The result of a
 * realloc is never moved, it would come before the mark of its old address. */
static uint32_t step_to_move(const struct conv_epoch_group *group, const struct conv_epoch_step *blocked)
{
    uint32_t best = NONE;
    for (uint32_t lane = 0; lane < group->lane_count; lane++) {
        for (uint32_t i = group->lanes[lane].step; i < group->lanes[lane].step_end; i++) {
            const struct conv_epoch_step *step = &group->steps[i];
            if (step->address != blocked->address || step->effect == blocked->effect || step->taken ||
                fp_call_kind_of(group->events[step->event].call) == FP_KIND_RESIZE)
                continue;
            if (best == NONE || time_of(group, step) < time_of(group, &group->steps[best]))
                best = i;
        }
    }
    return best;
}

static void unlink_waiting(struct conv_epoch_group *group, uint32_t lane)
{
    const struct conv_epoch_step *step = &group->steps[group->lanes[lane].step];
    struct conv_epoch_address *address = &group->addresses[step->address];
    const int wanted = step->effect < 0;
    uint32_t *link = &address->waiting_head[wanted];
    uint32_t before = NONE;
    while (*link != lane) {
        before = *link;
        link = &group->lanes[*link].next;
    }
    *link = group->lanes[lane].next;
    if (address->waiting_tail[wanted] == lane)
        address->waiting_tail[wanted] = before;
}

void conv_epoch_order_with_repair(struct conv_epoch_group *group, struct conv_survey *survey)
{
    struct queue queue;
    start_all(group, &queue);
    run_queue(group, &queue);
    while (group->plan_count < group->step_count) {
        const uint32_t lane = earliest_waiting(group);
        const uint32_t blocked = group->lanes[lane].step;
        const uint32_t moved = step_to_move(group, &group->steps[blocked]);
        if (moved != NONE) {
            group->steps[moved].taken = true;
            survey->irregular[CONV_ORDER_REPAIRED]++;
            take_step(group, &queue, moved, true);
        } else {
            /* Nothing can help it: it is taken as it stands, and pair.c counts what it finds. */
            unlink_waiting(group, lane);
            group->lanes[lane].step++;
            take_step(group, &queue, blocked, false);
            enqueue(group, &queue.head, &queue.tail, lane);
        }
        run_queue(group, &queue);
    }
}

void conv_epoch_order_by_lane(struct conv_epoch_group *group)
{
    conv_epoch_reset(group);
    for (uint32_t i = 0; i < group->step_count; i++)
        group->plan[group->plan_count++] = (struct conv_epoch_choice){.step = i, .moved = false};
}
