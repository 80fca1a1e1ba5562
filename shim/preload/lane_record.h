/* lane_record.h - records that the fast path (lane.h) leaves over: stamps, wide numbers, gaps, cuts, the first one of a chunk. */
#ifndef MALLAB_SHIM_PRELOAD_LANE_RECORD_H
#define MALLAB_SHIM_PRELOAD_LANE_RECORD_H

#include "shim/preload/lane.h"

/* lane_clock - the clock that stamps are read from: ticks or nanoseconds, rising. */
uint64_t lane_clock(void);

/* lane_put - store a record of any kind, of a live lane with its gate at GATE_RECORD. What cannot be stored is counted. */
void lane_put(struct lane *lane, unsigned call, uintptr_t address, uint64_t size, uint64_t extra);

/* lane_put_short - the same where it takes one word, its group goes on, and nothing else is due; false: it does not. */
static inline bool lane_put_short(struct lane *lane, unsigned call, uintptr_t address, uint64_t size,
                                  uint64_t extra)
{
    const unsigned code = extra == fp_record_extra(call) ? fp_record_code(call) : 0;
    if (code == 0 || lane->cursor == NULL || ((uintptr_t)lane->cursor & lane->group_mask) == 0 ||
        get_acquire(lane->epoch_word) != lane->epoch || !fp_record_is_short(address, size))
        return false;
    __atomic_store_n(lane->cursor++, fp_record_short(code, address, size), __ATOMIC_RELEASE);
    lane_prefetch(lane->cursor);
    return true;
}

/* lane_put_sited - an allocation with its site where that is not the one that is guessed; of a sample always. */
void lane_put_sited(struct lane *lane, unsigned call, uintptr_t address, uint64_t size, uint64_t extra,
                    uint32_t site);

/* lane_begin_thread - say in the chunk at the cursor, which is not NULL, that what follows is the present thread's. */
void lane_begin_thread(struct lane *lane);

#endif
