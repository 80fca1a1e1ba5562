/* collect_take.h - chunks out of the segment into the queues of their streams, and back when they were written.
 *
 * A chunk is zeroed before it is free again: a record is there when its first word is not zero.
 *
 *   queue  a stream's taken chunks in the order of their sequence, linked by index: it needs no memory of its own
 *   rank   streams whose queue begins with the chunk that continues what is written stand in one list for each length, up to
 *          a block's worth. So the longest is found without a look at all that ever were. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_TAKE_H
#define MALLAB_SHIM_COLLECT_COLLECT_TAKE_H

#include "shim/collect/collect.h"

/* take_scan - take every FULL chunk; without memory they stay where they are for the next round, as do those of a process that
 * has no image yet. Returns how many were taken. */
uint32_t take_scan(struct collector *collector);

/* take_image - take all chunks of an image whose threads are all dead, or that is given up. What there is no memory for is
 * counted as lost (FP_LOSS_COLLECTOR): nobody comes back for it. */
void take_image(struct collector *collector, const struct collect_image *image);

/* take_dead_threads - take the open chunks of threads that are gone although their process lives. */
void take_dead_threads(struct collector *collector, struct collect_segment *segment);

/* take_copy - a chunk as it is now, of ours alone until the next call: any process may store in the chunk itself.
 * take_free - zero a chunk, and let it be used again. */
const struct seg_chunk_header *take_copy(const struct collect_segment *segment, uint32_t index);
void take_free(struct collect_segment *segment, uint32_t index);

/* queue_drop - forget the first `count` chunks, which were written; next_chunk says what may follow.
 * queue_skip - go on with the first chunk of a queue, although one before it is missing.
 * queue_longest - a stream with the most chunks that can be written now, of those that have at least `least`; of several the one
 *                 that waits longest. One that was left counts as one with a block's worth: more may never come. NULL: none. */
void queue_drop(struct collector *collector, struct collect_stream *stream, uint32_t count);
void queue_skip(struct collector *collector, struct collect_stream *stream);
struct collect_stream *queue_longest(const struct collect_segment *segment, uint32_t least);

/* ---- taken chunks, in each lane's order, into blocks.
 * A lane's chunks wait in the segment itself until there are enough for a block of good compression, or some
 * seconds have passed; when free chunks run short, the longest queues go first. */

/* drain_blocks - write the lanes that have a block's worth, and more under pressure. Returns chunks freed. */
uint32_t drain_blocks(struct collector *collector);

/* drain_waiting - write the lanes whose chunks have waited for a block's worth for some seconds: what a slow program
 * has done is not to depend for hours on our being alive. */
void drain_waiting(struct collector *collector);

/* drain_open - write what was recorded before the newest cut, or with `all` by now: whole chunks, and what stands so far in those
 * that their lanes still have. */
void drain_open(struct collector *collector, struct collect_image *image, bool all);

/* drain_image - take and write everything of an image whose threads are all dead, or that is given up. */
void drain_image(struct collector *collector, struct collect_image *image);

/* ---- a chunk's records into a block, with the clock read for its stamps (collect_decode.c) ---- */

/* Whose records stand at a word of a chunk. */
struct decode_thread {
    uint32_t lane, thread_id;
};

/* decode_chunk - append a chunk's records to the block, from word number `first`, 0 for the first record; one that begins another
 * thread is passed over there.
 * damaged      counts words that are no record.
 * ret_at       the first word not read: 0 as yet in a chunk that its writer still has.
 * Returns      0 when the chunk is done; else the word to go on with after the block was written and cleared: it was
 *              full, epochs were too far apart, or another thread begins there (decode_thread_at). */
uint32_t decode_chunk(struct fp_columns *block, struct collect_stream *stream,
                      const struct collect_clock *clock, const struct seg_chunk_header *chunk, uint32_t first,
                      uint64_t *damaged, uint32_t *ret_at);

/* decode_thread_at - whether a word begins another thread, and whose. */
bool decode_thread_at(const struct seg_chunk_header *chunk, uint32_t at, struct decode_thread *ret_thread);

/* decode_skip - pass over a chunk's records up to the word `end`, which a collector that is dead has read.
 * sites      the stream's, which follows; NULL: nobody asks.
 * ret_epoch  the one in force there; untouched where none is told.
 * Returns    whose the records from there on are. */
struct decode_thread decode_skip(const struct seg_chunk_header *chunk, uint32_t end,
                                 struct fp_site_decoder *sites, uint64_t *ret_epoch);

/* decode_calls - how many calls stand in a chunk that were not written yet; for one that is given up. No memory.
 * written  words of it that were, its header among them; 0: none. */
uint64_t decode_calls(const struct seg_chunk_header *chunk, uint64_t written);

#endif
