/* lane_attach.h - how a thread comes to have a lane, and its process a slot; what forks and ends of threads leave in the record. */
#ifndef MALLAB_SHIM_PRELOAD_LANE_ATTACH_H
#define MALLAB_SHIM_PRELOAD_LANE_ATTACH_H

#include "shim/preload/lane.h"

/* lane_attach - the calling thread's lane, attaching thread and process as needed.
 * Returns NULL when nothing is to be recorded here: nested in our own slow path, or switched off. */
struct lane *lane_attach(void);

/* lane_attach_left - a jump has left attaching, by the calling thread; it tries again at its next call. */
void lane_attach_left(void);

/* lane_count_confined - count a call of a thread that has no lane because its process is confined. */
void lane_count_confined(void);

/* lane_write_mark - record a mark that is no call, outside any hook. */
void lane_write_mark(unsigned mark, uint64_t number);

#endif
