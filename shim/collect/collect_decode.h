/* collect_decode.h - a chunk's records into a block, with the clock read for its stamps. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_DECODE_H
#define MALLAB_SHIM_COLLECT_COLLECT_DECODE_H

#include "shim/collect/collect.h"

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
