/* drain.c - blocks written from the queues, and more memory asked for in time. */

#include "collect/steps.h"
#include "shim/shared/raw.h"

#define GROW_LEAST     64u
#define HUNGRY_LOOK_NS UINT64_C(20000000)  /* between looks for dead threads while no chunk is free */
#define STARVED_NS     UINT64_C(100000000) /* for threads that have chunks to fill them, or to end */
#define MISSING_SCANS  3u
#define STUCK_NS       UINT64_C(50000000)   /* many rounds: what is only late has come by then */
#define WAITING_NS     UINT64_C(5000000000) /* for a block's worth of chunks; blocks of less compress less */

static struct fp_columns decoded;

static struct fp_columns *block_for_use(void)
{
    static bool ready;
    if (!ready)
        ready = fp_columns_init(&decoded);
    return ready ? &decoded : NULL;
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
    (void)stacks_decoder(collector, stream); /* without memory its allocations have no sites */
    if (next != 0 && !collector->options.recover)
        return stream->lane != NULL;
    if (collector->options.recover)
        thread = decode_skip(source, next, stream->sites, &stream->epoch);
    struct collect_lane *lane = lane_of(stream->image, &thread);
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
    uint32_t next = note->split < SEG_CHUNK_WORDS ? (uint32_t)note->split : SEG_CHUNK_WORDS;
    uint32_t at = SEG_CHUNK_WORDS;
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
    stream->image->lost[FP_LOSS_COLLECTOR] += decode_calls(copy, next);
    return SEG_CHUNK_WORDS;
}

/* A block's worth of a stream's queue, of `most` chunks or less when some are missing in between; a block for each thread that has records
 * there. `all`: gaps do not stop it, the writers are dead and nothing more will come; what there is no memory for is lost then.
 * Returns chunks freed. */
static uint32_t write_block(struct collector *collector, struct collect_stream *stream, uint32_t most,
                            bool all)
{
    const uint32_t room = reserve_block_chunks(collector);
    struct collect_segment *segment = stream->image->segment;
    const struct taken_chunk *chunks = segment->chunks;
    struct fp_columns *block = block_for_use();
    uint32_t indexes[COLLECT_CHUNKS_MOST];
    uint64_t damaged = 0;
    uint32_t done = 0;
    if (block == NULL && !all)
        return 0; /* no memory for it at the moment: the chunks keep it */
    for (uint32_t at = stream->queue_first; at != 0 && done < room && done < most; at = chunks[at - 1].next) {
        struct seg_chunk_note *note = &segment->view.chunk_notes[at - 1];
        if (chunks[at - 1].sequence != stream->next_chunk && !all)
            break;
        if (block != NULL && block->mark_count > FP_BLOCK_MARKS_MAX - SEG_CHUNK_WORDS)
            break; /* it might not fit as a whole */
        indexes[done++] = at - 1;
        const struct seg_chunk_header *copy = take_copy(segment, at - 1);
        if (block != NULL &&
            read_chunk(collector, stream, block, note, copy, &damaged) < chunks[at - 1].words)
            damaged++; /* something took the rest out of it */
        if (block == NULL)
            stream->image->lost[FP_LOSS_COLLECTOR] += decode_calls(copy, note->split);
        stream->next_chunk = chunks[at - 1].sequence + 1;
    }
    if (block != NULL)
        store_block(collector, stream, block);
    /* The chunks are freed only now: one that is freed and not written would be lost with us. */
    queue_drop(stream, done);
    for (uint32_t i = 0; i < done; i++)
        take_free(segment, indexes[i]);
    stream->waiting_ns = fp_now_ns();
    collect_beat(collector);
    stream->image->lost[FP_LOSS_SPOILED] += damaged;
    return done;
}

static void wake_waiters(struct collect_segment *segment)
{
    struct seg_header *header = segment->view.header;
    const uint32_t freed = segment->freed;
    if (freed == 0)
        return;
    segment->freed = 0;
    atomic_fetch_add_explicit(&header->space, 1, memory_order_release);
    if (get_relaxed(&segment->view.shared->space_waiters) == 0)
        return; /* one that we just miss wakes up by itself after 2 ms */
    /* Wake only as many as there is room for: if thousands wait, all would look and most sleep
     * again. */
    raw_futex_wake(&header->space, (int)freed);
}

