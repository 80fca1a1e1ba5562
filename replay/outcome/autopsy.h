/* autopsy.h - what was live when a run ended before its end.
 *
 * The loop keeps no such figure: it would have to be kept in timed code. So the workload is read once more, up to the op
 * at fault. No malloc. */
#ifndef MALLAB_REPLAY_OUTCOME_AUTOPSY_H
#define MALLAB_REPLAY_OUTCOME_AUTOPSY_H

#include <stdbool.h>
#include <stdint.h>

/* rep_autopsy - objects live before an op, in the recorded order.
 * path     the workload; op: number of the op.
 * Returns  false when it cannot be read again, or memory is short. */
bool rep_autopsy(const char *path, uint64_t op, uint64_t *ret_live_bytes, uint64_t *ret_live_objects);

#endif
