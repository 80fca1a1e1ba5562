/* take.c - chunks taken and freed. */
#include "collect/steps.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- queues of chunks ------------------------------------------------------------------------------ */

/* The chunks of a queue that can be written: one that begins with a later chunk waits for what is missing. */
static uint32_t ready_chunks(const struct collector *collector, const struct collect_stream *stream)
{
    const uint32_t most = collect_block_chunks(collector);
    if (stream->image->segment->chunks[stream->queue_first - 1].sequence != stream->next_chunk)
        return 0;
    return stream->is_left || stream->queue_length > most ? most : stream->queue_length;
}

static void begin_waiting(struct collect_stream *stream)
{
    struct collect_stream **first = &stream->image->segment->waiting;
    stream->behind = *first;
    stream->before = NULL;
    if (*first != NULL)
        (*first)->before = stream;
    *first = stream;
}

static void end_waiting(struct collect_stream *stream)
{
    if (stream->before != NULL)
        stream->before->behind = stream->behind;
    else
        stream->image->segment->waiting = stream->behind;
    if (stream->behind != NULL)
        stream->behind->before = stream->before;
}

/* Put a chunk where its sequence says. left: it is of a thread that is gone. */
static void queue_insert(struct collect_stream *stream, uint32_t index, uint64_t sequence, bool left)
{
    struct taken_chunk *chunks = stream->image->segment->chunks;
    uint32_t before = stream->queue_last; /* nearly always: chunks come in their order */
    if (before != 0 && chunks[before - 1].sequence > sequence) {
        before = 0;
        for (uint32_t at = stream->queue_first; chunks[at - 1].sequence <= sequence; at = chunks[at - 1].next)
            before = at;
    }
    chunks[index] = (struct taken_chunk){.sequence = sequence,
                                         .next = before != 0 ? chunks[before - 1].next : stream->queue_first,
                                         .taken = true};
    if (before != 0)
        chunks[before - 1].next = index + 1;
    else
        stream->queue_first = index + 1;
    if (before == stream->queue_last) {
        stream->queue_last = index + 1;
        stream->is_left = left;
    }
    if (stream->queue_length++ == 0)
        begin_waiting(stream);
    stream->image->segment->taken_chunks++;
}

void queue_drop(struct collect_stream *stream, uint32_t count)
{
    struct collect_segment *segment = stream->image->segment;
    for (uint32_t i = 0; i < count; i++) {
        struct taken_chunk *chunk = &segment->chunks[stream->queue_first - 1];
        stream->queue_first = chunk->next;
        *chunk = (struct taken_chunk){0};
    }
    stream->queue_length -= count;
    segment->taken_chunks -= count;
    if (stream->queue_first != 0 || count == 0)
        return;
    stream->queue_last = 0;
    end_waiting(stream);
}

struct collect_stream *queue_longest(const struct collector *collector, const struct collect_segment *segment,
                                     uint32_t least)
{
    struct collect_stream *longest = NULL;
    uint32_t most = least - 1;
    for (struct collect_stream *stream = segment->waiting; stream != NULL; stream = stream->behind) {
        const uint32_t ready = ready_chunks(collector, stream);
        if (ready < most || ready < least || (ready == most && longest->waiting_ns <= stream->waiting_ns))
            continue;
        longest = stream;
        most = ready;
    }
    return longest;
}

void queue_skip(struct collect_stream *stream)
{
    stream->next_chunk = stream->image->segment->chunks[stream->queue_first - 1].sequence;
}

/* ---- chunks ------------------------------------------------------------------------------------------ */

/* A chunk as it is now, of ours alone: its writer may store in it, and so may any other process that should not. A record's
 * first word is stored last (release) and copied first (acquire): it is whole in the copy or not there. */
const struct seg_chunk_header *take_copy(const struct collect_segment *segment, uint32_t index)
{
    static uint64_t copy[SEG_CHUNK_WORDS];
    const uint64_t *words = (const uint64_t *)seg_chunk(&segment->view, index);
    for (uint32_t i = 0; i < SEG_CHUNK_WORDS; i++)
        copy[i] = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
    return (const struct seg_chunk_header *)copy;
}

/* Zero the whole chunk: behind its records a process that writes where it should not may have left
 * something for the next. */
void take_free(struct collect_segment *segment, uint32_t index)
{
    memset(seg_chunk(&segment->view, index), 0, SEG_CHUNK_BYTES);
    segment->view.chunk_notes[index] = (struct seg_chunk_note){0};
    segment->freed++;
    segment->free_chunks += !seg_is_kept(index);
    /* release: the zeroes are in place before somebody claims it; pairs with claim_chunk's acquire */
    put_release(&segment->view.states[index], SEG_CHUNK_FREE);
}

