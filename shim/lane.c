/* lane.c - lanes and their chunks: where they come from, stamps, waiting for room, loss.
 *
 * Laws of this file: it runs inside malloc and free, with the gate at GATE_RECORD. System calls go through raw.h,
 * so errno stays and no cancellation point is added. Lanes live in memory that a fork wipes. */
#include "shim/shim.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "shim/large.h"
#include "shim/raw.h"

#define PAGE_BYTES       4096u /* the least of any processor that we run on */
#define GROW_CHUNKS      64u
#define LANES_PER_BLOCK  128u
#define LANE_BLOCKS      8192u /* a million threads at one time */
#define LANE_REUSE_TRIES 16u
#define WAIT_NS          2000000u /* one futex wait for room; short, so that a dead collector is noticed */
#define WAITS_MOST       25u      /* of WAIT_NS, in one wait of many threads */
#define STARVED_WAITS    50u      /* of WAIT_NS, in a row: so long other lanes are given to fill theirs */

__thread struct lane *shim_lane __attribute__((tls_model("initial-exec")));

static __thread bool attaching __attribute__((tls_model("initial-exec")));

/* Ordinary memory, inherited by children: blocks stay mapped (and wiped) there, and lanes below lane_floor were
 * the parent's. The child's thread may still point at its old one, so nobody is given those again. */
static struct lane *_Atomic lane_blocks[LANE_BLOCKS];
static _Atomic uint32_t lane_high, lane_floor, lane_hint;

/* Stands in for a lane where nothing is recorded; written to by everybody, read by nobody. */
static struct lane lane_dummy;

static struct lane *lane_at(uint32_t index)
{
    struct lane *block = atomic_load_explicit(&lane_blocks[index / LANES_PER_BLOCK], memory_order_acquire);
    return block != NULL ? block + index % LANES_PER_BLOCK : NULL;
}

static bool thread_is_gone(uint32_t thread_id)
{
    return raw_call(SYS_tgkill, (long)raw_getpid(), (long)thread_id, 0, 0, 0, 0) == -ESRCH;
}

/* A lane is free when nobody has taken it, or when its thread ran its last destructor and is gone for good. */
static bool lane_try_claim(struct lane *lane)
{
    uint32_t state = atomic_load_explicit(&lane->state, memory_order_relaxed);
    if (state == LANE_LIVE || (state == LANE_EXITED && !thread_is_gone(lane->thread_id)))
        return false;
    return atomic_compare_exchange_strong_explicit(&lane->state, &state, LANE_LIVE, memory_order_acquire,
                                                   memory_order_relaxed);
}

static struct lane *lane_extend(void)
{
    for (;;) {
        const uint32_t index = atomic_fetch_add_explicit(&lane_high, 1, memory_order_relaxed);
        const uint32_t block = index / LANES_PER_BLOCK;
        struct lane *lane, *expected = NULL, *fresh;
        if (block >= LANE_BLOCKS) {
            atomic_fetch_sub_explicit(&lane_high, 1, memory_order_relaxed);
            return NULL;
        }
        lane = lane_at(index);
        if (lane == NULL) {
            fresh = attach_wipe_mapping(LANES_PER_BLOCK * sizeof *fresh);
            if (fresh == NULL)
                return NULL;
            if (!atomic_compare_exchange_strong_explicit(&lane_blocks[block], &expected, fresh,
                                                         memory_order_acq_rel, memory_order_acquire))
                raw_munmap(fresh, LANES_PER_BLOCK * sizeof *fresh);
            lane = lane_at(index);
        }
        if (lane_try_claim(lane))
            return lane;
    }
}

static struct lane *lane_take(void)
{
    const uint32_t floor = atomic_load_explicit(&lane_floor, memory_order_relaxed);
    const uint32_t high = atomic_load_explicit(&lane_high, memory_order_relaxed);
    for (uint32_t tries = 0; tries < LANE_REUSE_TRIES && high > floor && tries < high - floor; tries++) {
        const uint32_t step = atomic_fetch_add_explicit(&lane_hint, 1, memory_order_relaxed);
        struct lane *lane = lane_at(floor + step % (high - floor));
        if (lane != NULL && lane_try_claim(lane))
            return lane;
    }
    return lane_extend();
}

