/* lane.c - lanes: where they come from, how a thread and its process attach, loss.
 *
 * Laws of this file: it runs inside malloc and free, with the gate at GATE_RECORD. System calls go through raw.h,
 * so errno stays and no cancellation point is added. Lanes live in memory that a fork wipes. */
#include <errno.h>

#include "shim/preload/attach.h"
#include "shim/preload/confine.h"
#include "shim/preload/lane_slow.h"
#include "shim/shared/raw.h"

#define LANES_PER_BLOCK 128u
#define LANE_BLOCKS     8192u /* a million threads at one time */
#define READY_BLOCKS                                                                                         \
    64u /* 8192 threads and forked children's threads after a process is confined: 2 MB of addresses */
#define LANE_REUSE_TRIES 16u

__thread struct lane *shim_lane __attribute__((tls_model("initial-exec")));

__thread uint32_t lane_thread __attribute__((tls_model("initial-exec")));

static __thread bool attaching __attribute__((tls_model("initial-exec")));

/* Ordinary memory, inherited by children: blocks stay mapped (and wiped) there, and lanes below lane_floor were
 * the parent's. The child's thread may still point at its old one, so nobody is given those again. */
static struct lane *_Atomic lane_blocks[LANE_BLOCKS];
static _Atomic uint32_t lane_high, lane_floor, lane_hint;

static struct lane *lane_at(uint32_t index)
{
    struct lane *block = atomic_load_explicit(&lane_blocks[index / LANES_PER_BLOCK], memory_order_acquire);
    return block != NULL ? block + index % LANES_PER_BLOCK : NULL;
}

static bool thread_is_gone(uint32_t thread_id)
{
    bool gone;
    if (!confine_may_call())
        return false;
    gone = raw_call(SYS_tgkill, (long)raw_getpid(), (long)thread_id, 0, 0, 0, 0) == -ESRCH;
    confine_called();
    return gone;
}

