/* histogram.h - counts of latencies in buckets whose width grows with the value.
 *
 *   bucket   values below 64 ticks have one each; above, each power of two is cut in 64 of equal width. A bucket is
 *            thus at most 1/64 of its lower end wide, and its middle at most 1/128 (0.8 %) from any value in it
 *   middle   what stands for a bucket's values in percentiles
 *
 * Values at or above 2^40 ticks (some minutes) stand in the last bucket; count, sum and max stay exact.
 * Source of the bucket scheme: G. Tene's HdrHistogram, with a fixed 6 bits of precision. */
#ifndef MALLAB_REPLAY_METERS_HISTOGRAM_H
#define MALLAB_REPLAY_METERS_HISTOGRAM_H

#include <stdint.h>

#define REP_HISTOGRAM_BITS    6u
#define REP_HISTOGRAM_VALUES  40u /* bits of the largest value told apart */
#define REP_HISTOGRAM_BUCKETS ((REP_HISTOGRAM_VALUES - REP_HISTOGRAM_BITS + 1u) << REP_HISTOGRAM_BITS)
#define REP_HISTOGRAM_REL_ERR (1.0 / (2u << REP_HISTOGRAM_BITS)) /* of a percentile, at most */

struct rep_histogram {
    uint64_t count, sum, max;
    uint64_t buckets[REP_HISTOGRAM_BUCKETS];
};

/* rep_histogram_bucket - the bucket of a value. */
static inline uint32_t rep_histogram_bucket(uint64_t value)
{
    if (value >> REP_HISTOGRAM_VALUES != 0)
        return REP_HISTOGRAM_BUCKETS - 1;
    if (value >> REP_HISTOGRAM_BITS == 0)
        return (uint32_t)value;
    const uint32_t shift = 63u - (uint32_t)__builtin_clzll(value) - REP_HISTOGRAM_BITS;
    return (shift << REP_HISTOGRAM_BITS) + (uint32_t)(value >> shift);
}

/* rep_histogram_low - the least value of a bucket; of the one behind the last, where that would begin. */
uint64_t rep_histogram_low(uint32_t bucket);

/* rep_histogram_add - count a value. One thread at a time. */
static inline void rep_histogram_add(struct rep_histogram *histogram, uint64_t value)
{
    histogram->count++;
    histogram->sum += value;
    if (value > histogram->max)
        histogram->max = value;
    histogram->buckets[rep_histogram_bucket(value)]++;
}

/* rep_histogram_merge - add all that another counted. */
void rep_histogram_merge(struct rep_histogram *histogram, const struct rep_histogram *other);

/* rep_histogram_percentile - the value that a share (0 .. 1) of all values does not exceed: the middle of the bucket
 * that holds the value of rank ceil(share * count), and never more than max; 0 of an empty histogram. */
double rep_histogram_percentile(const struct rep_histogram *histogram, double share);

/* rep_histogram_mean - exact; 0 of an empty histogram. */
double rep_histogram_mean(const struct rep_histogram *histogram);

#endif
