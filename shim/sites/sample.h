/* sample.h - the sample of a thread's allocations (footprint/fp/fp_sites.h), so that the others take the fast path.
 *
 * A large allocation asks anew: it is sampled where the next point is nearer than its end. For all smaller ones each word of a
 * chunk stands for as many bytes as the least large one has, of which the first are the object's that is recorded there, if one
 * is, and the others nobody's. So it is known beforehand which word the next point falls on, and all before it need not
 * be looked at; when that word's turn has come, the point is on the object or beside it. What lies between two points has no
 * memory, so that words which are no records, and a new draw after each point and with each chunk, change nothing.
 * What is large is chosen so that a point falls on one of a few hundred words.
 *
 * Laws: integers only, as the program may have floating point raise signals. */
#ifndef MALLAB_SHIM_SITES_SAMPLE_H
#define MALLAB_SHIM_SITES_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "footprint/fp/fp_sites.h"

#define SAMPLE_LARGE_BITS_LEAST 10u
#define SAMPLE_LARGE_BITS_MOST  14u
#define SAMPLE_WORDS_BITS       8u

struct sample {
    uint64_t mean;       /* 0: there is no sample */
    uint64_t random;     /* state; any number */
    uintptr_t at;        /* the word on which the next point falls; 0: none is drawn */
    uint32_t offset;     /* and on which of its bytes */
    uint32_t large_bits; /* allocations of 2 to this are large */
};

/* sample_begin - a sample of one byte in `mean`, which is not 0, from any number. */
static inline struct sample sample_begin(uint64_t mean, uint64_t random)
{
    uint32_t bits = SAMPLE_LARGE_BITS_LEAST;
    while (bits < SAMPLE_LARGE_BITS_MOST && mean >> (bits + 1 + SAMPLE_WORDS_BITS) != 0)
        bits++;
    return (struct sample){.mean = mean, .random = random, .large_bits = bits};
}

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

/* sample_gap - bytes to the next point. */
static inline uint64_t sample_gap(struct sample *sample)
{
    return (uint64_t)((unsigned __int128)sample_exponential(&sample->random) * sample->mean >> 31);
}

/* sample_takes - whether the allocation that is about to be recorded at the cursor is sampled. */
static inline bool sample_takes(struct sample *sample, uintptr_t cursor, uint64_t bytes)
{
    bytes = fp_sample_counted(bytes);
    if (bytes >> sample->large_bits != 0 || cursor == 0 || sample->at < cursor)
        return sample_gap(sample) <
               bytes; /* of small ones too where the point was on another's word: a release's */
    return cursor == sample->at && sample->offset < bytes;
}

/* sample_next - the word of the next point, after records up to the cursor; where that word was passed, another is drawn.
 * cursor    NULL: a chunk begins. */
static inline uintptr_t sample_next(struct sample *sample, uintptr_t cursor)
{
    if (cursor == 0) {
        sample->at = 0;
    } else if (sample->at < cursor) {
        const uint64_t gap = sample_gap(sample);
        sample->at = cursor + (gap >> sample->large_bits) * sizeof(uint64_t);
        sample->offset = gap & ((1u << sample->large_bits) - 1);
    }
    return sample->at;
}

#endif