void lane_forget_inherited(void)
{
    atomic_store_explicit(&lane_floor, atomic_load_explicit(&lane_high, memory_order_relaxed),
                          memory_order_relaxed);
}

static void lane_start(struct lane *lane)
{
    struct seg_slot *slot = shim_process->slot;
    const uint32_t number = atomic_fetch_add_explicit(&slot->lane_count, 1, memory_order_relaxed);
    lane->cursor = NULL;
    lane->group_mask = (number == 0 ? LANE_GROUP_ALONE : LANE_GROUP_MANY) - 1;
    if (shim_segment->flags & SEG_FLAG_STAMPS)
        lane->group_mask = 0;
    lane->epoch_word = &slot->epoch;
    lane->sequence = 0;
    lane->lost_pending = 0;
    lane->gap_pending = false;
    lane->gap_lost = false;
    lane->cut = 0;
    lane->gave_up = false;
    lane->armed = false;
    lane->exit_rounds = 0;
    lane->as_call = 0;
    lane->number = number;
    lane->thread_id = raw_gettid();
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

static void lane_lose(struct lane *lane, unsigned call, enum fp_loss cause)
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

/* ---- chunks ---------------------------------------------------------------------------------- */

void lane_ring(struct seg_header *segment)
{
    atomic_fetch_add_explicit(&segment->doorbell, 1, memory_order_release);
    raw_futex_wake(&segment->doorbell, 1);
}

void lane_close_chunk(struct lane *lane)
{
    struct seg_header *segment = shim_segment;
    if (lane->cursor == NULL)
        return;
    lane->cursor = NULL;
    /* release: the records are in place before the collector may look; pairs with its acquire load */
    atomic_store_explicit(&seg_chunk_states(segment)[lane->chunk],
                          seg_chunk_word(SEG_CHUNK_FULL, shim_process->slot_index, lane->number),
                          memory_order_release);
    /* A missed ring costs the collector's time-out, no record. */
    if (atomic_load_explicit(&segment->asleep, memory_order_relaxed) == SEG_SLEEP &&
        atomic_exchange_explicit(&segment->asleep, SEG_AWAKE, memory_order_relaxed) == SEG_SLEEP)
        lane_ring(segment);
}

/* The lowest free chunk: low indexes are in use first, so an index tells how short the pool is. */
static bool claim_below(const struct lane *lane, uint32_t first, uint32_t ready, uint32_t *ret_index)
{
    struct seg_header *segment = shim_segment;
    _Atomic uint64_t *states = seg_chunk_states(segment);
    const uint64_t mine = seg_chunk_word(SEG_CHUNK_OPEN, shim_process->slot_index, lane->number);
    for (uint32_t index = first; index < ready; index++) {
        uint64_t word = atomic_load_explicit(&states[index], memory_order_relaxed);
        if (word != SEG_CHUNK_FREE)
            continue;
        /* acquire: pairs with the collector's release of FREE after zeroing */
        if (!atomic_compare_exchange_strong_explicit(&states[index], &word, mine, memory_order_acquire,
                                                     memory_order_relaxed))
            continue;
        if (index >= ready / 2 &&
            atomic_exchange_explicit(&segment->asleep, SEG_AWAKE, memory_order_relaxed) != SEG_AWAKE)
            lane_ring(segment);
        *ret_index = index;
        return true;
    }
    return false;
}

/* The collector lets more chunks be used when half of those are in use. When none is free it is late, or does not work at
 * all: then whoever needs one lets more be used, of those that have memory behind them. */
static bool claim_chunk(const struct lane *lane, uint32_t *ret_index)
{
    struct seg_header *segment = shim_segment;
    uint32_t ready = atomic_load_explicit(&segment->ready, memory_order_acquire);
    bool found = claim_below(lane, 0, ready, ret_index);
    while (!found && seg_grow_ready(segment, ready, ready + GROW_CHUNKS)) {
        const uint32_t first = ready;
        ready = atomic_load_explicit(&segment->ready, memory_order_acquire);
        found = claim_below(lane, first, ready, ret_index);
    }
    return found;
}

/* Wait until a chunk is free. Only here does a hook sleep, and it is counted. */
static bool wait_for_chunk(struct lane *lane, uint32_t *ret_index)
{
    struct seg_header *segment = shim_segment;
    struct seg_slot *slot = shim_process->slot;
    const uint64_t start = raw_now_ns();
    bool found = false;
    uint32_t starved = 0, waits;
    atomic_fetch_add_explicit(&slot->stalls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&segment->space_waiters, 1, memory_order_relaxed);
    while (!found && starved < STARVED_WAITS && !lane_collector_is_gone() &&
           !atomic_load_explicit(&segment->stopped, memory_order_relaxed)) {
        const uint32_t space = atomic_load_explicit(&segment->space, memory_order_acquire);
        found = claim_chunk(lane, ret_index);
        if (found)
            break;
        if (atomic_exchange_explicit(&segment->asleep, SEG_AWAKE, memory_order_relaxed) != SEG_AWAKE)
            lane_ring(segment);
        /* A thousand that look every 2 ms would leave the collector no processor; it wakes them when there is room. */
        waits = atomic_load_explicit(&segment->space_waiters, memory_order_relaxed);
        waits = waits < WAITS_MOST ? waits : WAITS_MOST;
        (void)raw_futex_wait(&segment->space, space, waits * WAIT_NS); /* whatever woke us, look again */
        starved = atomic_load_explicit(&segment->starved, memory_order_relaxed) ? starved + waits : 0;
    }
    lane->gave_up = !found;
    atomic_fetch_sub_explicit(&segment->space_waiters, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&slot->stall_ns, raw_now_ns() - start, memory_order_relaxed);
    return found;
}

static void populate(uint32_t index)
{
    const uint64_t bit = UINT64_C(1) << (index % 64);
    _Atomic uint64_t *word = &shim_process->populated[index / 64];
    if (atomic_load_explicit(word, memory_order_relaxed) & bit)
        return;
    atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
    /* Ours alone and zero until the first record. A store into each page now, and not one system call that does the same
     * (MADV_POPULATE_WRITE): a sandbox that the program has put itself into may kill it for that one. */
    for (uint32_t at = 0; at < SEG_CHUNK_BYTES; at += PAGE_BYTES)
        __atomic_store_n((uint64_t *)((char *)seg_chunk(shim_segment, index) + at), 0, __ATOMIC_RELAXED);
}

static bool open_chunk(struct lane *lane, unsigned call)
{
    struct seg_header *segment = shim_segment;
    struct seg_chunk_header *chunk;
    uint32_t index;
    if (atomic_load_explicit(&segment->stopped, memory_order_relaxed)) {
        lane->gap_pending = true; /* not lost: what came after --duration was not asked for */
        return false;
    }
    if (lane->number >= FP_LANES_MAX) {
        lane_lose(lane, call, FP_LOSS_RING_FULL);
        return false;
    }
    if (shim_process->lost_contact) {
        /* Only look, never wait, for a collector that was found dead. */
        if (lane_collector_is_gone()) {
            lane_lose(lane, call, FP_LOSS_COLLECTOR);
            return false;
        }
        shim_process->lost_contact = false;
    }
    if (!claim_chunk(lane, &index)) {
        const bool hopeless = lane->gave_up && atomic_load_explicit(&segment->starved, memory_order_relaxed);
        if (hopeless || segment->flags & SEG_FLAG_DROP) {
            lane_lose(lane, call, FP_LOSS_RING_FULL);
            return false;
        }
        if (!wait_for_chunk(lane, &index)) {
            shim_process->lost_contact = lane_collector_is_gone();
            lane_lose(lane, call, shim_process->lost_contact ? FP_LOSS_COLLECTOR : FP_LOSS_RING_FULL);
            return false;
        }
    }
    lane->gave_up = false;
    populate(index);
    chunk = seg_chunk(segment, index);
    chunk->sequence = lane->sequence++;
    chunk->serial = shim_process->slot->serial;
    chunk->lane = lane->number;
    chunk->thread_id = lane->thread_id;
    chunk->cut = lane->cut;
    atomic_store_explicit(&chunk->magic, SEG_CHUNK_MAGIC, memory_order_release);
    lane->chunk = index;
    lane->cursor = (uint64_t *)(chunk + 1);
    return true;
}

/* ---- stamps and slow records ------------------------------------------------------------------- */

static uint64_t read_clock(const struct seg_header *segment)
{
#if defined(__x86_64__)
    if (likely(segment->clock == SEG_CLOCK_TSC))
        return __rdtsc();
#endif
    if (likely(shim_next.clock_gettime != NULL)) {
        struct timespec now;
        const int saved = errno;
        const bool told = shim_next.clock_gettime(CLOCK_MONOTONIC, &now) == 0;
        errno = saved;
        if (told)
            return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    }
    return raw_now_ns();
}

uint64_t lane_clock(void)
{
    return read_clock(shim_segment);
}

/* One word after its successors are in place: whoever sees it sees the whole record. */
static void store_first(struct lane *lane, uint64_t word, uint32_t words)
{
    __atomic_store_n(lane->cursor, word, __ATOMIC_RELEASE);
    lane->cursor += words;
}

static void store_stamp(struct lane *lane, uint64_t epoch, uint64_t clock)
{
    __atomic_store_n(lane->cursor + 1, clock, __ATOMIC_RELAXED);
    store_first(lane, fp_record_epoch(FP_RECORD_STAMP, epoch), 2);
    lane->epoch = epoch;
}

/* docs/order.md, "Stepping": at most one step of the shared word per lane and bump_ticks, and none while the
 * process has a single thread. */
static void write_stamp(struct lane *lane)
{
    struct seg_header *segment = shim_segment;
    const uint64_t now = read_clock(segment);
    uint64_t epoch = atomic_load_explicit(lane->epoch_word, memory_order_acquire);
    if (atomic_load_explicit(&shim_process->slot->lane_count, memory_order_relaxed) > 1) {
        lane->group_mask = LANE_GROUP_MANY - 1;
        if (epoch == lane->seen_epoch && now - lane->seen_clock >= segment->bump_ticks) {
            epoch = atomic_fetch_add_explicit(lane->epoch_word, 1, memory_order_acq_rel) + 1;
            lane->seen_clock = now;
        } else if (epoch != lane->seen_epoch) {
            lane->seen_clock = now;
        }
        lane->seen_epoch = epoch;
    }
    store_stamp(lane, epoch, now);
}

/* --order stamps: the clock is the epoch. Read neither before what came before it on this processor nor after what
 * follows: lfence waits for all earlier instructions, and holds back later ones (Intel SDM vol. 2, LFENCE and
 * RDTSC; dispatch-serializing on AMD under Linux too). */
static uint64_t read_clock_in_order(void)
{
    uint64_t now;
#if defined(__x86_64__)
    _mm_lfence();
#endif
    now = read_clock(shim_segment);
#if defined(__x86_64__)
    _mm_lfence();
#endif
    return now;
}

static void store_long(struct lane *lane, unsigned call, uintptr_t address, uint64_t size, uint64_t extra)
{
    uint64_t *cursor = lane->cursor;
    if ((size | extra) >> 32 == 0) {
        __atomic_store_n(cursor + 1, size | extra << 32, __ATOMIC_RELAXED);
        store_first(lane, fp_record_first(FP_RECORD_LONG, call, address), 2);
        return;
    }
    __atomic_store_n(cursor + 1, size, __ATOMIC_RELAXED);
    __atomic_store_n(cursor + 2, extra, __ATOMIC_RELAXED);
    store_first(lane, fp_record_first(FP_RECORD_WIDE, call, address), 3);
}

/* A boundary is left behind: a chunk if need be, a stamp, and a gap where calls are missing before it.
 * clock     of --order stamps: the record's. */
static bool begin_group(struct lane *lane, unsigned call, uint64_t clock)
{
    if (((uintptr_t)lane->cursor & (SEG_CHUNK_BYTES - 1)) == 0) {
        lane_close_chunk(lane);
        if (!open_chunk(lane, call))
            return false;
    }
    if (unlikely(lane->group_mask == 0))
        store_stamp(lane, clock, clock);
    else
        write_stamp(lane);
    if (unlikely(lane->gap_pending)) {
        store_long(lane, FP_MARK_GAP, 0, lane->lost_pending, lane->gap_lost ? 0 : FP_GAP_PAUSE);
        lane->lost_pending = 0;
        lane->gap_pending = false;
        lane->gap_lost = false;
    }
    return true;
}

/* Words from the cursor to the next multiple of mask + 1. */
static uint32_t words_left(const struct lane *lane, uintptr_t mask)
{
    const uintptr_t past = (uintptr_t)lane->cursor & mask;
    return (uint32_t)((mask + 1 - past) / sizeof(uint64_t));
}

static void fill_up(struct lane *lane, uintptr_t mask)
{
    while (((uintptr_t)lane->cursor & mask) != 0)
        store_first(lane, fp_record_epoch(FP_RECORD_EPOCH, lane->epoch), 1);
}

#define RECORD_WORDS_MOST 3u

_Static_assert(LANE_GROUP_MANY / sizeof(uint64_t) >= 2 + 2 * RECORD_WORDS_MOST + 1,
               "a stamp, a gap, an epoch and a record fit one group");

/* The cut that a record of this epoch stands behind. The newest may be announced and not yet come to. */
static uint64_t cut_of(uint64_t epoch)
{
    const struct seg_slot *slot = shim_process->slot;
    /* acquire: the one before is stored first */
    const uint64_t cut = atomic_load_explicit(&slot->cut, memory_order_acquire);
    if (likely(epoch >= seg_cut_epoch(cut)))
        return cut;
    return atomic_load_explicit(&slot->cut_before, memory_order_relaxed);
}

/* Stand where a record of this epoch has to: behind a new cut begins another chunk.
 * Returns whether that may be recorded. */
static bool heed_cut(struct lane *lane, uint64_t epoch)
{
    const uint64_t cut = cut_of(epoch);
    if (unlikely(cut > lane->cut)) {
        lane_close_chunk(lane);
        lane->cut = cut;
    }
    if (likely(!(lane->cut & SEG_CUT_PAUSED)))
        return true;
    lane->gap_pending = true;
    return false;
}

/* --order stamps: a stamp of its own for each record. */
static bool make_stamped_room(struct lane *lane, unsigned call, uint32_t words)
{
    const uint64_t now = read_clock_in_order();
    if (!heed_cut(lane, now))
        return false;
    if (words_left(lane, SEG_CHUNK_BYTES - 1) < 2 + RECORD_WORDS_MOST + words)
        fill_up(lane, SEG_CHUNK_BYTES - 1);
    return begin_group(lane, call, now);
}

/* Make the cursor point at room for a record of so many words, with the epoch that it is to have before it. */
static bool make_room(struct lane *lane, unsigned call, uint32_t words)
{
    if (unlikely(lane->group_mask == 0))
        return make_stamped_room(lane, call, words);
    for (;;) {
        const uint64_t epoch = atomic_load_explicit(lane->epoch_word, memory_order_acquire);
        if (!heed_cut(lane, epoch))
            return false;
        if (lane_is_at_boundary(lane)) {
            if (!begin_group(lane, call, 0))
                return false;
            continue; /* that took time, and may have stepped the epoch: see whether a cut was passed */
        }
        if (words_left(lane, lane->group_mask) >= words + (epoch != lane->epoch)) {
            if (epoch != lane->epoch)
                store_first(lane, fp_record_epoch(FP_RECORD_EPOCH, epoch), 1);
            lane->epoch = epoch;
            return true;
        }
        fill_up(lane, lane->group_mask);
    }
}

__attribute__((noinline)) struct lane *lane_record_slow(struct lane *lane, unsigned call, uintptr_t address,
                                                        uint64_t size, uint64_t extra)
{
    const unsigned code = extra == fp_record_extra(call) && fp_record_is_short(address, size)
                              ? fp_record_code(call)
                              : 0;
    large_made(call, address, size, extra);
    if (unlikely(atomic_load_explicit(&lane->state, memory_order_relaxed) == LANE_FREE)) {
        /* Wiped: this is a forked child's first record. */
        lane_set_gate(lane, GATE_OPEN);
        lane = lane_attach();
        if (lane == NULL)
            return &lane_dummy;
    }
    lane_set_gate(lane, GATE_RECORD);
    if (code != 0) {
        if (make_room(lane, call, 1))
            store_first(lane, fp_record_short(code, address, size), 1);
    } else if (make_room(lane, call, (size | extra) >> 32 == 0 ? 2 : 3)) {
        store_long(lane, call, address, size, extra);
    }
    return lane;
}

void lane_write_mark(unsigned mark, uint64_t number)
{
    struct lane *lane = shim_lane;
    if (lane == NULL || lane_gate(lane) != GATE_OPEN)
        return;
    lane = lane_record(lane, mark, 0, number, 0);
    lane_set_gate(lane, GATE_OPEN);
}
