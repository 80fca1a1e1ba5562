/* metric_limit.c - p-values at a limit. */
#include "results/measure/figures/metric_limit.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "results/measure/statistics/steady.h"
#include "results/measure/statistics/two_samples.h"

static const struct res_tails NO_TAILS = {1, 1};

static struct res_tails tails_of(const double *samples, size_t count, bool of_passes, double limit)
{
    bool positive = limit > 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(samples[i]))
            return NO_TAILS;
        positive = positive && samples[i] > 0;
    }
    if (count == 0)
        return NO_TAILS;
    return of_passes && positive ? res_student_tails(samples, count, limit)
                                 : res_sign_tails(samples, count, limit);
}

struct res_tails res_limit_value(const struct res_series *series, double limit)
{
    return tails_of(series->values, series->count, series->of_passes, limit);
}

struct res_tails res_limit_paired(const struct res_series *other, const struct res_series *base, double limit,
                                  uint64_t seed)
{
    const size_t count = other->count < base->count ? other->count : base->count;
    if (other->batches != NULL && base->batches != NULL) {
        const struct res_batches one = res_series_batches(other), two = res_series_batches(base);
        const double ratio = (res_steady_ns(&one) - base->floor_ns) / (res_steady_ns(&two) - base->floor_ns);
        if (ratio > 0) /* else the estimate is of whole runs, too */
            return res_steady_tails(&one, &two, base->floor_ns, limit, seed);
    }
    double *ratios = res_calloc(count + 1, sizeof *ratios);
    for (size_t i = 0; i < count; i++)
        ratios[i] = res_ratio_of(other->values[i], base->values[i]);
    const struct res_tails tails = tails_of(ratios, count, other->of_passes, limit);
    free(ratios);
    return tails;
}

static bool all_positive(const struct res_series *series)
{
    for (size_t i = 0; i < series->count; i++)
        if (!(series->values[i] > 0))
            return false;
    return true;
}

struct res_tails res_limit_unpaired(const struct res_series *other, const struct res_series *base,
                                    const struct res_estimate *estimate, double limit, uint64_t seed)
{
    const size_t few = other->count < base->count ? other->count : base->count;
    const size_t all = other->count + base->count;
    const bool of_passes = other->of_passes && base->of_passes;
    const bool of_batches = other->batches != NULL && base->batches != NULL;
    if (!of_passes && !of_batches && few > 1 && isfinite(estimate->value) && all_positive(other) &&
        all_positive(base))
        return res_two_sample_tails(other->values, other->count, base->values, base->count, limit, seed);
    const size_t freedom = of_passes ? (all > 2 ? all - 2 : 0) : few - 1;
    return few > 0 && freedom > 0 ? res_interval_tails(estimate, freedom, limit) : NO_TAILS;
}
