/* sample.h - the points of a sample of allocations (footprint/fp/fp_sites.h).
 *
 * Laws: integers only, as the program may have floating point raise signals. */
#ifndef MALLAB_SHIM_SITES_SAMPLE_H
#define MALLAB_SHIM_SITES_SAMPLE_H

#include <stdint.h>

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

#endif
