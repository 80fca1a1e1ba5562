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

/* ---- the points (footprint/fp/fp_sites.h): integers only, as the program may have floating point raise signals ---- */

/* sample_exponential - a number of the exponential distribution with the mean 1, times 2^31, good to 1 in 10^6.
 *
 * It is -ln(u / 2^64) of a random u (splitmix64 by Steele, Lea and Flood). With the zeros in front of u taken off there
 * remains -ln(m), m from 0.5 to 1, which is 2 artanh(w) of w = (1 - m) / (1 + m), at most 1/3: a short series. */
static inline uint64_t sample_exponential(uint64_t *random)
{
    const uint64_t one = UINT64_C(1) << 31, log_2 = 1488522236;
    uint64_t u = *random += UINT64_C(0x9e3779b97f4a7c15);
    u = (u ^ u >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    u = (u ^ u >> 27) * UINT64_C(0x94d049bb133111eb);
    u = (u ^ u >> 31) | 1;
    const unsigned zeros = (unsigned)__builtin_clzll(u);
    const uint64_t m = u << zeros >> 32;
    const uint64_t w = ((2 * one - m) << 31) / (2 * one + m), square = w * w >> 31;
    uint64_t sum = one / 9 + (square * (one / 11) >> 31);
    sum = one / 7 + (square * sum >> 31);
    sum = one / 5 + (square * sum >> 31);
    sum = one / 3 + (square * sum >> 31);
    sum = one + (square * sum >> 31);
    return zeros * log_2 + (w * sum >> 30);
}

/* sample_gap - bytes up to the next point and with the one that it lies on, at least 1; one in `mean` has one.
 * random    state; any number. */
static inline uint64_t sample_gap(uint64_t *random, uint64_t mean)
{
    return (uint64_t)((unsigned __int128)sample_exponential(random) * mean >> 31) + 1;
}

/* ---- what is passed by ---- */

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
