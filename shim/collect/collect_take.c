/* collect_take.c - chunks taken and freed. */
#include "shim/collect/collect_take.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/collect/collect_decode.h"
#include "shim/collect/collect_lists.h"
#include "shim/collect/collect_queue.h"

/* A chunk as it is now, of ours alone: its writer may store in it, and so may any other process that should not. A record's
 * first word is stored last (release) and copied first (acquire): it is whole in the copy or not there. */
const struct seg_chunk_header *take_copy(const struct collector *collector, uint32_t index)
{
    static uint64_t copy[SEG_CHUNK_WORDS];
    const uint64_t *words = (const uint64_t *)seg_chunk(&collector->segment.view, index);
    for (uint32_t i = 0; i < SEG_CHUNK_WORDS; i++)
        copy[i] = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
    return (const struct seg_chunk_header *)copy;
}

/* Zero the whole chunk: behind its records a process that writes where it should not may have left
 * something for the next. */
void take_free(struct collector *collector, uint32_t index)
{
    memset(seg_chunk(&collector->segment.view, index), 0, SEG_CHUNK_BYTES);
    collector->segment.view.chunk_notes[index] = (struct seg_chunk_note){0};
    collector->freed++;
    collector->free_chunks++;
    /* release: the zeroes are in place before somebody claims it; pairs with claim_chunk's acquire */
    put_release(&collector->segment.view.states[index], SEG_CHUNK_FREE);
}

/* Whether a slot is a process's of which there is no image yet, it came after
 * the last look at the slots, or there was no memory for it. Its chunks wait for the next round. */
static bool waits_for_image(struct collector *collector, uint32_t slot)
{
    return slot < SEG_SLOT_COUNT && collect_image_in(collector, slot) == NULL &&
           (get_acquire(&collector->segment.view.slots[slot].state) & 0xffffffff) == SEG_SLOT_ATTACHED;
}

/* Returns whether a chunk of a recovered segment was written already, when its collector died
 * before it was freed. If not, `split` is where the part begins that was not written. */
static bool was_written(struct collect_image *image, const struct seg_chunk_header *chunk,
                        struct seg_chunk_note *note)
{
    const uint64_t split = note->split < SEG_CHUNK_WORDS ? note->split : SEG_CHUNK_WORDS;
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

/* Free a chunk that nobody can use, and count its calls as lost. */
static void give_up_chunk(struct collector *collector, struct collect_image *image, uint32_t index,
                          enum fp_loss cause)
{
    const struct seg_chunk_header *copy = take_copy(collector, index);
    image->lost[cause] += decode_calls(copy, collector->segment.view.chunk_notes[index].split);
    take_free(collector, index);
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

    if (!last && waits_for_image(collector, seg_chunk_slot_of(word)))
        return false;
    if (image == NULL && !collector->options.recover)
        collector->spoiled += decode_calls(take_copy(collector, index), note->split); /* nobody's slot */
    if (image == NULL || get_acquire(&chunk->magic) != SEG_CHUNK_MAGIC ||
        (collector->options.recover && was_written(image, take_copy(collector, index), note))) {
        take_free(collector, index);
        return true;
    }
    memcpy(&header, chunk, sizeof header); /* once: it may change at any moment */
    if (header.serial != image->serial || seg_chunk_stream_of(word) >= FP_LANES_MAX) {
        give_up_chunk(collector, image, index, FP_LOSS_SPOILED);
        return true;
    }
    struct collect_stream *stream = image_stream(image, seg_chunk_stream_of(word));
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
    if (seg_chunk_state_of(word) > SEG_CHUNK_LEFT || seg_chunk_state_of(word) == SEG_CHUNK_FREE ||
        slot >= SEG_SLOT_COUNT)
        return true;
    /* Who claims a chunk has attached before. */
    uint64_t state = get_acquire(&collector->segment.view.slots[slot].state) & 0xffffffff;
    return collect_image_in(collector, slot) == NULL && state != SEG_SLOT_ATTACHED &&
           state != SEG_SLOT_ATTACHING;
}

uint32_t take_scan(struct collector *collector)
{
    _Atomic uint64_t *states = collector->segment.view.states;
    const uint32_t ready = segment_ready(&collector->segment);
    uint32_t taken = 0;
    collector->free_chunks = 0;
    for (uint32_t index = 0; index < ready; index++) {
        if (collector->chunks[index].taken)
            continue;
        uint64_t word = get_acquire(&states[index]);
        if (word == SEG_CHUNK_FREE) {
            collector->free_chunks++;
        } else if (seg_chunk_state_of(word) == SEG_CHUNK_FULL) {
            taken += take_chunk(collector, index, word, false);
        } else if (is_nobodys(collector, word)) {
            take_free(collector, index);
            collector->spoiled++;
        }
    }
    return taken;
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
           get_acquire(&chunk->magic) == SEG_CHUNK_MAGIC &&
           swap_acquire(&collector->segment.view.states[index], &word,
                        seg_chunk_word(SEG_CHUNK_FULL, slot, seg_chunk_stream_of(word), 0));
}

void take_dead_threads(struct collector *collector)
{
    _Atomic uint64_t *states = collector->segment.view.states;
    const uint32_t ready = segment_ready(&collector->segment);
    collector->threads_ns = clock_monotonic_ns();
    for (uint32_t index = 0; index < ready; index++) {
        const uint64_t word = get_acquire(&states[index]);
        const enum seg_chunk_state state = seg_chunk_state_of(word);
        if (!collector->chunks[index].taken && (state == SEG_CHUNK_OPEN || state == SEG_CHUNK_LEFT) &&
            take_abandoned(collector, index, word))
            (void)take_chunk(collector, index, word, false); /* else in the next round: it is full now */
    }
}

void take_image(struct collector *collector, const struct collect_image *image)
{
    const uint32_t ready = segment_ready_all(&collector->segment);
    for (uint32_t index = 0; index < ready; index++) {
        const uint64_t word = get_acquire(&collector->segment.view.states[index]);
        if (word != SEG_CHUNK_FREE && !collector->chunks[index].taken &&
            seg_chunk_slot_of(word) == image->slot)
            (void)take_chunk(collector, index, word, true); /* taken or counted */
    }
}
