/* lane_pool.c - lanes in blocks, in memory that a fork wipes (MADV_WIPEONFORK). Laws: those of turn.c. */
#include "shim/preload/lane_chunk.h"

#include "shim/preload/confine.h"

#define LANES_PER_BLOCK  128u
#define LANE_BLOCKS      8192u /* a million threads at one time */
#define READY_BLOCKS     64u /* 8192 threads and children's after a process is confined: 2 MB of addresses */
#define LANE_REUSE_TRIES 16u

__thread uint32_t lane_thread __attribute__((tls_model("initial-exec")));

/* Ordinary memory, inherited by children: blocks stay mapped (and wiped) there, and lanes below lane_floor were
 * the parent's. The child's thread may still point at its old one, so nobody is given those again. */
static struct lane *_Atomic lane_blocks[LANE_BLOCKS];
static _Atomic uint32_t lane_high, lane_floor, lane_hint;

static struct lane *lane_at(uint32_t index)
{
    struct lane *block = get_acquire(&lane_blocks[index / LANES_PER_BLOCK]);
    return block != NULL ? block + index % LANES_PER_BLOCK : NULL;
}

static bool thread_is_gone(uint32_t thread_id)
{
    if (!confine_may_call())
        return false;
    bool gone = raw_call(SYS_tgkill, (long)raw_getpid(), (long)thread_id, 0, 0, 0, 0) == -ESRCH;
    confine_called();
    return gone;
}

/* A lane is free when nobody has taken it, or when its thread ran its last destructor and is gone for good. One at a time asks
 * whether it is gone. Else another thread could take the lane and come to its own last calls between question and claim: the
 * answer is about the thread before, and then those calls and ours would be stored at one cursor. */
static bool lane_try_claim(struct lane *lane, uint32_t index)
{
    uint32_t state = get_relaxed(&lane->state);
    if (state == LANE_LIVE || state == LANE_ASKED || !swap_acquire(&lane->state, &state, LANE_ASKED))
        return false;
    if (state == LANE_EXITED && !thread_is_gone(lane->thread_id)) {
        put_release(&lane->state, LANE_EXITED); /* as at_thread_exit: to whoever asks next */
        return false;
    }
    put_relaxed(&lane->state, LANE_LIVE);
    lane->stream = index - get_relaxed(&lane_floor);
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
    fresh = raw_map_wiped(count * LANES_PER_BLOCK * sizeof *fresh);
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
    uint32_t block = get_relaxed(&lane_high) / LANES_PER_BLOCK;
    while (block < LANE_BLOCKS && lane_at(block * LANES_PER_BLOCK) != NULL)
        block++;
    map_blocks(block, READY_BLOCKS);
}

static struct lane *lane_extend(void)
{
    for (;;) {
        const uint32_t index = add_relaxed(&lane_high, 1);
        struct lane *lane = index < LANE_BLOCKS * LANES_PER_BLOCK ? lane_at(index) : NULL;
        if (lane == NULL) {
            map_blocks(index / LANES_PER_BLOCK, 1);
            lane = index < LANE_BLOCKS * LANES_PER_BLOCK ? lane_at(index) : NULL;
        }
        if (lane == NULL) {
            sub_relaxed(&lane_high, 1);
            return NULL;
        }
        if (lane_try_claim(lane, index))
            return lane;
    }
}

struct lane *lane_take(void)
{
    const uint32_t floor = get_relaxed(&lane_floor);
    const uint32_t high = get_relaxed(&lane_high);
    for (uint32_t tries = 0; tries < LANE_REUSE_TRIES && high > floor && tries < high - floor; tries++) {
        const uint32_t step = add_relaxed(&lane_hint, 1);
        const uint32_t index = floor + step % (high - floor);
        struct lane *lane = lane_at(index);
        if (lane != NULL && lane_try_claim(lane, index))
            return lane;
    }
    return lane_extend();
}

bool lane_keep_out(const struct lane *mine, uint32_t gates)
{
    bool some = false;
    for (uint32_t index = get_relaxed(&lane_floor); index < get_relaxed(&lane_high); index++) {
        struct lane *lane = lane_at(index);
        if (lane == NULL)
            continue;
        __atomic_store_n(&lane->epoch, UINT64_MAX, __ATOMIC_RELAXED);
        some = some || (lane != mine && (lane_gate(lane) & gates) && !thread_is_gone(lane->thread_id));
    }
    return some;
}

void lane_retire_all(void)
{
    for (uint32_t index = get_relaxed(&lane_floor); index < get_relaxed(&lane_high); index++) {
        struct lane *lane = lane_at(index);
        if (lane != NULL)
            put_relaxed(&lane->state, LANE_FREE);
    }
}

void lane_wipe_all(void)
{
    for (uint32_t index = get_relaxed(&lane_floor); index < get_relaxed(&lane_high); index++) {
        const struct lane *lane = lane_at(index);
        if (lane != NULL && lane->sites != NULL)
            raw_munmap(lane->sites, sizeof *lane->sites);
    }
    for (uint32_t block = 0; block < LANE_BLOCKS && lane_at(block * LANES_PER_BLOCK) != NULL; block++)
        (void)raw_call(SYS_madvise, (long)lane_at(block * LANES_PER_BLOCK),
                       LANES_PER_BLOCK * sizeof(struct lane), MADV_DONTNEED, 0, 0, 0);
}

void lane_forget_inherited(void)
{
    put_relaxed(&lane_floor, get_relaxed(&lane_high));
}
