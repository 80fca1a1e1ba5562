/* collect_drain.c - chunks out of the segment, in each lane's order, into blocks.
 *
 * A lane's chunks wait in the segment itself until there are enough for a block of good compression, or some
 * seconds have passed; when free chunks run short, the longest queues go first. A chunk is zeroed before it is free again: a record is there when
 * its first word is not zero. */
#include "shim/collect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/raw.h"

#define GROW_LEAST      64u
#define WORDS_PER_CHUNK (SEG_CHUNK_BYTES / (uint32_t)sizeof(uint64_t))
#define WAITING_NS      UINT64_C(5000000000) /* for a block's worth of chunks; blocks of less compress less */

static struct fp_columns decoded;

static struct fp_columns *block_for_use(void)
{
    static bool ready;
    if (!ready)
        ready = fp_columns_init(&decoded);
    return ready ? &decoded : NULL;
}

/* ---- taking -------------------------------------------------------------------------------------- */

/* All of it is zeroed: behind its records a process that writes what it should not may have left something for the next. */
static void free_chunk(struct collector *collector, uint32_t index)
{
    memset(seg_chunk(&collector->segment.view, index), 0, SEG_CHUNK_BYTES);
    collector->segment.view.chunk_notes[index] = (struct seg_chunk_note){0};
    collector->taken[index] = 0;
    collector->freed++;
    collector->free_chunks++;
    /* release: the zeroes are in place before somebody claims it; pairs with claim_chunk's acquire */
    atomic_store_explicit(&collector->segment.view.states[index], SEG_CHUNK_FREE, memory_order_release);
}