/* A lane is free when nobody has taken it, or when its thread ran its last destructor and is gone for good. */
static bool lane_try_claim(struct lane *lane, uint32_t index)
{
    uint32_t state = atomic_load_explicit(&lane->state, memory_order_relaxed);
    if (state == LANE_LIVE || (state == LANE_EXITED && !thread_is_gone(lane->thread_id)))
        return false;
    if (!atomic_compare_exchange_strong_explicit(&lane->state, &state, LANE_LIVE, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    lane->stream = index - atomic_load_explicit(&lane_floor, memory_order_relaxed);
    return true;
}

/* Memory for the lanes of a block and those behind it, where they have none. */
static void map_blocks(uint32_t first, uint32_t count)
{
    struct lane *fresh;
    uint32_t used = 0;
    if (first >= LANE_BLOCKS || !confine_may_call())
        return;
    count = count < LANE_BLOCKS - first ? count : LANE_BLOCKS - first;
    fresh = attach_wipe_mapping(count * LANES_PER_BLOCK * sizeof *fresh);
    for (; fresh != NULL && used < count; used++) {
        struct lane *expected = NULL;
        if (!atomic_compare_exchange_strong_explicit(&lane_blocks[first + used], &expected,
                                                     fresh + used * LANES_PER_BLOCK, memory_order_acq_rel,
                                                     memory_order_acquire))
            break;
    }
    if (fresh != NULL && used < count)
        raw_munmap(fresh + used * LANES_PER_BLOCK, (count - used) * LANES_PER_BLOCK * sizeof *fresh);
    confine_called();
}

void lane_make_ready(void)
{
    uint32_t block = atomic_load_explicit(&lane_high, memory_order_relaxed) / LANES_PER_BLOCK;
    while (block < LANE_BLOCKS && lane_at(block * LANES_PER_BLOCK) != NULL)
        block++;
    map_blocks(block, READY_BLOCKS);
}

static struct lane *lane_extend(void)
{
    for (;;) {
        const uint32_t index = atomic_fetch_add_explicit(&lane_high, 1, memory_order_relaxed);
        struct lane *lane = index < LANE_BLOCKS * LANES_PER_BLOCK ? lane_at(index) : NULL;
        if (lane == NULL) {
            map_blocks(index / LANES_PER_BLOCK, 1);
            lane = index < LANE_BLOCKS * LANES_PER_BLOCK ? lane_at(index) : NULL;
        }
        if (lane == NULL) {
            atomic_fetch_sub_explicit(&lane_high, 1, memory_order_relaxed);
            return NULL;
        }
        if (lane_try_claim(lane, index))
            return lane;
    }
}

static struct lane *lane_take(void)
{
    const uint32_t floor = atomic_load_explicit(&lane_floor, memory_order_relaxed);
    const uint32_t high = atomic_load_explicit(&lane_high, memory_order_relaxed);
    for (uint32_t tries = 0; tries < LANE_REUSE_TRIES && high > floor && tries < high - floor; tries++) {
        const uint32_t step = atomic_fetch_add_explicit(&lane_hint, 1, memory_order_relaxed);
        const uint32_t index = floor + step % (high - floor);
        struct lane *lane = lane_at(index);
        if (lane != NULL && lane_try_claim(lane, index))
            return lane;
    }
    return lane_extend();
}

void lane_forget_inherited(void)
{
    atomic_store_explicit(&lane_floor, atomic_load_explicit(&lane_high, memory_order_relaxed),
                          memory_order_relaxed);
}

static uint32_t thread_id(void)
{
    uint32_t id;
    if (!confine_may_call())
        return confine_thread_id();
    id = raw_gettid();
    confine_called();
    return id;
}

static void lane_start(struct lane *lane)
{
    struct seg_slot *slot = shim_process->slot;
    const uint32_t number = atomic_fetch_add_explicit(&shim_process->lane_count, 1, memory_order_relaxed);
    const uint32_t former = lane->thread_id;
    atomic_store_explicit(&slot->lane_count, number + 1, memory_order_relaxed);
    lane->number = number;
    lane->thread_id = lane_thread = thread_id();
    lane_inherit_chunk(lane, former);
    if (lane->cursor == NULL)
        lane->cut = 0;
    lane->group_mask = (number == 0 ? LANE_GROUP_ALONE : LANE_GROUP_MANY) - 1;
    if (shim_segment.fixed.flags & SEG_FLAG_STAMPS)
        lane->group_mask = 0;
    lane->epoch_word = &slot->epoch;
    lane->stamp_clock = 0;
    lane->seldom_close = 0;
    lane->seldom = false;
    lane->lost_pending = 0;
    lane->gap_pending = false;
    lane->gap_lost = false;
    lane->waiting = lane->gave_up = false;
    lane->armed = false;
    lane->exit_rounds = 0;
    lane->as_call = lane->nested = 0;
    lane->seen_clock = 0;
    /* The events so far were of fewer threads and may be millions: keep them out of the new thread's group. */
    lane->epoch = 0; /* no word's value: the first record goes the slow way */
    lane->seen_epoch = number == 0 ? 0 : atomic_fetch_add_explicit(&slot->epoch, 1, memory_order_acq_rel) + 1;
    lane_set_gate(lane, GATE_OPEN);
}

cold_path struct lane *lane_attach(void)
{
    struct lane *lane = NULL;
    int saved;
    if (attaching)
        return NULL;
    attaching = true;
    saved = errno;
    shim_lane = NULL;
    if (attach_process()) {
        lane = lane_take();
        if (lane != NULL) {
            lane_start(lane);
            shim_lane = lane;
        }
    }
    attaching = false;
    if (lane != NULL && lane->number < FP_LANES_MAX) {
        /* May allocate, and those calls are recorded like the program's: they will be freed in its sight. */
        fork_arm_process();
        fork_arm_thread(lane);
    }
    errno = saved;
    return lane;
}

void lane_attach_left(void)
{
    attaching = false;
    confine_left();
}

void lane_count_confined(void)
{
    if (!confine_is_on() || attaching || shim_process == NULL)
        return;
    if (atomic_load_explicit(&shim_process->state, memory_order_acquire) == PROCESS_ON)
        atomic_fetch_add_explicit(&shim_process->slot->lost[FP_LOSS_CONFINED], 1, memory_order_relaxed);
    else
        (void)attach_count_for_parent(1); /* else the process has been counted as one without a slot */
}

void lane_lose(struct lane *lane, unsigned call, enum fp_loss cause)
{
    lane->gap_pending = true;
    lane->gap_lost = true;
    if (call >= FP_CALL_COUNT)
        return; /* half a realloc, whose other half is the call, or no call at all */
    lane->lost_pending++;
    if (unlikely(shim_process->slot == NULL))
        return; /* a forked child that has not attached yet, interrupted in its first call */
    atomic_fetch_add_explicit(&shim_process->slot->lost[cause], 1, memory_order_relaxed);
}

void lane_count_reentrant(struct lane *lane)
{
    lane_lose(lane, FP_CALL_MALLOC, FP_LOSS_REENTRANT);
}
