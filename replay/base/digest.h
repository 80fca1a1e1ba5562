/* digest.h - what was executed, in 64 bits: the same for every candidate, threads or not.
 *
 * Each recorded thread has a state that takes its ops after they were executed, outside the timed part.
 * The digest of a run combines the states in the order of the threads' numbers, so it changes when an op
 * of a thread is skipped, repeated or out of order, and does not depend on how threads interleaved. */
#ifndef MALLAB_REPLAY_BASE_DIGEST_H
#define MALLAB_REPLAY_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>
#define XXH_STATIC_LINKING_ONLY /* for the layout of XXH64_state_t: XXH64_createState would call malloc */
#include <xxhash.h>

#include "footprint/wl/workload.h"

struct rep_digest {
    XXH64_state_t state;
    uint64_t ops;
};

void rep_digest_init(struct rep_digest *digest);

/* rep_digest_add - count executed ops, as rep_loop_run took them. */
void rep_digest_add(struct rep_digest *digest, const struct wl_op *ops, size_t count);

/* rep_digest_combine - append one thread's digest to the run's (initialised by rep_digest_init).
 * Call for the threads 0, 1, ... in turn. */
void rep_digest_combine(struct rep_digest *total, const struct rep_digest *thread);

/* rep_digest_value - the 64 bits. */
uint64_t rep_digest_value(const struct rep_digest *total);

#endif
