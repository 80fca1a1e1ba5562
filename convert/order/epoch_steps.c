/* epoch_steps.c - orders of a group's steps: greedy, greedy with repair, lane by lane, searched. */
#include "convert/order/epoch_steps.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* ---- greedy ----------------------------------------------------------------------------------- */

#define NONE UINT32_MAX

#define SEARCH_WORK 512u /* steps that may be looked at for each state, on average */

/* Tells whether a step may be taken as its address stands. */
static inline bool is_legal(const struct conv_epoch_group *group, const struct conv_epoch_step *step)
{
    const struct conv_epoch_address *address = &group->addresses[step->address];
    if (step->effect > 0)
        return !address->live;
    return address->live && (!group->by_size || step->bytes == address->bytes ||
                             step->bytes == CONV_ANY_SIZE || address->bytes == CONV_ANY_SIZE);
}

/* Lanes at their first steps, addresses as at the group's start, an empty plan. */
static void reset(struct conv_epoch_group *group)
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
        if (!is_legal(group, step)) {
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
    reset(group);
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
    reset(group);
    for (uint32_t i = 0; i < group->step_count; i++)
        group->plan[group->plan_count++] = (struct conv_epoch_choice){.step = i, .moved = false};
}

/* Most searches end within a hundred states: the first try clears and uses little memory. Slots are powers
 * of two above three times the states. */
#define FIRST_STATES  256u
#define FIRST_SLOTS   1024u
#define VISITED_SLOTS 65536u

struct search {
    struct conv_epoch_group *group;
    uint64_t position; /* hash of all lanes' positions */
    uint32_t states, states_max;
    uint64_t work, work_max; /* in steps looked at */
    bool capped;
    size_t mask;        /* of the memo */
    bool *may_progress; /* by lane: workspace of is_doomed */
};

/* A number for "this lane stands at this step". Positions are told apart by the sum over lanes: 64 bits, so
 * two of 20,000 meet by chance once in 10^11 searches, and would only make a search give up early. */
static uint64_t mark_of(uint32_t lane, uint32_t step)
{
    uint64_t hash = ((uint64_t)lane << 32 | step) + UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 31;
}

/* A number for "an object of this size stands at this address". With sizes heeded, what is live no longer
 * follows from the lanes' positions alone; without, it does, and the state stays as small as it was. */
static uint64_t size_mark(const struct conv_epoch_group *group, uint32_t address)
{
    const struct conv_epoch_address *at = &group->addresses[address];
    return group->by_size && at->live ? mark_of(address, (uint32_t)(at->bytes ^ at->bytes >> 32)) * 3 : 0;
}

/* Returns whether the present position is new. */
static bool visit(struct search *search)
{
    uint64_t *visited = search->group->visited;
    const uint64_t key = search->position != 0 ? search->position : 1;
    size_t at = key & search->mask;
    for (; visited[at] != 0; at = (at + 1) & search->mask)
        if (visited[at] == key)
            return false;
    visited[at] = key;
    search->states++;
    return true;
}

static void go(struct search *search, struct conv_epoch_lane *lane)
{
    struct conv_epoch_group *group = search->group;
    const struct conv_epoch_step *step = &group->steps[lane->step];
    struct conv_epoch_address *address = &group->addresses[step->address];
    group->plan[group->plan_count++] = (struct conv_epoch_choice){.step = lane->step,
                                                                  .bytes_before = address->bytes};
    search->position -= mark_of(step->lane, lane->step) + size_mark(group, step->address);
    address->live = step->effect > 0;
    if (address->live)
        address->bytes = step->bytes;
    address->left--;
    search->position += mark_of(step->lane, ++lane->step) + size_mark(group, step->address);
}

static void go_back(struct search *search)
{
    struct conv_epoch_group *group = search->group;
    const struct conv_epoch_choice *undone = &group->plan[--group->plan_count];
    const struct conv_epoch_step *step = &group->steps[undone->step];
    struct conv_epoch_address *address = &group->addresses[step->address];
    struct conv_epoch_lane *lane = &group->lanes[step->lane];
    search->position -= mark_of(step->lane, lane->step) + size_mark(group, step->address);
    address->live = step->effect < 0;
    address->bytes = undone->bytes_before;
    address->left++;
    search->position += mark_of(step->lane, --lane->step) + size_mark(group, step->address);
}

static bool may_go(const struct conv_epoch_group *group, const struct conv_epoch_lane *lane)
{
    const struct conv_epoch_step *step;
    if (lane->step == lane->step_end)
        return false;
    step = &group->steps[lane->step];
    return is_legal(group, step);
}

/* Tells whether no other lane has anything to do with the address any more: then going on takes nothing from
 * anyone, and no alternative needs to be tried. */
static bool is_safe(const struct conv_epoch_group *group, const struct conv_epoch_lane *lane)
{
    const struct conv_epoch_step *step = &group->steps[lane->step];
    return group->addresses[step->address].left == step->own_left;
}

/* A position has tried nothing, or all lanes up to one, or all there is to try. */
#define TRIED_NOTHING UINT32_MAX
#define TRIED_ALL     (UINT32_MAX - 1)

