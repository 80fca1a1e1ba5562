/* object_sample.h - a recording of some objects, about one small one in N, each for its whole life: chosen at its birth, or when
 * it grows, by points that lie at random on the weight of all that is made (a Poisson process).
 *
 *   weight   of an object: its bytes, at least FP_SAMPLE_LEAST_BYTES. On average one point comes in N times that least weight
 *   chance   that an object is in the sample: 1 - exp(-weight / mean), of the most bytes that it had so far; of
 *            FP_SAMPLE_ALL_BYTES and more it is 1. What is recorded stands for 1 / chance objects (Horvitz and Thompson)
 *   growth   takes the difference of the weights: an object that was not there and is chosen then begins as realloc(NULL, n)
 *   not there  releases of NULL */
#ifndef MALLAB_FOOTPRINT_FP_OBJECT_SAMPLE_H
#define MALLAB_FOOTPRINT_FP_OBJECT_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "footprint/fp/footprint.h"

#define FP_ONE_IN_META        "one_in" /* of a footprint and of its workload: N */
#define FP_ONE_IN_MOST        1024u
#define FP_SAMPLE_LEAST_BYTES 512u
#define FP_SAMPLE_ALL_BYTES   FP_MIDDLING_BYTES

static inline uint64_t fp_sample_weight(uint64_t bytes)
{
    return bytes > FP_SAMPLE_LEAST_BYTES ? bytes : FP_SAMPLE_LEAST_BYTES;
}

/* fp_one_in_parse - a number N from 2 to FP_ONE_IN_MOST, in digits. Returns whether it is one; ret_one_in is set only then. */
static inline bool fp_one_in_parse(const char *text, uint64_t *ret_one_in)
{
    char *rest;
    if (text[0] < '0' || text[0] > '9')
        return false;
    const unsigned long long number = strtoull(text, &rest, 10); /* of too many digits the most there is */
    if (*rest != '\0' || number < 2 || number > FP_ONE_IN_MOST)
        return false;
    *ret_one_in = number;
    return true;
}

#endif
