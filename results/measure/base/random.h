/* random.h - random numbers that a printed seed repeats, on every machine.
 *
 * Not for secrets. One thread at a time per state.
 * Source  splitmix64: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators",
 *         OOPSLA 2014, figure 17 with the mixing constants of "variant 13". Chosen because any seed, also 0, is a
 *         good one and its whole state is the seed that we print; 2^64 numbers are more than we draw. */
#ifndef MALLAB_RESULTS_MEASURE_BASE_RANDOM_H
#define MALLAB_RESULTS_MEASURE_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "footprint/base/support.h"

struct res_random {
    uint64_t state;
};

static inline struct res_random res_random_from(uint64_t seed)
{
    return (struct res_random){.state = seed};
}

/* res_random_next - 64 uniform bits. */
static inline uint64_t res_random_next(struct res_random *random)
{
    uint64_t bits = random->state += UINT64_C(0x9e3779b97f4a7c15);
    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    return bits ^ bits >> 31;
}

/* res_random_below - uniform in 0 .. bound-1; bound > 0. Numbers that would favour the low results are
 * drawn again, so that it is exact. */
static inline uint64_t res_random_below(struct res_random *random, uint64_t bound)
{
    const uint64_t unfair = (0 - bound) % bound; /* 2^64 mod bound */
    uint64_t bits;
    do {
        bits = res_random_next(random);
    } while (bits < unfair);
    return bits % bound;
}

/* res_shuffle - put items in random order: every order equally likely (Fisher and Yates 1938; Durstenfeld 1964). */
static inline void res_shuffle(struct res_random *random, size_t *items, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        const size_t other = (size_t)res_random_below(random, i);
        const size_t moved = items[i - 1];
        items[i - 1] = items[other];
        items[other] = moved;
    }
}

/* res_shuffled - 0 .. count-1 in random order; the caller's to free. */
static inline size_t *res_shuffled(struct res_random *random, size_t count)
{
    size_t *items = res_calloc(count + 1, sizeof *items);
    for (size_t i = 0; i < count; i++)
        items[i] = i;
    res_shuffle(random, items, count);
    return items;
}

#endif
