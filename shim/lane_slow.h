/* lane_slow.h - what the files of the slow path share: lane.c (lanes), lane_chunk.c (chunks), lane_record.c (records). */
#ifndef MALLAB_SHIM_LANE_SLOW_H
#define MALLAB_SHIM_LANE_SLOW_H

#include "shim/shim.h"

#pragma GCC visibility push(hidden) /* as in shim.h */

#define RECORD_WORDS_MOST 3u

/* lane_lose - count a call that is not recorded; a gap stands in its place. A mark that is no call is not counted. */
void lane_lose(struct lane *lane, unsigned call, enum fp_loss cause);

/* lane_open_chunk - make the cursor point behind the header of a new chunk, waiting for one if need be.
 * call     what is lost when there is none.
 * Returns  whether there is one; else the loss is counted. */
bool lane_open_chunk(struct lane *lane, unsigned call);

#pragma GCC visibility pop

#endif
