/* limit.h - less memory than the machine has, as a container would give.
 *
 * The kernel's RLIMIT_DATA counts the private writable memory that a process has mapped, whether resident or not. So it
 * is stricter than a container's limit with allocators that map ahead of need, and blind to nothing else. The harness
 * has all its memory when the limit is set; what it has is added, so that the limit is the allocator's alone. */
#ifndef MALLAB_REPLAY_LIMIT_H
#define MALLAB_REPLAY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* rep_limit_set - from now on the process may map bytes more than it has mapped.
 * ret_base_bytes  what it has mapped. Returns false when the kernel does not tell or refuses. */
bool rep_limit_set(uint64_t bytes, uint64_t *ret_base_bytes);

/* rep_limit_lift - back to what it was before rep_limit_set; nothing when it was not called. */
void rep_limit_lift(void);

#endif