/* Tells whether a slot is a process's of which there is no image yet, it came after
 * the last look at the slots, or there was no memory for it. Its chunks wait for the next round. */
static bool waits_for_image(const struct collector *collector, const struct collect_segment *segment,
                            uint32_t slot)
{
    return slot < SEG_SLOT_COUNT && collect_image_in(collector, segment, slot) == NULL &&
           (get_acquire(&segment->view.slots[slot].state) & 0xffffffff) == SEG_SLOT_ATTACHED;
}

/* Returns whether a chunk of a recovered segment was written already, when its collector died
 * before it was freed. If not, `split` is where the part begins that was not written. */
static bool was_written(struct collect_image *image, const struct seg_chunk_header *chunk,
                        struct seg_chunk_note *note)
{
    const uint64_t split = note->split < SEG_CHUNK_WORDS ? note->split : SEG_CHUNK_WORDS;
    uint64_t epoch = 0;
    const struct decode_thread thread = decode_skip(chunk, (uint32_t)split, NULL, &epoch);
    struct collect_lane *lane = image_lane(image, thread.lane);
    if (lane == NULL || note->block == 0 || note->block > lane->next_block)
        return false;
    lane->thread_id = thread.thread_id;
    note->split = note->rest;
    return note->rest == 0;
}

/* Tells whether a chunk that goes to a stream at that place is one that a process of ours would send. */
static bool is_next(const struct collector *collector, const struct collect_stream *stream, uint64_t sequence)
{
    /* A stream has no more chunks than there are; of a recovered one it is not known where it stood. */
    return sequence >= stream->next_chunk &&
           (collector->options.recover ||
            sequence - stream->next_chunk < stream->image->segment->view.fixed.chunk_count);
}

/* Free a chunk that nobody can use, and count its calls as lost. */
static void give_up_chunk(struct collect_image *image, uint32_t index, enum fp_loss cause)
{
    const struct seg_chunk_header *copy = take_copy(image->segment, index);
    image->lost[cause] += decode_calls(copy, image->segment->view.chunk_notes[index].split);
    take_free(image->segment, index);
}

/* A chunk whose claimer died before its header was whole holds nothing. One that there is no memory for stays where it is,
 * so that the stream goes on behind it once there is some; `last`: nobody comes back, it is counted as lost.
 * Returns whether it was taken or freed. */
static bool take_chunk(struct collector *collector, struct collect_segment *segment, uint32_t index,
                       uint64_t word, bool last)
{
    const struct seg_chunk_header *chunk = seg_chunk(&segment->view, index);
    struct seg_chunk_note *note = &segment->view.chunk_notes[index];
    struct collect_image *image = collect_image_in(collector, segment, seg_chunk_slot_of(word));
    struct seg_chunk_header header;

    if (!last && waits_for_image(collector, segment, seg_chunk_slot_of(word)))
        return false;
    if (image == NULL && !collector->options.recover)
        collector->spoiled += decode_calls(take_copy(segment, index), note->split); /* nobody's slot */
    if (image == NULL || get_acquire(&chunk->magic) != SEG_CHUNK_MAGIC ||
        (collector->options.recover && was_written(image, take_copy(segment, index), note))) {
        if (image != NULL && !collector->options.recover && seg_chunk_state_of(word) == SEG_CHUNK_FULL)
            image->lost[FP_LOSS_SPOILED]++; /* it had a header when it was closed: nobody knows what else */
        take_free(segment, index);
        return true;
    }
    memcpy(&header, chunk, sizeof header); /* once: it may change at any moment */
    if (header.serial != image->serial || seg_chunk_stream_of(word) >= FP_LANES_MAX) {
        give_up_chunk(image, index, FP_LOSS_SPOILED);
        return true;
    }
    struct collect_stream *stream = image_stream(image, seg_chunk_stream_of(word));
    if (stream == NULL && !last)
        return false;
    if (stream == NULL || !is_next(collector, stream, header.sequence)) {
        give_up_chunk(image, index, stream == NULL ? FP_LOSS_COLLECTOR : FP_LOSS_SPOILED);
        return true;
    }
    if (stream->queue_length == 0)
        stream->waiting_ns = fp_now_ns();
    queue_insert(stream, index, header.sequence, seg_chunk_state_of(word) != SEG_CHUNK_FULL);
    if (seg_chunk_state_of(word) == SEG_CHUNK_FULL)
        segment->chunks[index].words = seg_chunk_thread_of(word);
    return true;
}