/* More memory is put behind the pool when half of it is in use; blocks are cut short at three quarters. Chunks that are kept are no
 * part of it. */
static bool is_below(const struct collect_segment *segment, uint32_t part)
{
    return segment->free_chunks < seg_for_all(seg_held(&segment->view)) / part;
}

/* A step a round, unless somebody waits: what is full by now may be written before more is needed. */
static void grow_pool(struct collect_segment *segment)
{
    for (bool more = true; more && is_below(segment, 2);
         more = get_relaxed(&segment->view.shared->space_waiters) > 0) {
        const uint32_t held = seg_held(&segment->view);
        const uint32_t count = held / 4 > GROW_LEAST ? held / 4 : GROW_LEAST;
        if (!segment_grow(segment, count))
            break;
        segment->free_chunks += seg_for_all(seg_held(&segment->view)) - seg_for_all(held);
        segment->freed += seg_held(&segment->view) - held; /* new room is told like freed room */
    }
}

/* If all chunks are open, each with a little in it, there is nothing to free here. The chunks of
 * threads that ended without a word are taken. If all threads live, and none has filled or left its
 * chunk for STARVED_NS, those that wait for one need not go on waiting. */
static void look_for_starvation(struct collector *collector, struct collect_segment *segment)
{
    const uint64_t now = fp_now_ns();
    const bool none = segment->free_chunks == 0 && segment->coming_chunks == 0;
    if (!none)
        segment->starved_ns = 0;
    else if (segment->starved_ns == 0)
        segment->starved_ns = now;
    if (none && now - segment->threads_ns >= HUNGRY_LOOK_NS)
        take_dead_threads(collector, segment);
    put_relaxed(&segment->view.header->starved, none && now - segment->starved_ns >= STARVED_NS);
}

/* A chunk that somebody wrote over never comes, and those behind it in its stream wait. When all of the pool waits so, which
 * would stop every program, what is there is written; what is missing counts as one call, as nobody knows how many it was. A scan may pass by a
 * chunk, and find the one that was filled after it: the next finds both, however long one takes, so several are to find nothing new. */
static void skip_missing(struct collector *collector, struct collect_segment *segment)
{
    const uint64_t now = fp_now_ns();
    if (segment->free_chunks > 0 || segment->taken_chunks == 0 ||
        segment->taken_chunks != segment->stuck_chunks || queue_longest(collector, segment, 1) != NULL) {
        segment->stuck_chunks = segment->taken_chunks;
        segment->stuck_scans = 0;
        segment->stuck_ns = now;
        return;
    }
    if (++segment->stuck_scans < MISSING_SCANS || now - segment->stuck_ns < STUCK_NS)
        return;
    FOR_EACH_IMAGE (image, collector)
        for (uint32_t i = 0; image->segment == segment && i < image->streams.count; i++) {
            struct collect_stream *stream = image->streams.items[i];
            if (stream->queue_length > 0) {
                image->lost[FP_LOSS_SPOILED]++;
                queue_skip(stream);
            }
        }
}

static uint32_t drain_segment(struct collector *collector, struct collect_segment *segment)
{
    uint32_t freed = 0;
    struct collect_stream *stream;

    grow_pool(segment);
    wake_waiters(segment);
    look_for_starvation(collector, segment);
    skip_missing(collector, segment);
    while ((stream = queue_longest(collector, segment,
                                   is_below(segment, 4) ? 1 : collect_block_chunks(collector))) != NULL) {
        const uint32_t written = write_block(collector, stream, COLLECT_CHUNKS_MOST, false);
        freed += written;
        wake_waiters(segment);
        if (written == 0 || freed >= 4 * COLLECT_CHUNKS_MOST)
            break; /* look around: new chunks, ends, the heartbeat */
    }
    return freed;
}

uint32_t drain_blocks(struct collector *collector)
{
    uint32_t freed = 0;
    FOR_EACH_SEGMENT (segment, collector)
        freed += drain_segment(collector, segment);
    return freed;
}

