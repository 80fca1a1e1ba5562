/* chosen.h - a recording of chosen objects: those on whose bytes a point of the thread's lies (footprint/fp/fp_sites.h). Only what makes,
 * resizes and frees them is recorded.
 *
 *   left     bytes that the thread may allocate yet before an object is chosen, with the one that the point lies on; 0: not drawn
 *   objects  the live ones, in buckets by address, without a lock; and how many each bucket has, of which a line tells for 32 KiB of
 *            the heap. Ordinary memory: children inherit it as they do the objects
 *   resize   begins an object that is chosen by its new size. That of a chosen one is recorded all the same, as one that stands for
 *            none (FP_CUT_UNSAMPLED) where it is not chosen again: the first one's end is known */
#ifndef MALLAB_SHIM_PRELOAD_CHOSEN_H
#define MALLAB_SHIM_PRELOAD_CHOSEN_H

#include "footprint/fp/fp_sites.h"
#include "shim/preload/shim.h"

#define CHOSEN_BUCKETS 65536u
#define CHOSEN_WAYS    8u /* a line of the cache */

struct shim_chosen {
    uint64_t mean; /* 0: all calls are recorded */
    _Alignas(64) _Atomic uint8_t counts[CHOSEN_BUCKETS];
    _Atomic uintptr_t
        objects[CHOSEN_BUCKETS][CHOSEN_WAYS]; /* 0: none; 4 MiB, of which comes into use what is needed */
};

#pragma GCC visibility push(hidden)

extern struct shim_chosen shim_chosen;
extern __thread uint64_t chosen_left __attribute__((tls_model("initial-exec")));

/* chosen_add - an object is live from now on; NULL is none. Returns false where its bucket is full: then its end would not be seen.
 * chosen_take - whether it was; it is no more. NULL never is.
 * chosen_forget - no objects, and all calls are recorded: for a moment at which no thread is in a hook. */
bool chosen_add(uintptr_t address);
bool chosen_take(uintptr_t address);
void chosen_forget(void);

static inline uint32_t chosen_bucket(uintptr_t address)
{
    return (uint32_t)(address >> 9 ^ address >> 25) % CHOSEN_BUCKETS;
}

/* chosen_may_pass - whether an allocation of so many bytes is not to be recorded: what is left before it; 0: it is.
 * chosen_passed   - the allocation that got this answer is over: its bytes are counted, unless it was handed on to a hook of ours. */
static inline uint64_t chosen_may_pass(uint64_t bytes)
{
    return unlikely(shim_chosen.mean != 0) && fp_sample_counted(bytes) < chosen_left ? chosen_left : 0;
}

static inline void chosen_passed(uint64_t left, uint64_t bytes)
{
    if (unlikely(left != 0) && left == chosen_left)
        chosen_left = left - fp_sample_counted(bytes);
}

/* chosen_passes - both, for one that is not handed on. */
static inline bool chosen_passes(uint64_t bytes)
{
    const uint64_t left = chosen_may_pass(bytes);
    chosen_passed(left, bytes);
    return left != 0;
}

/* chosen_ends - whether a release or resize of an object is to be recorded, which is then no longer among the live ones. */
static inline bool chosen_ends(const void *address)
{
    return likely(shim_chosen.mean == 0) ||
           (unlikely(get_relaxed(&shim_chosen.counts[chosen_bucket((uintptr_t)address)]) != 0) &&
            chosen_take((uintptr_t)address));
}

#pragma GCC visibility pop

#endif
