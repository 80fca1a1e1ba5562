/* stats.h - what a pass counts, kept in a struct conv_survey while it runs: live_bytes_end and
 * live_objects_end hold the present figures until the end. */
#ifndef MALLAB_CONVERT_BASE_STATS_H
#define MALLAB_CONVERT_BASE_STATS_H

#include "convert/convert.h"

static inline uint64_t conv_add_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline unsigned conv_size_class(uint64_t bytes)
{
    return bytes == 0 ? 0 : 64 - (unsigned)__builtin_clzll(bytes);
}

/* conv_stats_requests - count allocations or resizes of bytes < 2^48 that the program was given. */
static inline void conv_stats_requests(struct conv_survey *survey, uint64_t bytes, uint64_t count)
{
    const unsigned size_class = conv_size_class(bytes);
    uint64_t all;
    if (__builtin_mul_overflow(bytes, count, &all))
        all = UINT64_MAX;
    survey->requested_bytes = conv_add_saturating(survey->requested_bytes, all);
    survey->class_count[size_class] += count;
    survey->class_bytes[size_class] = conv_add_saturating(survey->class_bytes[size_class], all);
    if (bytes > survey->largest_size)
        survey->largest_size = bytes;
}

/* conv_stats_live - the live set changed by so much; 2^48 bytes in each of 2^31 objects fit 64 bits only
 * modulo, which damaged input alone can reach. */
static inline void conv_stats_live(struct conv_survey *survey, uint64_t bytes_more, uint64_t bytes_less,
                                   int objects)
{
    survey->live_bytes_end += bytes_more - bytes_less;
    survey->live_objects_end += (uint64_t)(int64_t)objects;
    if (survey->live_bytes_end > survey->live_bytes_peak)
        survey->live_bytes_peak = survey->live_bytes_end;
    if (survey->live_objects_end > survey->live_objects_peak)
        survey->live_objects_peak = survey->live_objects_end;
}

/* conv_stats_add - add another process's figures to a sum. Strings, kinds and processes are left alone. */
void conv_stats_add(struct conv_survey *sum, const struct conv_survey *survey);

#endif
