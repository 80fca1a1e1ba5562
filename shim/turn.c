/* turn.c - the hooks' common slow half. Laws: those of shim.h. */
#include "shim/turn.h"

#include "shim/large.h"

/* A longjmp out of a new_handler leaves a note behind that no unwinder has ended; then the operator's frame lies
 * below ours. The stack grows down; on another stack (a signal's, a coroutine's) the guess may be wrong either way,
 * and costs one call recorded as malloc instead of operator new, or the reverse, of the right size and address. */
static bool operator_was_left(const struct lane *lane)
{
    return (uintptr_t)__builtin_frame_address(0) >= lane->as_frame;
}

void turn_operator_left(struct lane *lane)
{
    unsigned call;
    if (lane == NULL || lane->as_call == 0)
        return;
    call = lane->as_call;
    lane->as_call = 0;
    lane = lane_record_slow(lane, call, 0, lane->as_size, lane->as_extra);
    lane_set_gate(lane, GATE_OPEN);
}

cold_path static bool attach_or_not(struct lane **ret_lane)
{
    *ret_lane = lane_attach();
    return *ret_lane != NULL;
}

__attribute__((noinline)) enum turn turn_slow(struct lane **ret_lane)
{
    struct lane *lane = shim_lane;
    uint32_t gate;
    if (lane == NULL && !attach_or_not(&lane)) {
        if (!boot_resolve())
            return TURN_BOOT;
        lane_count_confined();
        return TURN_FORWARD;
    }
    gate = lane_gate(lane);
    /* libc's allocator calls none of its exported names but for GATE_PASS: a call nested in it is a signal handler's,
     * recorded because a realloc's two halves belong together. Other allocators' may be their own. */
    if ((gate & GATE_RECORD) || ((gate & (GATE_FORWARD | GATE_PASS)) == GATE_FORWARD && shim_next.is_libc))
        lane_count_reentrant(lane);
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

/* What is in memory of an object that goes, if it is a large one. */
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
