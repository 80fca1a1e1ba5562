/* histogram.c - percentiles of bucketed values. */
#include "replay/meters/histogram.h"

#define PER_OCTAVE (1u << REP_HISTOGRAM_BITS)

uint64_t rep_histogram_low(uint32_t bucket)
{
    if (bucket < 2 * PER_OCTAVE)
        return bucket;
    const uint32_t shift = bucket / PER_OCTAVE - 1;
    return (uint64_t)(bucket % PER_OCTAVE + PER_OCTAVE) << shift;
}

void rep_histogram_merge(struct rep_histogram *histogram, const struct rep_histogram *other)
{
    histogram->count += other->count;
    histogram->sum += other->sum;
    if (other->max > histogram->max)
        histogram->max = other->max;
    for (uint32_t i = 0; i < REP_HISTOGRAM_BUCKETS; i++)
        histogram->buckets[i] += other->buckets[i];
}

double rep_histogram_percentile(const struct rep_histogram *histogram, double share)
{
    const double exact = share * (double)histogram->count;
    uint64_t rank = (uint64_t)exact, seen = 0;
    if ((double)rank < exact || rank == 0)
        rank++;
    for (uint32_t i = 0; i < REP_HISTOGRAM_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen < rank)
            continue;
        const uint64_t low = rep_histogram_low(i);
        const uint64_t last = rep_histogram_low(i + 1) - 1;
        const double middle = ((double)low + (double)last) / 2;
        /* The last bucket holds all values that are too large for the others: only the greatest of them is known. */
        const double max = (double)histogram->max;
        return i == REP_HISTOGRAM_BUCKETS - 1 || middle > max ? max : middle;
    }
    return 0;
}

double rep_histogram_mean(const struct rep_histogram *histogram)
{
    return histogram->count > 0 ? (double)histogram->sum / (double)histogram->count : 0;
}