/* Tells whether a chunk's state word is one that no process of ours writes, or whose process is gone without an image. */
static bool is_nobodys(const struct collector *collector, const struct collect_segment *segment,
                       uint64_t word)
{
    const uint32_t slot = seg_chunk_slot_of(word);
    if (seg_chunk_state_of(word) > SEG_CHUNK_LEFT || seg_chunk_state_of(word) == SEG_CHUNK_FREE ||
        slot >= SEG_SLOT_COUNT)
        return true;
    /* A process that claims a chunk has attached before. */
    uint64_t state = get_acquire(&segment->view.slots[slot].state) & 0xffffffff;
    return collect_image_in(collector, segment, slot) == NULL && state != SEG_SLOT_ATTACHED &&
           state != SEG_SLOT_ATTACHING;
}

static uint32_t scan(struct collector *collector, struct collect_segment *segment)
{
    const uint32_t held = seg_held(&segment->view);
    uint32_t taken = 0;
    segment->free_chunks = segment->coming_chunks = 0;
    for (uint32_t index = 0; index < held; index++) {
        const uint64_t word = seg_word(&segment->view, index);
        if (segment->chunks[index].taken || seg_chunk_state_of(word) == SEG_CHUNK_FULL)
            segment->coming_chunks += !seg_is_kept(index);
        if (segment->chunks[index].taken)
            continue;
        if (word == SEG_CHUNK_FREE) {
            segment->free_chunks += !seg_is_kept(index);
        } else if (seg_chunk_state_of(word) == SEG_CHUNK_FULL) {
            taken += take_chunk(collector, segment, index, word, false);
        } else if (is_nobodys(collector, segment, word)) {
            take_free(segment, index);
            collector->spoiled++;
        }
    }
    return taken;
}

uint32_t take_scan(struct collector *collector)
{
    uint32_t taken = 0;
    FOR_EACH_SEGMENT (segment, collector)
        taken += scan(collector, segment);
    return taken;
}

/* Tells whether a thread of an image is gone for good. A process that could not be found under its own id has thread ids that mean
 * nothing here; of a thread of another user we are told that it is there. Signal 0 is none. */
static bool thread_is_gone(const struct collect_image *image, uint32_t thread_id)
{
    return image->confirmed && !image->foreign &&
           syscall(SYS_tgkill, (pid_t)image->pid, (pid_t)thread_id, 0) != 0 && errno == ESRCH;
}

/* A chunk that was left may be inherited just now: whoever changes its word, which has the thread's id, has the chunk. */
static bool take_abandoned(const struct collector *collector, struct collect_segment *segment, uint32_t index,
                           uint64_t word)
{
    const uint32_t slot = seg_chunk_slot_of(word);
    const struct seg_chunk_header *chunk = seg_chunk(&segment->view, index);
    const struct collect_image *image = collect_image_in(collector, segment, slot);
    return image != NULL && thread_is_gone(image, seg_chunk_thread_of(word)) &&
           get_acquire(&chunk->magic) == SEG_CHUNK_MAGIC &&
           swap_acquire(&segment->view.states[index], &word,
                        seg_chunk_word(SEG_CHUNK_FULL, slot, seg_chunk_stream_of(word), 0));
}

void take_dead_threads(struct collector *collector, struct collect_segment *segment)
{
    const uint32_t held = seg_held(&segment->view);
    segment->threads_ns = fp_now_ns();
    for (uint32_t index = 0; index < held; index++) {
        const uint64_t word = seg_word(&segment->view, index);
        const enum seg_chunk_state state = seg_chunk_state_of(word);
        if (!segment->chunks[index].taken && (state == SEG_CHUNK_OPEN || state == SEG_CHUNK_LEFT) &&
            take_abandoned(collector, segment, index, word))
            (void)take_chunk(collector, segment, index, word,
                             false); /* else in the next round: it is full now */
    }
}

void take_image(struct collector *collector, const struct collect_image *image)
{
    struct collect_segment *segment = image->segment;
    const uint32_t held = seg_held(&segment->view);
    for (uint32_t index = 0; index < held; index++) {
        const uint64_t word = seg_word(&segment->view, index);
        if (word != SEG_CHUNK_FREE && !segment->chunks[index].taken && seg_chunk_slot_of(word) == image->slot)
            (void)take_chunk(collector, segment, index, word, true); /* taken or counted */
    }
}
