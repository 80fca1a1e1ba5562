/* disturbed.c - the rule of disturbed.h. */
#include "results/measure/validate/disturbed.h"

#include <math.h>

#include "results/measure/validate/fidelity.h"

/* Whether each of the samples is apart from `from` by more than runs that are alike, all to the side of their median. */
static bool lie_apart(const double *samples, size_t count, double from, double median)
{
    for (size_t i = 0; i < count; i++)
        if (median > from ? samples[i] <= from * (1 + RES_RUNS_ALIKE)
                          : samples[i] >= from * (1 - RES_RUNS_ALIKE))
            return false;
    return true;
}

double res_disturbed_by(const double *sampled_bytes, size_t sampled_count, const double *mapped_bytes,
                        size_t mapped_count, double apart_bytes)
{
    if (sampled_count < RES_DISTURBED_RUNS || mapped_count < RES_DISTURBED_RUNS)
        return 0;
    const double alone = res_median(sampled_bytes, sampled_count),
                 read = res_median(mapped_bytes, mapped_count);
    const double distance = res_median_deviation(sampled_bytes, sampled_count);
    const double bound = fmax(RES_DISTURBED_TIMES * distance, RES_RUNS_ALIKE * alone);
    if (!lie_apart(mapped_bytes, mapped_count, alone, read))
        return 0;
    const bool differs = read - alone > bound || alone - read > fmax(bound, apart_bytes);
    return alone > 0 && differs ? read / alone - 1 : 0;
}
