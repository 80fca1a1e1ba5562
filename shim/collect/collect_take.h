/* collect_take.h - chunks out of the segment into the queues of their streams, and back when they were written.
 *
 * A chunk is zeroed before it is free again: a record is there when its first word is not zero. */
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
void take_dead_threads(struct collector *collector);

/* take_copy - a chunk as it is now, of ours alone until the next call: any process may store in the chunk itself.
 * take_free - zero a chunk, and let it be used again. */
const struct seg_chunk_header *take_copy(const struct collector *collector, uint32_t index);
void take_free(struct collector *collector, uint32_t index);

#endif
