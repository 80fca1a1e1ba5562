/* limit.h - less memory than the machine has, as a container would give.
 *
 * The kernel's RLIMIT_DATA counts the private writable memory that a process has mapped, whether resident or not. So it
 * is stricter than a container's limit with allocators that map ahead of need. What the harness maps for itself between
 * rep_limit_begin and rep_limit_set is added, stacks of its threads among it; what the allocator mapped when it was
 * loaded is its own, and so are the stacks of threads that it starts, in full (docs/results.md). */
#ifndef MALLAB_REPLAY_LIMIT_H
#define MALLAB_REPLAY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* rep_limit_begin - the allocator is loaded and proven, the harness has mapped nothing yet. */
void rep_limit_begin(void);

/* rep_limit_set - from now on the process may map bytes, and what the harness has.
 * ret_base_bytes   what the harness has mapped.
 * ret_early_bytes  what was mapped before: the limit cannot take that back, so where it is more than bytes the run
 *                  must not go on.
 * Returns          false when the kernel does not tell or refuses. */
bool rep_limit_set(uint64_t bytes, uint64_t *ret_base_bytes, uint64_t *ret_early_bytes);

/* rep_limit_lift - back to what it was before rep_limit_set; nothing when it was not called. */
void rep_limit_lift(void);

#endif
