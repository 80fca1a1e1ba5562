/* turn.c - the hooks' common slow half. Laws: those of shim.h. */
#include "shim/preload/turn.h"

#include "shim/preload/boot.h"
#include "shim/preload/lane_attach.h"
#include "shim/preload/lane_chunk.h"
#include "shim/preload/large.h"

/* A longjmp out of a new_handler leaves a note behind that no unwinder has ended; then the operator's frame lies
 * below ours. The stack grows down; on another stack (a signal's, a coroutine's) the guess may be wrong either way,
 * and costs one call recorded as malloc instead of operator new, or the reverse, of the right size and address. */
static bool operator_was_left(const struct lane *lane)
{
    return (uintptr_t)__builtin_frame_address(0) >= lane->as_frame;
}

void turn_count_reentrant(struct lane *lane)
{
    lane_lose(lane, FP_CALL_MALLOC, FP_LOSS_REENTRANT);
}

void turn_operator_left(struct lane *lane)
{
    if (lane == NULL || lane->as_call == 0)
        return;
    unsigned call = lane->as_call;
    lane->as_call = 0;
    lane = lane_record_slow(lane, call, 0, lane->as_size, lane->as_extra);
    lane_set_gate(lane, GATE_OPEN);
}

/* Nobody knows what the interrupted call did: the allocator may have given out an object that
 * nobody has. */
void turn_left(void)
{
    struct lane *lane = shim_lane;
    lane_attach_left();
    if (lane == NULL || get_relaxed(&lane->state) == LANE_FREE)
        return; /* a forked child, in its parent's handler */
    uint32_t gate = lane_gate(lane);
    if (!(gate & GATE_BUSY))
        return;
    lane_set_gate(lane, GATE_RECORD);
    if (gate & GATE_RECORD)
        lane_repair(lane);
    lane->as_call = lane->nested = 0;
    turn_count_reentrant(lane);
    lane_set_gate(lane, GATE_OPEN);
}

void turn_back(struct lane *lane)
{
    const uint32_t outer = --lane->nested;
    lane->as_call = lane->outer[outer].as_call;
    lane_set_gate(lane, lane->outer[outer].gate);
}

/* A call in the midst of the allocator that is not the allocator's: its record stands before what the interrupted call has
 * to say yet. Returns whether it is to be recorded; else it is counted. */
static bool interrupt(struct lane *lane, uint32_t gate)
{
    const uint32_t outer = lane->nested;
    if (gate & GATE_RECORD || outer == LANE_NEST_MOST) {
        turn_count_reentrant(lane);
        return false;
    }
    lane->outer[outer].gate = gate;
    lane->outer[outer].as_call = lane->as_call;
    atomic_signal_fence(memory_order_seq_cst); /* as lane_set_gate: for handlers */
    lane->nested = outer + 1;
    lane->as_call = 0;
    lane_set_gate(lane, GATE_FORWARD);
    return true;
}

cold_path static bool attach_or_not(struct lane **ret_lane)
{
    *ret_lane = lane_attach();
    return *ret_lane != NULL;
}

__attribute__((noinline)) enum turn turn_slow(struct lane **ret_lane, const void *caller)
{
    struct lane *lane = shim_lane;
    if (lane == NULL && !attach_or_not(&lane)) {
        if (!boot_resolve())
            return TURN_BOOT;
        lane_count_confined();
        return TURN_FORWARD;
    }
    uint32_t gate = lane_gate(lane);
    /* libc's allocator calls none of its exported names but for GATE_PASS. Other allocators' calls may be their own; what they
     * have libc allocate for them is recorded, too. */
    if ((gate & GATE_RECORD) ||
        ((gate & (GATE_FORWARD | GATE_PASS)) == GATE_FORWARD && !boot_is_allocators(caller))) {
        *ret_lane = lane;
        return interrupt(lane, gate) ? TURN_RECORD : TURN_FORWARD;
    }
    if (gate & GATE_BUSY)
        return TURN_FORWARD;
    if ((gate & GATE_AS) && operator_was_left(lane)) {
        turn_operator_left(lane);
        lane = shim_lane; /* a forked child got another one */
        if (lane == NULL)
            return TURN_FORWARD;
        gate = GATE_OPEN;
    }
    lane_set_gate(lane, gate | GATE_FORWARD);
    *ret_lane = lane;
    return TURN_RECORD;
}

void turn_allocated(struct lane *lane, unsigned call, const void *address, size_t size, size_t extra)
{
    /* A smaller request than the operator's own is not the one that serves it. */
    if (unlikely(lane->as_call != 0) && size >= lane->as_size) {
        call = lane->as_call;
        size = lane->as_size;
        extra = lane->as_extra;
        lane->as_call = 0;
    }
    lane = lane_record(lane, call, (uintptr_t)address, size, extra);
    turn_done(lane);
}

/* Note how much of an object that goes is in memory, if it is a large one. */
cold_path static struct lane *note_resident(struct lane *lane, const void *address)
{
    uint32_t share;
    if (!large_take(address, &share))
        return lane;
    return lane_record(lane, FP_MARK_RESIDENT, (uintptr_t)address, 0, share);
}

struct lane *turn_record(struct lane *lane, unsigned call, const void *address, size_t size, size_t extra)
{
    if (unlikely(large_suspects(address)))
        lane = note_resident(lane, address);
    lane = lane_record(lane, call, (uintptr_t)address, size, extra);
    lane_set_gate(lane, GATE_FORWARD | (lane->as_call != 0 ? GATE_AS : 0));
    return lane;
}

/* Objects that are never released. After the program's own handlers of exit(3), so that what those release is told; not
 * after _exit(2) nor a signal, and not for a child that made no call. */
__attribute__((destructor)) static void note_the_rest(void)
{
    struct lane *lane = shim_lane;
    uintptr_t address;
    uint32_t share;
    if (lane == NULL || lane_gate(lane) != GATE_OPEN || get_relaxed(&lane->state) != LANE_LIVE)
        return;
    for (uint32_t at = 0; large_left(&at, &address, &share);) {
        lane = lane_record(lane, FP_MARK_RESIDENT, address, 0, share);
        lane_set_gate(lane, GATE_OPEN);
    }
}
