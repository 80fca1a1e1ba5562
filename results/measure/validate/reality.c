/* reality.c - the ranges of reality.h. */
#include "results/measure/validate/reality.h"

#include <math.h>

struct res_real_range res_real_range_of(const double *samples, size_t count)
{
    struct res_real_range range = {NAN, NAN, 0};
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(samples[i]))
            continue;
        range.low_bytes = fmin(range.low_bytes, samples[i]); /* of a NAN and a number the number */
        range.high_bytes = fmax(range.high_bytes, samples[i]);
        range.runs++;
    }
    return range;
}

double res_real_range_beyond(const struct res_real_range *range, double predicted_bytes)
{
    if (range->runs < 2 || !isfinite(predicted_bytes) || !(range->low_bytes > 0))
        return NAN;
    if (predicted_bytes < range->low_bytes)
        return predicted_bytes / range->low_bytes - 1;
    return predicted_bytes > range->high_bytes ? predicted_bytes / range->high_bytes - 1 : 0;
}

struct res_real_beyond res_real_beyond_of(const struct res_real_ranges *ranges,
                                          const struct res_levels *predicted)
{
    return (struct res_real_beyond){res_real_range_beyond(&ranges->peak, predicted->peak_bytes),
                                    res_real_range_beyond(&ranges->mean, predicted->mean_bytes),
                                    res_real_range_beyond(&ranges->end, predicted->end_bytes)};
}
