/* epoch_steps.h - the events of one epoch while an order is made of them (epoch_group.c): greedily, by search, by repair.
 *
 *   step    an event on such an address; a lane's steps are what greedy order and search move through
 *   effect  +1: the address holds an object afterwards, -1: it does not, 0: none of the order's business
 *   size    what an allocation asked for, and what a sized release says: where both are known they agree in a
 *           correct program, which tells orders apart that the addresses alone do not */
#ifndef MALLAB_CONVERT_ORDER_EPOCH_STEPS_H
#define MALLAB_CONVERT_ORDER_EPOCH_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/base/source.h"

#define CONV_ANY_SIZE UINT64_MAX

/* Consecutive events of one lane: events[begin] .. events[end - 1] of the group. */
struct conv_epoch_lane {
    uint32_t number;
    uint32_t begin, end;
    uint32_t step_begin, step_end;
    uint32_t step; /* next to be taken, while an order is made */
    uint32_t next; /* queue link */
    uint64_t first_time_ns;
};

struct conv_epoch_step {
    uint32_t event;
    uint32_t address;  /* index into addresses */
    uint32_t lane;     /* index into lanes */
    uint32_t own_left; /* steps of this lane on this address, from this one on */
    uint64_t bytes;    /* asked for or stated; CONV_ANY_SIZE when the call does not tell */
    int8_t effect;
    bool taken; /* moved forward by the repair */
};

struct conv_epoch_address {
    uint64_t address;
    uint64_t bytes_first, bytes; /* of its object, when live */
    bool live_first, live;
    uint32_t left;                             /* steps not yet taken, of all lanes */
    uint32_t waiting_head[2], waiting_tail[2]; /* lanes waiting for it to be dead [0] or live [1] */
};

/* One entry of the order being made: a step, or a step moved out of its lane's order. */
struct conv_epoch_choice {
    uint32_t step;
    bool moved;
    uint64_t bytes_before; /* of the address, for going back */
};

struct conv_epoch_slot;

struct conv_epoch_group {
    /* filled by the caller */
    struct conv_event *events;
    struct conv_epoch_lane *lanes;
    uint32_t lane_count;
    /* result: event numbers in order */
    uint32_t *order;
    uint32_t order_count;
    /* workspace */
    size_t order_capacity;
    struct conv_epoch_slot *slots;
    size_t slot_capacity;
    uint32_t generation;
    struct conv_epoch_step *steps;
    size_t step_count, step_capacity;
    struct conv_epoch_address *addresses;
    size_t address_count, address_capacity;
    struct conv_epoch_choice *plan;
    size_t plan_count, plan_capacity;
    bool tells_sizes;  /* some step is a sized release */
    bool by_size;      /* the order being made heeds sizes */
    uint64_t *visited; /* of the search */
    uint64_t seed;
    uint64_t states_spent, states_earned; /* budget of searches over the whole pass */
};

#define CONV_SEARCH_STATES 20000u /* positions of all lanes that one search may visit */
#define CONV_SEARCH_LANES  1024u

/* conv_epoch_order_greedily - lane after lane as far as it may go; one that may not waits for another to change its
 * address. Returns whether every step was taken: then plan holds a legal order. */
bool conv_epoch_order_greedily(struct conv_epoch_group *group);

/* conv_epoch_search - complete search for an order of the steps, depth first, with the lanes' positions as memo: what is
 * live follows from them.
 * Returns  true: plan holds the order. false: there is none, or the cap was reached. */
bool conv_epoch_search(struct conv_epoch_group *group, uint32_t states_max);

/* conv_epoch_order_with_repair - greedy order; where it is stuck, the step that the earliest waiting one needs is moved
 * before it, so that every event is kept, every address alternates and the group ends in the state it must.
 * survey   irregular[CONV_ORDER_REPAIRED] counts what was moved. */
void conv_epoch_order_with_repair(struct conv_epoch_group *group, struct conv_survey *survey);

/* conv_epoch_order_by_lane - steps lane by lane, legal or not. */
void conv_epoch_order_by_lane(struct conv_epoch_group *group);

/* ---- a legal order for the events of one epoch (docs/order.md) --------------------------------------
 *
 * Between epochs the order is known; within one, several lanes' events may come in any order that keeps
 * each lane's own and lets every address alternate between allocation and release. Only addresses that
 * two lanes touch within the group constrain it; all other events follow their lane. */

void conv_epoch_group_init(struct conv_epoch_group *group);
/* conv_epoch_group_release - free what arranging allocated; events and lanes are the caller's. */
void conv_epoch_group_release(struct conv_epoch_group *group);

/* conv_epoch_group_arrange - put the group's events in order.
 * group    events, lanes and lane_count filled; lanes may be reordered. order and order_count receive
 *          every event of every lane once.
 * sink     asked what is live; it must have seen every event before the group.
 * survey   groups, groups_searched and irregular[CONV_ORDER_REPAIRED] are counted there.
 * Returns  false: no memory. */
bool conv_epoch_group_arrange(struct conv_epoch_group *group, const struct conv_sink *sink,
                              struct conv_survey *survey);

#endif