static bool queue_insert(struct collect_lane *lane, uint32_t index, uint64_t sequence)
{
    size_t at = lane->queue_length;
    if (lane->queue_length == lane->queue_capacity) {
        const size_t capacity = lane->queue_capacity > 0 ? lane->queue_capacity * 2 : 32;
        struct taken_chunk *grown = realloc(lane->queue, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        lane->queue = grown;
        lane->queue_capacity = capacity;
    }
    while (at > 0 && lane->queue[at - 1].sequence > sequence) {
        lane->queue[at] = lane->queue[at - 1];
        at--;
    }
    lane->queue[at] = (struct taken_chunk){index, sequence};
    lane->queue_length++;
    return true;
}

/* Whether a slot is a process's of which there is no image yet, for want of memory: it is found again (image_discover). */
static bool waits_for_image(struct collector *collector, uint32_t slot)
{
    return slot < SEG_SLOT_COUNT && collect_image_in(collector, slot) == NULL &&
           (atomic_load_explicit(&collector->segment.view.slots[slot].state, memory_order_acquire) &
            0xffffffff) == SEG_SLOT_ATTACHED;
}

/* A chunk whose claimer died before its header was whole holds nothing. One that there is no memory for stays where it is,
 * so that the lane goes on behind it once there is some; `last`: nobody comes back, it is counted as lost.
 * Returns whether it was taken or freed. */
static bool take_chunk(struct collector *collector, uint32_t index, uint64_t word, bool last)
{
    const struct seg_chunk_header *chunk = seg_chunk(&collector->segment.view, index);
    struct seg_chunk_note *note = &collector->segment.view.chunk_notes[index];
    struct collect_image *image = collect_image_in(collector, seg_chunk_slot_of(word));
    struct collect_lane *lane;

    if (!last && waits_for_image(collector, seg_chunk_slot_of(word)))
        return false;
    if (image == NULL || atomic_load_explicit(&chunk->magic, memory_order_acquire) != SEG_CHUNK_MAGIC) {
        free_chunk(collector, index);
        return true;
    }
    lane = image_lane(image, seg_chunk_lane_of(word));
    /* Written already, when its collector died before it was freed: only a recovered segment has such. */
    if (lane != NULL && note->block != 0 && note->block <= lane->next_block) {
        if (note->rest == 0) {
            free_chunk(collector, index);
            return true;
        }
        note->split = note->rest;
    }
    if (lane == NULL || !queue_insert(lane, index, chunk->sequence)) {
        if (!last && seg_chunk_lane_of(word) < FP_LANES_MAX) /* of another number there is no lane ever */
            return false;
        image->lost[FP_LOSS_COLLECTOR] += chunk_calls(chunk, note->split);
        free_chunk(collector, index);
        return true;
    }
    if (lane->queue_length == 1)
        lane->waiting_ns = clock_monotonic_ns();
    lane->thread_id = chunk->thread_id;
    collector->taken[index] = 1;
    collector->taken_chunks++;
    return true;
}

uint32_t drain_scan(struct collector *collector)
{
    _Atomic uint64_t *states = collector->segment.view.states;
    const uint32_t ready = segment_ready(&collector->segment);
    uint32_t taken = 0;
    collector->free_chunks = 0;
    for (uint32_t index = 0; index < ready; index++) {
        uint64_t word;
        if (collector->taken[index])
            continue;
        word = atomic_load_explicit(&states[index], memory_order_acquire);
        if (word == SEG_CHUNK_FREE) {
            collector->free_chunks++;
        } else if (seg_chunk_state_of(word) == SEG_CHUNK_FULL) {
            /* Its process may have attached after our last look at the slots. */
            if (collect_image_in(collector, seg_chunk_slot_of(word)) == NULL)
                (void)image_discover(collector); /* found or not, as below */
            taken += take_chunk(collector, index, word, false);
        }
    }
    return taken;
}

/* ---- writing ------------------------------------------------------------------------------------------ */

/* Store a block that holds a chunk's records up to the word `next`. What the chunk's note says of that is true at every
 * moment at which we may be killed: with `rest` set, the block may stand in the file or not. */
static void store_up_to(struct collector *collector, struct collect_image *image, struct collect_lane *lane,
                        struct fp_columns *block, struct seg_chunk_note *note, uint32_t next)
{
    __atomic_store_n(&note->rest, next, __ATOMIC_RELEASE);
    image_store(collector, image, lane, block);
    __atomic_store_n(&note->split, next, __ATOMIC_RELEASE);
    __atomic_store_n(&note->block, lane->next_block + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&note->rest, 0, __ATOMIC_RELEASE);
}

/* A chunk as it is now, of ours alone: its writer may store in it, and so may any other process that should not. A record's
 * first word is stored last (release) and copied first (acquire): it is whole in the copy or not there. */
static const struct seg_chunk_header *copy_of(const struct seg_chunk_header *chunk)
{
    static uint64_t copy[WORDS_PER_CHUNK];
    const uint64_t *words = (const uint64_t *)chunk;
    for (uint32_t i = 0; i < WORDS_PER_CHUNK; i++)
        copy[i] = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
    return (const struct seg_chunk_header *)copy;
}

/* The records of a chunk's copy that were not read yet, into the block, and into the file where that is full.
 * Returns   the word behind them. */
static uint32_t read_chunk(struct collector *collector, struct collect_image *image,
                           struct collect_lane *lane, struct fp_columns *block, struct seg_chunk_note *note,
                           const struct seg_chunk_header *copy, uint64_t *damaged)
{
    uint32_t next = note->split < WORDS_PER_CHUNK ? (uint32_t)note->split : WORDS_PER_CHUNK;
    uint32_t at = WORDS_PER_CHUNK;
    if (collector->options.recover)
        decode_epoch(lane, copy, next);
    note->block = lane->next_block + 1;
    while ((next = decode_chunk(block, lane, &collector->clock, copy, next, damaged, &at)) != 0)
        store_up_to(collector, image, lane, block, note, next);
    return at;
}

/* One block of the lane's queue, of `most` chunks or less when some are missing in between. `all`: gaps do not stop
 * it, the writers are dead and nothing more will come; what there is no memory for is lost then. Returns chunks freed. */
static uint32_t write_block(struct collector *collector, struct collect_image *image,
                            struct collect_lane *lane, size_t most, bool all)
{
    const uint32_t room = reserve_block_chunks(collector);
    struct fp_columns *block = block_for_use();
    uint64_t damaged = 0;
    uint32_t done = 0;
    if (block == NULL && !all)
        return 0; /* no memory for it at the moment: the chunks keep it */
    while (done < lane->queue_length && done < room && done < most) {
        const struct taken_chunk *taken = &lane->queue[done];
        const struct seg_chunk_header *chunk = seg_chunk(&collector->segment.view, taken->index);
        struct seg_chunk_note *note = &collector->segment.view.chunk_notes[taken->index];
        if (taken->sequence != lane->next_chunk && !all)
            break;
        if (block != NULL)
            (void)read_chunk(collector, image, lane, block, note, copy_of(chunk), &damaged); /* all of it */
        else
            image->lost[FP_LOSS_COLLECTOR] += chunk_calls(copy_of(chunk), note->split);
        lane->next_chunk = taken->sequence + 1;
        done++;
    }
    if (block != NULL && block->mark_count > 0)
        image_store(collector, image, lane, block);
    if (block != NULL)
        fp_columns_clear(block); /* stamps without marks */
    /* Not before: what is freed and not written would be lost with us. */
    for (uint32_t i = 0; i < done; i++)
        free_chunk(collector, lane->queue[i].index);
    collector->taken_chunks -= done;
    memmove(lane->queue, lane->queue + done, (lane->queue_length - done) * sizeof *lane->queue);
    lane->queue_length -= done;
    lane->waiting_ns = clock_monotonic_ns();
    collect_beat(collector);
    image->lost[FP_LOSS_SPOILED] += damaged;
    return done;
}

static void wake_waiters(struct collector *collector)
{
    struct seg_header *segment = collector->segment.view.header;
    if (collector->freed == 0)
        return;
    collector->freed = 0;
    atomic_fetch_add_explicit(&segment->space, 1, memory_order_release);
    if (atomic_load_explicit(&collector->segment.view.shared->space_waiters, memory_order_relaxed) == 0)
        return; /* one that we just miss wakes up by itself after 2 ms */
    raw_futex_wake(&segment->space, 1 << 30);
}

/* The longest queue that can be written now, at least `least` chunks. */
static struct collect_lane *longest_queue(struct collector *collector, size_t least,
                                          struct collect_image **ret_image)
{
    struct collect_lane *longest = NULL;
    for (uint32_t slot = 0; slot < SEG_SLOT_COUNT; slot++) {
        struct collect_image *image = collect_image_in(collector, slot);
        if (image == NULL)
            continue;
        for (uint32_t i = 0; i < image->lane_count; i++) {
            struct collect_lane *lane = image->lanes[i];
            if (lane == NULL || lane->queue_length < least || lane->queue[0].sequence != lane->next_chunk)
                continue;
            if (longest != NULL && lane->queue_length <= longest->queue_length)
                continue;
            longest = lane;
            *ret_image = image;
        }
    }
    return longest;
}

/* More memory is put behind the pool when half of it is in use; blocks are cut short at three quarters. */
static bool is_below(const struct collector *collector, uint32_t part)
{
    const uint32_t ready = collector->segment.ready;
    return collector->free_chunks < ready / part;
}

uint32_t drain_blocks(struct collector *collector)
{
    uint32_t freed = 0;
    struct collect_image *image = NULL;
    struct collect_lane *lane;

    while (is_below(collector, 2)) {
        const uint32_t ready = collector->segment.ready;
        const uint32_t count = ready / 4 > GROW_LEAST ? ready / 4 : GROW_LEAST;
        if (!segment_grow(&collector->segment, count))
            break;
        collector->free_chunks += collector->segment.ready - ready;
        atomic_fetch_add_explicit(&collector->segment.view.header->space, 1, memory_order_release);
        collector->freed++; /* new room is told like freed room */
    }
    wake_waiters(collector);
    /* As many lanes as chunks, each with a little in its own: nothing here to free, and they need not go on. */
    atomic_store_explicit(&collector->segment.view.header->starved,
                          collector->free_chunks == 0 && collector->taken_chunks == 0, memory_order_relaxed);
    if (collector->taken_chunks == 0)
        return 0;
    while ((lane = longest_queue(collector, is_below(collector, 4) ? 1 : COLLECT_CHUNKS_PER_BLOCK, &image)) !=
           NULL) {
        const uint32_t written = write_block(collector, image, lane, COLLECT_CHUNKS_PER_BLOCK, false);
        freed += written;
        wake_waiters(collector);
        if (written == 0 || freed >= 4 * COLLECT_CHUNKS_PER_BLOCK)
            break; /* look around: new chunks, ends, the heartbeat */
    }
    return freed;
}

void drain_waiting(struct collector *collector)
{
    const uint64_t now = clock_monotonic_ns();
    for (uint32_t slot = 0; slot < SEG_SLOT_COUNT; slot++) {
        struct collect_image *image = collect_image_in(collector, slot);
        for (uint32_t i = 0; image != NULL && i < image->lane_count; i++) {
            struct collect_lane *lane = image->lanes[i];
            if (lane != NULL && lane->queue_length > 0 && lane->queue[0].sequence == lane->next_chunk &&
                now - lane->waiting_ns >= WAITING_NS)
                (void)write_block(collector, image, lane, COLLECT_CHUNKS_PER_BLOCK,
                                  false); /* the waiters are told in drain_blocks */
        }
    }
}

/* ---- what stands so far ---------------------------------------------------------------------------------- */

/* The records in a chunk that its writer still has, and may be writing to. */
static void read_open_chunk(struct collector *collector, struct collect_image *image, uint32_t index,
                            uint32_t lane_number)
{
    const struct seg_chunk_header *chunk = copy_of(seg_chunk(&collector->segment.view, index));
    struct seg_chunk_note *note = &collector->segment.view.chunk_notes[index];
    struct fp_columns *block = block_for_use();
    struct collect_lane *lane = image_lane(image, lane_number);
    uint64_t damaged = 0;
    uint32_t at;
    if (block == NULL || lane == NULL || lane->queue_length > 0 || chunk->sequence != lane->next_chunk)
        return; /* not its turn: what goes before it is on its way */
    lane->thread_id = chunk->thread_id;
    at = read_chunk(collector, image, lane, block, note, chunk, &damaged);
    if (block->mark_count > 0)
        store_up_to(collector, image, lane, block, note, at);
    fp_columns_clear(block); /* stamps without marks: they are read again with what follows */
    image->lost[FP_LOSS_SPOILED] += damaged;
}

static uint64_t newest_cut(const struct collector *collector, const struct collect_image *image)
{
    const struct seg_slot_note *note = &collector->segment.view.slot_notes[image->slot];
    return atomic_load_explicit(&note->cut, memory_order_relaxed);
}

/* Open chunks, all or those begun before the newest cut. */
static void read_open_chunks(struct collector *collector, struct collect_image *image, bool all)
{
    _Atomic uint64_t *states = collector->segment.view.states;
    const uint32_t ready = segment_ready(&collector->segment);
    const uint64_t cut = newest_cut(collector, image);
    for (uint32_t index = 0; index < ready; index++) {
        const uint64_t word = atomic_load_explicit(&states[index], memory_order_acquire);
        struct seg_chunk_header *chunk = seg_chunk(&collector->segment.view, index);
        if (seg_chunk_state_of(word) != SEG_CHUNK_OPEN || collector->taken[index] ||
            seg_chunk_slot_of(word) != image->slot ||
            atomic_load_explicit(&chunk->magic, memory_order_acquire) != SEG_CHUNK_MAGIC)
            continue;
        if (all || chunk->cut < cut)
            read_open_chunk(collector, image, index, seg_chunk_lane_of(word));
    }
}

/* Chunks at the head of a queue that were begun before the newest cut. */
static size_t chunks_before(const struct collector *collector, const struct collect_image *image,
                            const struct collect_lane *lane)
{
    const uint64_t cut = newest_cut(collector, image);
    size_t count = 0;
    while (count < lane->queue_length &&
           seg_chunk(&collector->segment.view, lane->queue[count].index)->cut < cut)
        count++;
    return count;
}

static void write_queues(struct collector *collector, struct collect_image *image, bool all)
{
    for (uint32_t i = 0; i < image->lane_count; i++) {
        struct collect_lane *lane = image->lanes[i];
        size_t left = lane == NULL ? 0 : all ? lane->queue_length : chunks_before(collector, image, lane);
        uint32_t written = 1;
        while (left > 0 && written > 0) {
            written = write_block(collector, image, lane, left, false);
            left -= written;
        }
    }
    wake_waiters(collector);
}

void drain_cut(struct collector *collector, struct collect_image *image)
{
    write_queues(collector, image, false);
    read_open_chunks(collector, image, false);
}

void drain_present(struct collector *collector)
{
    image_discover_all(collector); /* some may have come since this round began */
    /* Twice: a lane may close one chunk behind our back, and fill the next in front of us. */
    (void)drain_scan(collector);
    (void)drain_scan(collector);
    for (uint32_t slot = 0; slot < SEG_SLOT_COUNT; slot++) {
        struct collect_image *image = collect_image_in(collector, slot);
        if (image == NULL)
            continue;
        write_queues(collector, image, true);
        read_open_chunks(collector, image, true);
    }
}

/* ---- ends -------------------------------------------------------------------------------------------------- */

void drain_image(struct collector *collector, struct collect_image *image)
{
    _Atomic uint64_t *states = collector->segment.view.states;
    const uint32_t ready = segment_ready(&collector->segment);
    for (uint32_t index = 0; index < ready; index++) {
        const uint64_t word = atomic_load_explicit(&states[index], memory_order_acquire);
        if (word != SEG_CHUNK_FREE && !collector->taken[index] && seg_chunk_slot_of(word) == image->slot)
            (void)take_chunk(collector, index, word, true); /* taken or counted */
    }
    for (uint32_t i = 0; i < image->lane_count; i++)
        while (image->lanes[i] != NULL && image->lanes[i]->queue_length > 0)
            (void)write_block(collector, image, image->lanes[i], COLLECT_CHUNKS_PER_BLOCK,
                              true); /* wakes are told below */
    wake_waiters(collector);
}

void drain_dead_threads(struct collector *collector)
{
    _Atomic uint64_t *states = collector->segment.view.states;
    const uint32_t ready = segment_ready(&collector->segment);
    for (uint32_t index = 0; index < ready; index++) {
        const uint64_t word = atomic_load_explicit(&states[index], memory_order_acquire);
        const struct seg_chunk_header *chunk = seg_chunk(&collector->segment.view, index);
        const struct collect_image *image = collect_image_in(collector, seg_chunk_slot_of(word));
        char path[64];
        if (collector->taken[index] || seg_chunk_state_of(word) != SEG_CHUNK_OPEN || image == NULL ||
            !image->confirmed || image->foreign ||
            atomic_load_explicit(&chunk->magic, memory_order_acquire) != SEG_CHUNK_MAGIC ||
            chunk->thread_id == 0) /* of a confined process where libc does not tell it */
            continue; /* thread ids mean something only in a process that was found under its own id */
        (void)snprintf(path, sizeof path, "/proc/%u/task/%u", image->pid, chunk->thread_id); /* fits */
        if (access(path, F_OK) == 0)
            continue;
        (void)snprintf(path, sizeof path, "/proc/%u/task/%u", image->pid, image->pid);
        if (access(path, F_OK) == 0)
            (void)take_chunk(collector, index, word, false); /* else in the next round */
    }
}