void drain_waiting(struct collector *collector)
{
    const uint64_t now = fp_now_ns();
    struct collect_stream *next;
    FOR_EACH_SEGMENT (segment, collector)
        for (struct collect_stream *stream = segment->waiting; stream != NULL; stream = next) {
            next = stream->behind;
            if (now - stream->waiting_ns >= WAITING_NS) /* the waiters are told in drain_blocks */
                (void)write_block(collector, stream, COLLECT_CHUNKS_MOST, false);
        }
}

/* ---- what stands so far ---------------------------------------------------------------------------------- */

/* The records in a chunk that its writer still has, and may be writing to. */
static void read_open_chunk(struct collector *collector, struct collect_image *image, uint32_t index,
                            uint32_t stream_number)
{
    const struct seg_chunk_header *copy = take_copy(image->segment, index);
    struct seg_chunk_note *note = &image->segment->view.chunk_notes[index];
    struct fp_columns *block = block_for_use();
    struct collect_stream *stream = image_stream(image, stream_number);
    uint64_t damaged = 0;
    if (block == NULL || stream == NULL || stream->queue_length > 0 || copy->sequence != stream->next_chunk)
        return; /* not its turn: what goes before it is on its way */
    uint32_t at = read_chunk(collector, stream, block, note, copy, &damaged);
    if (block->mark_count > 0)
        store_up_to(collector, stream, block, note, at, stream->lane);
    fp_columns_clear(block); /* stamps without marks: they are read again with what follows */
    image->lost[FP_LOSS_SPOILED] += damaged;
}

static uint64_t newest_cut(const struct collect_image *image)
{
    return get_relaxed(&collect_note(image)->cut);
}

/* Open chunks, all or those begun before the newest cut. */
static void read_open_chunks(struct collector *collector, struct collect_image *image, bool all)
{
    struct collect_segment *segment = image->segment;
    const uint32_t held = seg_held(&segment->view);
    const uint64_t cut = newest_cut(image);
    for (uint32_t index = 0; index < held; index++) {
        const uint64_t word = seg_word(&segment->view, index);
        struct seg_chunk_header *chunk = seg_chunk(&segment->view, index);
        if ((seg_chunk_state_of(word) != SEG_CHUNK_OPEN && seg_chunk_state_of(word) != SEG_CHUNK_LEFT) ||
            segment->chunks[index].taken || seg_chunk_slot_of(word) != image->slot ||
            get_acquire(&chunk->magic) != SEG_CHUNK_MAGIC)
            continue;
        if (all || chunk->cut < cut)
            read_open_chunk(collector, image, index, seg_chunk_stream_of(word));
    }
}

/* Chunks at the head of a queue that were begun before the newest cut. */
static uint32_t chunks_before(const struct collect_stream *stream)
{
    const struct collect_segment *segment = stream->image->segment;
    const uint64_t cut = newest_cut(stream->image);
    uint32_t count = 0;
    for (uint32_t at = stream->queue_first; at != 0 && seg_chunk(&segment->view, at - 1)->cut < cut;
         at = segment->chunks[at - 1].next)
        count++;
    return count;
}

static void write_queues(struct collector *collector, struct collect_image *image, bool all)
{
    for (uint32_t i = 0; i < image->streams.count; i++) {
        struct collect_stream *stream = image->streams.items[i];
        uint32_t left = all ? stream->queue_length : chunks_before(stream);
        uint32_t written = 1;
        while (left > 0 && written > 0) {
            written = write_block(collector, stream, left, false);
            left -= written;
        }
    }
    wake_waiters(image->segment);
}

void drain_open(struct collector *collector, struct collect_image *image, bool all)
{
    write_queues(collector, image, all);
    read_open_chunks(collector, image, all);
}

void drain_image(struct collector *collector, struct collect_image *image)
{
    take_image(collector, image);
    for (uint32_t i = 0; i < image->streams.count; i++) {
        struct collect_stream *stream = image->streams.items[i];
        while (stream->queue_length > 0)
            (void)write_block(collector, stream, COLLECT_CHUNKS_MOST, true); /* wakes are told below */
    }
    wake_waiters(image->segment);
}
