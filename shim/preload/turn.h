/* turn.h - the steps of a hook before it forwards: the ways that are not the fast one, decided in one place.
 *
 *   TURN_RECORD   the lane's gate is at GATE_FORWARD (joined with GATE_AS where an operator is under way);
 *                 forward, then finish with turn_allocated or turn_done
 *   TURN_FORWARD  nested in the allocator or in ourselves, or switched off: forward only
 *   TURN_BOOT     nested in dlsym: there is nothing to forward to yet */
#ifndef MALLAB_SHIM_PRELOAD_TURN_H
#define MALLAB_SHIM_PRELOAD_TURN_H

#include "shim/preload/chosen.h"
#include "shim/preload/lane.h"

enum turn {
    TURN_RECORD,
    TURN_FORWARD,
    TURN_BOOT,
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

/* turn_make - likewise of a call that allocates so many bytes: TURN_FORWARD where that is not chosen. */
static inline enum turn turn_make(struct lane **ret_lane, const void *caller, uint64_t bytes)
{
    return unlikely(chosen_passes(bytes)) ? TURN_FORWARD : turn_take(ret_lane, caller);
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
