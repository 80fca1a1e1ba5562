/* collect_queue.h - which chunks each stream has waiting, and which stream is to be written next.
 *
 *   queue  a stream's taken chunks in the order of their sequence, linked by index: it needs no memory of its own
 *   rank   streams whose queue begins with the chunk that continues what is written stand in one list for each length, up to
 *          a block's worth. So the longest is found without a look at all that ever were. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_QUEUE_H
#define MALLAB_SHIM_COLLECT_COLLECT_QUEUE_H

#include "shim/collect/collect.h"

/* queue_insert - put a chunk where its sequence says. left: it is of a thread that is gone.
 * queue_drop - forget the first `count` chunks, which were written; next_chunk says what may follow.
 * queue_skip - go on with the first chunk of a queue, although one before it is missing.
 * queue_longest - a stream with the most chunks that can be written now, of those that have at least `least`; of several the one
 *                 that waits longest. One that was left counts as one with a block's worth: more may never come. NULL: none. */
void queue_insert(struct collector *collector, struct collect_stream *stream, uint32_t index,
                  uint64_t sequence, bool left);
void queue_drop(struct collector *collector, struct collect_stream *stream, uint32_t count);
void queue_skip(struct collector *collector, struct collect_stream *stream);
struct collect_stream *queue_longest(const struct collector *collector, uint32_t least);

#endif
