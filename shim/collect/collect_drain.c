/* collect_drain.c - chunks out of the segment, in each lane's order, into blocks.
 *
 * A lane's chunks wait in the segment itself until there are enough for a block of good compression, or some
 * seconds have passed; when free chunks run short, the longest queues go first. A chunk is zeroed before it is free again: a record is there when
 * its first word is not zero. */
#include "shim/collect/collect.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/shared/raw.h"

#define GROW_LEAST      64u
#define WORDS_PER_CHUNK (SEG_CHUNK_BYTES / (uint32_t)sizeof(uint64_t))
#define HUNGRY_LOOK_NS  UINT64_C(20000000) /* between looks for dead threads while no chunk is free */
#define STARVED_NS                                                                                           \
    UINT64_C(100000000) /* so long the threads that have chunks are given to fill them, or to end */
#define MISSING_SCANS 3u
#define STUCK_NS      UINT64_C(50000000)   /* many rounds: what is only late has come by then */
#define WAITING_NS    UINT64_C(5000000000) /* for a block's worth of chunks; blocks of less compress less */

static struct fp_columns decoded;

static struct fp_columns *block_for_use(void)
{
    static bool ready;
    if (!ready)
        ready = fp_columns_init(&decoded);
    return ready ? &decoded : NULL;
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

/* ---- taking -------------------------------------------------------------------------------------- */

/* All of it is zeroed: behind its records a process that writes what it should not may have left something for the next. */
static void free_chunk(struct collector *collector, uint32_t index)
{
    memset(seg_chunk(&collector->segment.view, index), 0, SEG_CHUNK_BYTES);
    collector->segment.view.chunk_notes[index] = (struct seg_chunk_note){0};
    collector->freed++;
    collector->free_chunks++;
    /* release: the zeroes are in place before somebody claims it; pairs with claim_chunk's acquire */
    atomic_store_explicit(&collector->segment.view.states[index], SEG_CHUNK_FREE, memory_order_release);
}

/* Whether a slot is a process's of which there is no image yet, for want of memory: it is found again (image_discover). */
static bool waits_for_image(struct collector *collector, uint32_t slot)
{
    return slot < SEG_SLOT_COUNT && collect_image_in(collector, slot) == NULL &&
           (atomic_load_explicit(&collector->segment.view.slots[slot].state, memory_order_acquire) &
            0xffffffff) == SEG_SLOT_ATTACHED;
}

/* Of a recovered segment: whether the chunk was written already, when its collector died before it was freed. Else `split` is where
 * what was not written begins. */
static bool was_written(struct collect_image *image, const struct seg_chunk_header *chunk,
                        struct seg_chunk_note *note)
{
    const uint64_t split = note->split < WORDS_PER_CHUNK ? note->split : WORDS_PER_CHUNK;
    uint64_t epoch = 0;
    const struct decode_thread thread = decode_skip(chunk, (uint32_t)split, &epoch);
    struct collect_lane *lane = image_lane(image, thread.lane);
    if (lane == NULL || note->block == 0 || note->block > lane->next_block)
        return false;
    lane->thread_id = thread.thread_id;
    note->split = note->rest;
    return note->rest == 0;
}

/* Whether a chunk that goes to a stream at that place is one that a process of ours would send. */
static bool is_next(const struct collector *collector, const struct collect_stream *stream, uint64_t sequence)
{
    /* A stream has no more chunks than there are; of a recovered one it is not known where it stood. */
    return sequence >= stream->next_chunk &&
           (collector->options.recover ||
            sequence - stream->next_chunk < collector->segment.view.fixed.chunk_count);
}

/* Of no use to anybody: its calls are lost. */
static void give_up_chunk(struct collector *collector, struct collect_image *image, uint32_t index,
                          enum fp_loss cause)
{
    const struct seg_chunk_header *copy = copy_of(seg_chunk(&collector->segment.view, index));
    image->lost[cause] += chunk_calls(copy, collector->segment.view.chunk_notes[index].split);
    free_chunk(collector, index);
}

/* A chunk whose claimer died before its header was whole holds nothing. One that there is no memory for stays where it is,
 * so that the stream goes on behind it once there is some; `last`: nobody comes back, it is counted as lost.
 * Returns whether it was taken or freed. */
static bool take_chunk(struct collector *collector, uint32_t index, uint64_t word, bool last)
{
    const struct seg_chunk_header *chunk = seg_chunk(&collector->segment.view, index);
    struct seg_chunk_note *note = &collector->segment.view.chunk_notes[index];
    struct collect_image *image = collect_image_in(collector, seg_chunk_slot_of(word));
    struct seg_chunk_header header;
    struct collect_stream *stream;

    if (!last && waits_for_image(collector, seg_chunk_slot_of(word)))
        return false;
    if (image == NULL && !collector->options.recover)
        collector->spoiled += chunk_calls(copy_of(chunk), note->split); /* of a slot that nobody has */
    if (image == NULL || atomic_load_explicit(&chunk->magic, memory_order_acquire) != SEG_CHUNK_MAGIC ||
        (collector->options.recover && was_written(image, copy_of(chunk), note))) {
        free_chunk(collector, index);
        return true;
    }
    memcpy(&header, chunk, sizeof header); /* once: it may change at any moment */
    if (header.serial != image->serial || seg_chunk_stream_of(word) >= FP_LANES_MAX) {
        give_up_chunk(collector, image, index, FP_LOSS_SPOILED);
        return true;
    }
    stream = image_stream(image, seg_chunk_stream_of(word));
    if (stream == NULL && !last)
        return false;
    if (stream == NULL || !is_next(collector, stream, header.sequence)) {
        give_up_chunk(collector, image, index, stream == NULL ? FP_LOSS_COLLECTOR : FP_LOSS_SPOILED);
        return true;
    }
    if (stream->queue_length == 0)
        stream->waiting_ns = clock_monotonic_ns();
    queue_insert(collector, stream, index, header.sequence, seg_chunk_state_of(word) != SEG_CHUNK_FULL);
    return true;
}

/* Whether a chunk's state word is one that no process of ours writes, or whose process is gone without an image. */
static bool is_nobodys(struct collector *collector, uint64_t word)
{
    const uint32_t slot = seg_chunk_slot_of(word);
    uint64_t state;
    if (seg_chunk_state_of(word) > SEG_CHUNK_LEFT || seg_chunk_state_of(word) == SEG_CHUNK_FREE ||
        slot >= SEG_SLOT_COUNT)
        return true;
    /* Who claims a chunk has attached before. */
    state = atomic_load_explicit(&collector->segment.view.slots[slot].state, memory_order_acquire) &
            0xffffffff;
    return collect_image_in(collector, slot) == NULL && state != SEG_SLOT_ATTACHED &&
           state != SEG_SLOT_ATTACHING;
}

uint32_t drain_scan(struct collector *collector)
{
    _Atomic uint64_t *states = collector->segment.view.states;
    const uint32_t ready = segment_ready(&collector->segment);
    uint32_t taken = 0;
    collector->free_chunks = 0;
    for (uint32_t index = 0; index < ready; index++) {
        uint64_t word;
        if (collector->chunks[index].taken)
            continue;
        word = atomic_load_explicit(&states[index], memory_order_acquire);
        if (word == SEG_CHUNK_FREE) {
            collector->free_chunks++;
        } else if (seg_chunk_state_of(word) == SEG_CHUNK_FULL) {
            /* Its process may have attached after our last look at the slots. */
            if (collect_image_in(collector, seg_chunk_slot_of(word)) == NULL)
                (void)image_discover(collector); /* found or not, as below */
            /* That may have finished images, and this chunk may be another's by now: the next scan finds it. */
            if (collector->chunks[index].taken ||
                atomic_load_explicit(&states[index], memory_order_acquire) != word)
                continue;
            taken += take_chunk(collector, index, word, false);
        } else if (is_nobodys(collector, word)) {
            free_chunk(collector, index);
            collector->spoiled++;
        }
    }
    return taken;
}

/* ---- writing ------------------------------------------------------------------------------------------ */

static void store_block(struct collector *collector, struct collect_stream *stream, struct fp_columns *block)
{
    if (block->mark_count > 0)
        image_store(collector, stream->image, stream->lane, block);
    fp_columns_clear(block); /* stamps without marks */
}

/* Store a block that holds a chunk's records up to the word `next`, from which on they are another lane's, or the same's. What the chunk's
 * note says of that is true at every moment at which we may be killed: with `rest` set, the block may stand in the file or not. */
static void store_up_to(struct collector *collector, struct collect_stream *stream, struct fp_columns *block,
                        struct seg_chunk_note *note, uint32_t next, struct collect_lane *behind)
{
    __atomic_store_n(&note->rest, next, __ATOMIC_RELEASE);
    store_block(collector, stream, block);
    stream->lane = behind;
    __atomic_store_n(&note->split, next, __ATOMIC_RELEASE);
    __atomic_store_n(&note->block, behind->next_block + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&note->rest, 0, __ATOMIC_RELEASE);
}

/* The lane that a thread's records go into. NULL: there is no memory for it, or can be none of that number. */
static struct collect_lane *lane_of(struct collect_image *image, const struct decode_thread *thread)
{
    struct collect_lane *lane = image_lane(image, thread->lane);
    if (lane != NULL)
        lane->thread_id = thread->thread_id;
    return lane;
}

/* Stand where a chunk is to be read from: its beginning, or behind what was read of it before. */
static bool enter_chunk(struct collector *collector, struct collect_stream *stream, struct fp_columns *block,
                        const struct seg_chunk_header *source, uint32_t next)
{
    struct decode_thread thread = {source->lane, source->thread_id};
    struct collect_lane *lane;
    if (next != 0 && !collector->options.recover)
        return stream->lane != NULL;
    if (collector->options.recover)
        thread = decode_skip(source, next, &stream->epoch);
    lane = lane_of(stream->image, &thread);
    if (lane != stream->lane)
        store_block(collector, stream, block); /* what is of the thread before, all of it in chunks before */
    stream->lane = lane;
    return lane != NULL;
}

/* The records of a chunk's copy that were not read yet, into the block, and into the file where that is full, or another thread's
 * begin. Returns the word behind them. */
static uint32_t read_chunk(struct collector *collector, struct collect_stream *stream,
                           struct fp_columns *block, struct seg_chunk_note *note,
                           const struct seg_chunk_header *copy, uint64_t *damaged)
{
    uint32_t next = note->split < WORDS_PER_CHUNK ? (uint32_t)note->split : WORDS_PER_CHUNK;
    uint32_t at = WORDS_PER_CHUNK;
    bool known = enter_chunk(collector, stream, block, copy, next);
    if (known)
        note->block = stream->lane->next_block + 1;
    while (known && (next = decode_chunk(block, stream, &collector->clock, copy, next, damaged, &at)) != 0) {
        struct decode_thread thread;
        struct collect_lane *behind = stream->lane;
        if (decode_thread_at(copy, next, &thread))
            behind = lane_of(stream->image, &thread);
        known = behind != NULL;
        if (known)
            store_up_to(collector, stream, block, note, next, behind);
    }
    if (known)
        return at;
    /* Without memory for it: what is read already goes into the file, the rest is lost. */
    store_block(collector, stream, block);
    note->split = next;
    stream->image->lost[FP_LOSS_COLLECTOR] += chunk_calls(copy, next);
    return WORDS_PER_CHUNK;
}

/* A block's worth of a stream's queue, of `most` chunks or less when some are missing in between; a block for each thread that has records
 * there. `all`: gaps do not stop it, the writers are dead and nothing more will come; what there is no memory for is lost then.
 * Returns chunks freed. */
static uint32_t write_block(struct collector *collector, struct collect_stream *stream, uint32_t most,
                            bool all)
{
    const uint32_t room = reserve_block_chunks(collector);
    const struct taken_chunk *chunks = collector->chunks;
    struct fp_columns *block = block_for_use();
    uint32_t indexes[COLLECT_CHUNKS_PER_BLOCK];
    uint64_t damaged = 0;
    uint32_t done = 0;
    if (block == NULL && !all)
        return 0; /* no memory for it at the moment: the chunks keep it */
    for (uint32_t at = stream->queue_first; at != 0 && done < room && done < most; at = chunks[at - 1].next) {
        const struct seg_chunk_header *chunk = seg_chunk(&collector->segment.view, at - 1);
        struct seg_chunk_note *note = &collector->segment.view.chunk_notes[at - 1];
        if (chunks[at - 1].sequence != stream->next_chunk && !all)
            break;
        indexes[done++] = at - 1;
        if (block != NULL)
            (void)read_chunk(collector, stream, block, note, copy_of(chunk), &damaged); /* all of it */
        else
            stream->image->lost[FP_LOSS_COLLECTOR] += chunk_calls(copy_of(chunk), note->split);
        stream->next_chunk = chunks[at - 1].sequence + 1;
    }
    if (block != NULL)
        store_block(collector, stream, block);
    /* Not before: what is freed and not written would be lost with us. */
    queue_drop(collector, stream, done);
    for (uint32_t i = 0; i < done; i++)
        free_chunk(collector, indexes[i]);
    stream->waiting_ns = clock_monotonic_ns();
    collect_beat(collector);
    stream->image->lost[FP_LOSS_SPOILED] += damaged;
    return done;
}

static void wake_waiters(struct collector *collector)
{
    struct seg_header *segment = collector->segment.view.header;
    const uint32_t freed = collector->freed;
    if (freed == 0)
        return;
    collector->freed = 0;
    atomic_fetch_add_explicit(&segment->space, 1, memory_order_release);
    if (atomic_load_explicit(&collector->segment.view.shared->space_waiters, memory_order_relaxed) == 0)
        return; /* one that we just miss wakes up by itself after 2 ms */
    /* As many as there is room for: of thousands that wait, all would look and most sleep again. */
    raw_futex_wake(&segment->space, (int)freed);
}

/* More memory is put behind the pool when half of it is in use; blocks are cut short at three quarters. */
static bool is_below(const struct collector *collector, uint32_t part)
{
    const uint32_t ready = collector->segment.ready;
    return collector->free_chunks < ready / part;
}

static void grow_pool(struct collector *collector)
{
    while (is_below(collector, 2)) {
        const uint32_t ready = collector->segment.ready;
        const uint32_t count = ready / 4 > GROW_LEAST ? ready / 4 : GROW_LEAST;
        if (!segment_grow(&collector->segment, count))
            break;
        collector->free_chunks += collector->segment.ready - ready;
        collector->freed += collector->segment.ready - ready; /* new room is told like freed room */
    }
}

/* All chunks open, each with a little in its own: nothing here to free. Where threads ended without a word, theirs are taken; where
 * all live, and none has filled or left its chunk for STARVED_NS, those that wait need not go on. */
static void look_for_starvation(struct collector *collector)
{
    const uint64_t now = clock_monotonic_ns();
    const bool none = collector->free_chunks == 0 && collector->taken_chunks == 0;
    if (!none)
        collector->starved_ns = 0;
    else if (collector->starved_ns == 0)
        collector->starved_ns = now;
    if (none && now - collector->threads_ns >= HUNGRY_LOOK_NS)
        drain_dead_threads(collector);
    atomic_store_explicit(&collector->segment.view.header->starved,
                          none && now - collector->starved_ns >= STARVED_NS, memory_order_relaxed);
}

/* A scan may pass by a chunk, and find the one that was filled after it: the next scan finds both, however long one takes. */
static bool is_missing_for_long(struct collect_stream *stream)
{
    if (stream->missing != stream->next_chunk + 1) {
        stream->missing = stream->next_chunk + 1;
        stream->missing_scans = 0;
    }
    return ++stream->missing_scans >= MISSING_SCANS;
}

/* A chunk that somebody wrote over never comes, and those behind it in its stream wait. When all of the pool waits so, which
 * would stop every program, what is there is written; what is missing counts as one call, as nobody knows how many it was. */
static void skip_missing(struct collector *collector)
{
    const uint64_t now = clock_monotonic_ns();
    if (collector->free_chunks > 0 || collector->taken_chunks == 0 || queue_longest(collector, 1) != NULL) {
        collector->stuck_ns = 0;
        return;
    }
    if (collector->stuck_ns == 0)
        collector->stuck_ns = now;
    if (now - collector->stuck_ns < STUCK_NS)
        return;
    for (uint32_t slot = 0; slot < SEG_SLOT_COUNT; slot++) {
        struct collect_image *image = collect_image_in(collector, slot);
        for (uint32_t i = 0; image != NULL && i < image->streams.count; i++) {
            struct collect_stream *stream = image->streams.items[i];
            if (stream->queue_length > 0 && is_missing_for_long(stream)) {
                image->lost[FP_LOSS_SPOILED]++;
                queue_skip(collector, stream);
            }
        }
    }
}

uint32_t drain_blocks(struct collector *collector)
{
    uint32_t freed = 0;
    struct collect_stream *stream;

    grow_pool(collector);
    wake_waiters(collector);
    look_for_starvation(collector);
    skip_missing(collector);
    while ((stream = queue_longest(collector, is_below(collector, 4) ? 1 : COLLECT_CHUNKS_PER_BLOCK)) !=
           NULL) {
        const uint32_t written = write_block(collector, stream, COLLECT_CHUNKS_PER_BLOCK, false);
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
    for (uint32_t i = 0; i < COLLECT_CHUNKS_PER_BLOCK; i++) {
        struct collect_stream *next;
        for (struct collect_stream *stream = collector->waiting[i].first; stream != NULL; stream = next) {
            next = stream->behind;
            if (now - stream->waiting_ns >= WAITING_NS)
                (void)write_block(collector, stream, COLLECT_CHUNKS_PER_BLOCK,
                                  false); /* the waiters are told in drain_blocks */
        }
    }
}

/* ---- what stands so far ---------------------------------------------------------------------------------- */

/* The records in a chunk that its writer still has, and may be writing to. */
static void read_open_chunk(struct collector *collector, struct collect_image *image, uint32_t index,
                            uint32_t stream_number)
{
    const struct seg_chunk_header *copy = copy_of(seg_chunk(&collector->segment.view, index));
    struct seg_chunk_note *note = &collector->segment.view.chunk_notes[index];
    struct fp_columns *block = block_for_use();
    struct collect_stream *stream = image_stream(image, stream_number);
    uint64_t damaged = 0;
    uint32_t at;
    if (block == NULL || stream == NULL || stream->queue_length > 0 || copy->sequence != stream->next_chunk)
        return; /* not its turn: what goes before it is on its way */
    at = read_chunk(collector, stream, block, note, copy, &damaged);
    if (block->mark_count > 0)
        store_up_to(collector, stream, block, note, at, stream->lane);
    fp_columns_clear(block); /* stamps without marks: they are read again with what follows */
    image->lost[FP_LOSS_SPOILED] += damaged;
}

static uint64_t newest_cut(const struct collector *collector, const struct collect_image *image)
{
    return atomic_load_explicit(&collector->segment.view.slot_notes[image->slot].cut, memory_order_relaxed);
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
        if ((seg_chunk_state_of(word) != SEG_CHUNK_OPEN && seg_chunk_state_of(word) != SEG_CHUNK_LEFT) ||
            collector->chunks[index].taken || seg_chunk_slot_of(word) != image->slot ||
            atomic_load_explicit(&chunk->magic, memory_order_acquire) != SEG_CHUNK_MAGIC)
            continue;
        if (all || chunk->cut < cut)
            read_open_chunk(collector, image, index, seg_chunk_stream_of(word));
    }
}

/* Chunks at the head of a queue that were begun before the newest cut. */
static uint32_t chunks_before(const struct collector *collector, const struct collect_stream *stream)
{
    const uint64_t cut = newest_cut(collector, stream->image);
    uint32_t count = 0;
    for (uint32_t at = stream->queue_first; at != 0 && seg_chunk(&collector->segment.view, at - 1)->cut < cut;
         at = collector->chunks[at - 1].next)
        count++;
    return count;
}

static void write_queues(struct collector *collector, struct collect_image *image, bool all)
{
    for (uint32_t i = 0; i < image->streams.count; i++) {
        struct collect_stream *stream = image->streams.items[i];
        uint32_t left = stream == NULL ? 0 : all ? stream->queue_length : chunks_before(collector, stream);
        uint32_t written = 1;
        while (left > 0 && written > 0) {
            written = write_block(collector, stream, left, false);
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
    const uint32_t ready = segment_ready_all(&collector->segment);
    for (uint32_t index = 0; index < ready; index++) {
        const uint64_t word = atomic_load_explicit(&states[index], memory_order_acquire);
        if (word != SEG_CHUNK_FREE && !collector->chunks[index].taken &&
            seg_chunk_slot_of(word) == image->slot)
            (void)take_chunk(collector, index, word, true); /* taken or counted */
    }
    for (uint32_t i = 0; i < image->streams.count; i++) {
        struct collect_stream *stream = image->streams.items[i];
        while (stream->queue_length > 0)
            (void)write_block(collector, stream, COLLECT_CHUNKS_PER_BLOCK, true); /* wakes are told below */
    }
    wake_waiters(collector);
}

/* Whether a thread of an image is gone for good. A process that could not be found under its own id has thread ids that mean
 * nothing here; of a thread of another user we are told that it is there. Signal 0 is none. */
static bool thread_is_gone(const struct collect_image *image, uint32_t thread_id)
{
    return image->confirmed && !image->foreign &&
           syscall(SYS_tgkill, (pid_t)image->pid, (pid_t)thread_id, 0) != 0 && errno == ESRCH;
}

/* A chunk that was left may be inherited just now: whoever changes its word, which has the thread's id, has the chunk. */
static bool take_abandoned(struct collector *collector, uint32_t index, uint64_t word)
{
    const uint32_t slot = seg_chunk_slot_of(word);
    const struct seg_chunk_header *chunk = seg_chunk(&collector->segment.view, index);
    const struct collect_image *image = collect_image_in(collector, slot);
    return image != NULL && thread_is_gone(image, seg_chunk_thread_of(word)) &&
           atomic_load_explicit(&chunk->magic, memory_order_acquire) == SEG_CHUNK_MAGIC &&
           atomic_compare_exchange_strong_explicit(
               &collector->segment.view.states[index], &word,
               seg_chunk_word(SEG_CHUNK_FULL, slot, seg_chunk_stream_of(word), 0), memory_order_acquire,
               memory_order_relaxed);
}

void drain_dead_threads(struct collector *collector)
{
    _Atomic uint64_t *states = collector->segment.view.states;
    const uint32_t ready = segment_ready(&collector->segment);
    collector->threads_ns = clock_monotonic_ns();
    for (uint32_t index = 0; index < ready; index++) {
        const uint64_t word = atomic_load_explicit(&states[index], memory_order_acquire);
        const enum seg_chunk_state state = seg_chunk_state_of(word);
        if (!collector->chunks[index].taken && (state == SEG_CHUNK_OPEN || state == SEG_CHUNK_LEFT) &&
            take_abandoned(collector, index, word))
            (void)take_chunk(collector, index, word, false); /* else in the next round: it is full now */
    }
}
