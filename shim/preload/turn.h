/* turn.h - what a hook has to do before it forwards: the ways that are not the fast one, decided in one place.
 *
 *   TURN_RECORD   the lane's gate is at GATE_FORWARD (joined with GATE_AS where an operator is under way);
 *                 forward, then finish with turn_allocated or turn_done
 *   TURN_FORWARD  nested in the allocator or in ourselves, or switched off: forward only
 *   TURN_BOOT     nested in dlsym: there is nothing to forward to yet
 *   TURN_SAMPLED  a thread of a sample of objects, at rest (chosen.h): turn_birth and turn_death ask whether the object is in it */
#ifndef MALLAB_SHIM_PRELOAD_TURN_H
#define MALLAB_SHIM_PRELOAD_TURN_H

#include "shim/preload/lane.h"

enum turn {
    TURN_RECORD,
    TURN_FORWARD,
    TURN_BOOT,
    TURN_SAMPLED,
};

/* turn_slow - turn_take's cold half: no lane yet, or a gate that is not open. */
enum turn turn_slow(struct lane **ret_lane, const void *caller);

/* turn_take - decide for the calling thread.
 * ret_lane  is set for TURN_RECORD only.
 * caller    what the hook returns to: a call nested in the allocator is its own where its own code makes it. */
static inline enum turn turn_take(struct lane **ret_lane, const void *caller)
{
    struct lane *lane = shim_lane;
    if (unlikely(lane == NULL || lane_gate(lane) != GATE_OPEN))
        return turn_slow(ret_lane, caller);
    lane_set_gate(lane, GATE_FORWARD);
    *ret_lane = lane;
    return TURN_RECORD;
}

/* turn_sampled_birth, turn_sampled_death - what TURN_SAMPLED comes to: TURN_RECORD or TURN_FORWARD. */
enum turn turn_sampled_birth(struct lane **ret_lane, uint64_t bytes);
enum turn turn_sampled_death(struct lane **ret_lane, const void *address);

/* turn_sampled_growth - of an object that is not in the sample and grows, from 0 bytes where it begins. */
enum turn turn_sampled_growth(struct lane **ret_lane, uint64_t had, uint64_t bytes);

/* turn_birth - turn_take for a call that makes an object of so many bytes.
 * turn_death - for one that ends the object at address. */
static inline enum turn turn_birth(struct lane **ret_lane, const void *caller, uint64_t bytes)
{
    const enum turn turn = turn_take(ret_lane, caller);
    return turn == TURN_SAMPLED ? turn_sampled_birth(ret_lane, bytes) : turn;
}

static inline enum turn turn_death(struct lane **ret_lane, const void *caller, const void *address)
{
    const enum turn turn = turn_take(ret_lane, caller);
    return turn == TURN_SAMPLED ? turn_sampled_death(ret_lane, address) : turn;
}

#define TURN_CALLER __builtin_return_address(0) /* in the hook itself */

/* turn_back - a call that interrupted another one is over: that one goes on. */
void turn_back(struct lane *lane);

/* turn_done - open the gate again, keeping an operator's mark. */
static inline void turn_done(struct lane *lane)
{
    if (unlikely(lane->nested > 0))
        turn_back(lane);
    else
        lane_set_gate(lane, lane->as_call != 0 ? GATE_AS : GATE_OPEN);
}

/* turn_rouse - the thread's lane, also where it was at rest; NULL: it has none. turn_settle - back to rest where that is its place. */
struct lane *turn_rouse(void);
void turn_settle(void);

/* turn_left - the thread is about to jump, possibly out of a handler that interrupted a call of ours: then the call is over. */
void turn_left(void);

/* turn_count_reentrant - note that a call could not be recorded because one was being recorded. */
void turn_count_reentrant(struct lane *lane);

/* turn_operator_left - an exception leaves an operator: record its failure unless that was done. lane may be NULL. */
void turn_operator_left(struct lane *lane);

/* turn_allocated - record an allocation that has returned, as the operator around it if there is one, and open
 * the gate. */
void turn_allocated(struct lane *lane, unsigned call, const void *address, size_t size, size_t extra);

/* turn_record - store a mark before the allocator is entered, and put the gate (back) to GATE_FORWARD.
 * Returns the lane to go on with. */
struct lane *turn_record(struct lane *lane, unsigned call, const void *address, size_t size, size_t extra);

#endif
