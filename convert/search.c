/* search.c - the complete search for a group that greedy order could not finish. */
#include "convert/group.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* Most searches end within a hundred states: the first try clears and uses little memory. Slots are powers
 * of two above three times the states. */
#define FIRST_STATES  256u
#define FIRST_SLOTS   1024u
#define VISITED_SLOTS 65536u

struct search {
    struct conv_group *group;
    uint64_t position; /* hash of all lanes' positions */
    uint32_t states, states_max;
    size_t mask; /* of the memo */
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

static void go(struct search *search, struct conv_group_lane *lane)
{
    struct conv_group *group = search->group;
    const struct conv_group_step *step = &group->steps[lane->step];
    group->addresses[step->address].live = step->effect > 0;
    group->addresses[step->address].left--;
    group->plan[group->plan_count++] = (struct conv_group_choice){.step = lane->step};
    search->position -= mark_of(step->lane, lane->step);
    search->position += mark_of(step->lane, ++lane->step);
}

static void go_back(struct search *search)
{
    struct conv_group *group = search->group;
    const struct conv_group_step *step = &group->steps[group->plan[--group->plan_count].step];
    struct conv_group_lane *lane = &group->lanes[step->lane];
    search->position -= mark_of(step->lane, lane->step);
    search->position += mark_of(step->lane, --lane->step);
    group->addresses[step->address].live = step->effect < 0;
    group->addresses[step->address].left++;
}

static bool may_go(const struct conv_group *group, const struct conv_group_lane *lane)
{
    const struct conv_group_step *step;
    if (lane->step == lane->step_end)
        return false;
    step = &group->steps[lane->step];
    return group->addresses[step->address].live == (step->effect < 0);
}

/* Whether no other lane has anything to do with the address any more: then going on takes nothing from
 * anyone, and no alternative needs to be tried. */
static bool is_safe(const struct conv_group *group, const struct conv_group_lane *lane)
{
    const struct conv_group_step *step = &group->steps[lane->step];
    return group->addresses[step->address].left == step->own_left;
}

/* The next lane to try from this position, after `tried` of them, beginning with the lane that moved
 * last; NONE when all were tried. A safe move is the only one tried. */
static uint32_t next_choice(const struct conv_group *group, uint32_t first, uint32_t *tried)
{
    if (*tried == 0) {
        for (uint32_t i = 0; i < group->lane_count; i++) {
            if (may_go(group, &group->lanes[i]) && is_safe(group, &group->lanes[i])) {
                *tried = group->lane_count;
                return i;
            }
        }
    }
    while (*tried < group->lane_count) {
        const uint32_t lane = (first + (*tried)++) % group->lane_count;
        if (may_go(group, &group->lanes[lane]))
            return lane;
    }
    return NONE;
}

static bool run(struct search *search, uint32_t *tried)
{
    struct conv_group *group = search->group;
    tried[0] = 0;
    while (group->plan_count < group->step_count) {
        const size_t depth = group->plan_count;
        const uint32_t first = depth > 0 ? group->steps[group->plan[depth - 1].step].lane : 0;
        const uint32_t lane = next_choice(group, first, &tried[depth]);
        if (lane == NONE) {
            if (depth == 0)
                return false;
            go_back(search);
            continue;
        }
        go(search, &group->lanes[lane]);
        if (!visit(search))
            go_back(search);
        else if (search->states >= search->states_max)
            return false;
        else
            tried[depth + 1] = 0;
    }
    return true;
}

static bool try(struct conv_group *group, uint32_t states_max, size_t slots, uint32_t *tried,
                bool *ret_capped)
{
    struct search search = {.group = group, .states_max = states_max, .mask = slots - 1};
    bool found;
    memset(group->visited, 0, slots * sizeof *group->visited);
    conv_group_reset(group);
    for (uint32_t i = 0; i < group->lane_count; i++)
        search.position += mark_of(i, group->lanes[i].step);
    found = run(&search, tried);
    group->states_spent += search.states;
    *ret_capped = search.states >= states_max;
    return found;
}

bool conv_group_search(struct conv_group *group, uint32_t states_max)
{
    uint32_t *tried = calloc(group->step_count + 1, sizeof *tried);
    bool found = false, capped = true;
    if (group->visited == NULL)
        group->visited = malloc(VISITED_SLOTS * sizeof *group->visited);
    if (tried != NULL && group->visited != NULL) { /* without memory the repair takes over */
        found = try(group, states_max < FIRST_STATES ? states_max : FIRST_STATES, FIRST_SLOTS, tried,
                    &capped);
        if (!found && capped && states_max > FIRST_STATES)
            found = try(group, states_max < CONV_SEARCH_STATES ? states_max : CONV_SEARCH_STATES,
                        VISITED_SLOTS, tried, &capped);
    }
    free(tried);
    return found;
}
