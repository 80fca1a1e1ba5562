/* lane_record.h - records that the fast path (lane.h) leaves over: stamps, wide numbers, gaps, cuts, the first one of a chunk. */
#ifndef MALLAB_SHIM_PRELOAD_LANE_RECORD_H
#define MALLAB_SHIM_PRELOAD_LANE_RECORD_H

#include "shim/preload/lane.h"

/* lane_clock - the clock that stamps are read from: ticks or nanoseconds, rising. */
uint64_t lane_clock(void);

/* lane_put - store a record of any kind, of a live lane with its gate at GATE_RECORD. What cannot be stored is counted. */
void lane_put(struct lane *lane, unsigned call, uintptr_t address, uint64_t size, uint64_t extra);

/* lane_put_sited - likewise, of a lane that has sites: an allocation's is found, and told where it is not the one that is guessed. */
void lane_put_sited(struct lane *lane, unsigned call, uintptr_t address, uint64_t size, uint64_t extra);

/* lane_begin_thread - say in the chunk at the cursor, which is not NULL, that what follows is the present thread's. */
void lane_begin_thread(struct lane *lane);

#endif
