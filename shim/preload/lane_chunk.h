/* lane_chunk.h - the chunks that lanes fill: taken from the segment, waited for, handed to the collector. */
#ifndef MALLAB_SHIM_PRELOAD_LANE_CHUNK_H
#define MALLAB_SHIM_PRELOAD_LANE_CHUNK_H

#include "shim/preload/lane.h"

#define RECORD_WORDS_MOST 3u

/* lane_open_chunk - make the cursor point behind the header of a new chunk, waiting for one if need be.
 * call     what is lost when there is none.
 * Returns  whether there is one; else the loss is counted. */
bool lane_open_chunk(struct lane *lane, unsigned call);

/* lane_close_chunk - hand the lane's chunk to the collector; the next record opens another. */
void lane_close_chunk(struct lane *lane);

/* lane_leave_chunk - the thread has run its last destructor: what libc still frees on it goes into the chunk that is open. The thread
 *                    that has the lane next goes on in it, or the collector takes it.
 * lane_inherit_chunk - take over the chunk that the lane's last thread, which is gone, has left: a page and a chunk for each of
 *                      many threads that make few calls would be most of what they cost.
 *                      former: that thread's id.
 *                      Returns whether the lane goes on in it; else its cursor is NULL. */
void lane_leave_chunk(struct lane *lane);
bool lane_inherit_chunk(struct lane *lane, uint32_t former);

/* lane_repair - a jump has left the storing of a record: what is half in place goes, and the lane can be stored into again. */
void lane_repair(struct lane *lane);

/* lane_lose - count a call that is not recorded; a gap stands in its place. A mark that is no call is not counted. */
void lane_lose(struct lane *lane, unsigned call, enum fp_loss cause);

/* lane_ring - wake the collector; a confined process' ring it notices at its next round.
 * lane_wake - lane_ring, where the collector sleeps at least so deep. */
void lane_ring(void);
void lane_wake(enum seg_sleep least);

#endif
