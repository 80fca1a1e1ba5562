/* lane_slow.h - what the files of the slow path share: lane.c (lanes), lane_chunk.c (chunks), lane_record.c (records). */
#ifndef MALLAB_SHIM_PRELOAD_LANE_SLOW_H
#define MALLAB_SHIM_PRELOAD_LANE_SLOW_H

#include "shim/preload/shim.h"

#pragma GCC visibility push(hidden) /* as in shim.h */

#define RECORD_WORDS_MOST 3u

/* lane_lose - count a call that is not recorded; a gap stands in its place. A mark that is no call is not counted. */
void lane_lose(struct lane *lane, unsigned call, enum fp_loss cause);

/* lane_open_chunk - make the cursor point behind the header of a new chunk, waiting for one if need be.
 * call     what is lost when there is none.
 * Returns  whether there is one; else the loss is counted. */
bool lane_open_chunk(struct lane *lane, unsigned call);

/* lane_leave_chunk - of a thread that has run its last destructor: what libc still frees on it goes into the chunk that is open; the
 *                    thread that has the lane next goes on in it, or the collector takes it.
 * lane_inherit_chunk - go on in the chunk that the lane's last thread, which is gone, has left: a page and a chunk for each of many
 *                      threads that make few calls would be most of what they cost. cursor is NULL where there is none.
 *                      former: that thread's id. */
void lane_leave_chunk(struct lane *lane);
void lane_inherit_chunk(struct lane *lane, uint32_t former);

/* lane_begin_thread - say in the chunk at the cursor, which is not NULL, that what follows is the present thread's. */
void lane_begin_thread(struct lane *lane);

#pragma GCC visibility pop

#endif