static bool comes_before(const struct conv_epoch_group *group, uint32_t a, uint32_t b)
{
    const uint64_t a_ns = group->events[group->steps[group->lanes[a].step].event].time_ns;
    const uint64_t b_ns = group->events[group->steps[group->lanes[b].step].event].time_ns;
    return a_ns != b_ns ? a_ns < b_ns : a < b;
}

/* The next lane to try from this position, NONE when all were tried. A safe move is the only one tried; the
 * others are tried by the clock: stamps are some events apart, but near the truth, which is a solution. */
static uint32_t next_choice(const struct conv_epoch_group *group, uint32_t *tried)
{
    uint32_t best = NONE;
    if (*tried == TRIED_ALL)
        return NONE;
    for (uint32_t i = 0; i < group->lane_count; i++) {
        if (!may_go(group, &group->lanes[i]))
            continue;
        if (*tried == TRIED_NOTHING && is_safe(group, &group->lanes[i])) {
            *tried = TRIED_ALL;
            return i;
        }
        if (*tried != TRIED_NOTHING && !comes_before(group, *tried, i))
            continue;
        if (best == NONE || comes_before(group, i, best))
            best = i;
    }
    *tried = best != NONE ? best : TRIED_ALL;
    return best;
}

/* Tells whether a lane other than the blocked one, and able to go on, could bring the step that it waits for. */
static bool has_provider(struct search *search, uint32_t blocked)
{
    const struct conv_epoch_group *group = search->group;
    const struct conv_epoch_step *wanted = &group->steps[group->lanes[blocked].step];
    for (uint32_t i = 0; i < group->lane_count; i++) {
        if (i == blocked || !search->may_progress[i])
            continue;
        for (uint32_t k = group->lanes[i].step; k < group->lanes[i].step_end; k++) {
            search->work++;
            if (group->steps[k].address == wanted->address && group->steps[k].effect != wanted->effect)
                return true;
        }
    }
    return false;
}

/* Tells whether some lanes wait for each other in a ring that nobody outside can open. The others could go on for
 * long, in exponentially many ways, before all were stuck. */
static bool is_doomed(struct search *search)
{
    const struct conv_epoch_group *group = search->group;
    uint32_t blocked = 0;
    bool changed = true;
    for (uint32_t i = 0; i < group->lane_count; i++) {
        const struct conv_epoch_lane *lane = &group->lanes[i];
        search->may_progress[i] = lane->step == lane->step_end || may_go(group, lane);
        blocked += !search->may_progress[i];
    }
    while (blocked > 0 && changed) {
        changed = false;
        for (uint32_t i = 0; i < group->lane_count; i++) {
            if (search->may_progress[i] || !has_provider(search, i))
                continue;
            search->may_progress[i] = changed = true;
            blocked--;
        }
    }
    return blocked > 0;
}

static bool run(struct search *search, uint32_t *tried)
{
    struct conv_epoch_group *group = search->group;
    tried[0] = TRIED_NOTHING;
    while (group->plan_count < group->step_count) {
        const size_t depth = group->plan_count;
        const uint32_t lane = next_choice(group, &tried[depth]);
        if (lane == NONE) {
            if (depth == 0)
                return false;
            go_back(search);
            continue;
        }
        search->work += group->lane_count;
        if (search->states >= search->states_max || search->work >= search->work_max)
            return false;
        go(search, &group->lanes[lane]);
        if (!visit(search) || is_doomed(search))
            go_back(search);
        else
            tried[depth + 1] = TRIED_NOTHING;
    }
    return true;
}

static bool try(struct search *search, uint32_t states_max, size_t slots, uint32_t *tried)
{
    struct conv_epoch_group *group = search->group;
    bool found;
    memset(group->visited, 0, slots * sizeof *group->visited);
    reset(group);
    search->mask = slots - 1;
    search->states = 0;
    search->states_max = states_max;
    search->work = 0;
    search->work_max = (uint64_t)states_max * SEARCH_WORK;
    search->position = 0;
    for (uint32_t i = 0; i < group->lane_count; i++)
        search->position += mark_of(i, group->lanes[i].step);
    found = run(search, tried);
    search->capped = search->states >= search->states_max || search->work >= search->work_max;
    group->states_spent += search->states + search->work / SEARCH_WORK;
    return found;
}

bool conv_epoch_search(struct conv_epoch_group *group, uint32_t states_max)
{
    struct search search = {.group = group};
    uint32_t *tried = calloc(group->step_count + 1, sizeof *tried);
    bool found = false;
    search.may_progress = calloc(group->lane_count, sizeof *search.may_progress);
    if (group->visited == NULL)
        group->visited = malloc(VISITED_SLOTS * sizeof *group->visited);
    if (states_max > CONV_SEARCH_STATES)
        states_max = CONV_SEARCH_STATES;
    if (tried != NULL && search.may_progress != NULL && group->visited != NULL) { /* else it is repaired */
        found = try(&search, states_max < FIRST_STATES ? states_max : FIRST_STATES, FIRST_SLOTS, tried);
        if (!found && search.capped && states_max > FIRST_STATES)
            found = try(&search, states_max, VISITED_SLOTS, tried);
    }
    free(search.may_progress);
    free(tried);
    return found;
}
