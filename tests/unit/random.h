/* random.h - numbers that look random and are the same in every run: inputs that a test or a golden file makes up. */
#ifndef MALLAB_TESTS_RANDOM_H
#define MALLAB_TESTS_RANDOM_H

#include <stdint.h>

/* The next number of a sequence; where *state begins, the sequence does. SplitMix64 (Steele, Lea, Flood 2014). */
static inline uint64_t test_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

#endif
