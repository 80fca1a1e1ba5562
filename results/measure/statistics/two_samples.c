/* two_samples.c - tests of samples that were taken apart. Sources stand in the header. */
#include "results/measure/statistics/two_samples.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "results/measure/base/random.h"
#include "results/measure/statistics/significance.h"

#define CERTAIN 1e-12 /* errors below are rounding */

static const struct res_tails NO_TAILS = {1, 1};

static struct res_logarithm mean_of(const double *logarithms, size_t count)
{
    struct res_logarithm mean = {0, 0, (double)count - 1};
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        mean.value += logarithms[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += pow(logarithms[i] - mean.value, 2);
    mean.error = sqrt(squares / mean.freedom / (double)count);
    return mean;
}

struct res_logarithm res_logarithms_difference(struct res_logarithm one, struct res_logarithm two)
{
    const double squares[2] = {one.error * one.error, two.error * two.error};
    const double sum = squares[0] + squares[1];
    const double parts = squares[0] * squares[0] / one.freedom + squares[1] * squares[1] / two.freedom;
    return (struct res_logarithm){.value = one.value - two.value,
                                  .error = sqrt(sum),
                                  .freedom = parts > 0 ? sum * sum / parts : one.freedom + two.freedom};
}

static bool is_usable(struct res_logarithm logarithm)
{
    return isfinite(logarithm.value) && isfinite(logarithm.error) && logarithm.freedom >= 1;
}

struct res_estimate res_logarithm_estimate(struct res_logarithm logarithm)
{
    if (!is_usable(logarithm))
        return (struct res_estimate){.value = NAN, .interval = {NAN, NAN}};
    const double reach = logarithm.error > CERTAIN
                             ? res_student_quantile((size_t)logarithm.freedom) * logarithm.error
                             : 0;
    const struct res_tails tails = res_logarithm_tails(logarithm, 1);
    return (struct res_estimate){
        .value = exp(logarithm.value),
        .interval = {exp(logarithm.value - reach), exp(logarithm.value + reach)},
        .p_value = fmin(1, 2 * fmin(tails.above, tails.below)),
    };
}

struct res_tails res_logarithm_tails(struct res_logarithm logarithm, double limit)
{
    if (!is_usable(logarithm) || !(limit > 0))
        return NO_TAILS;
    const double distance = logarithm.value - log(limit);
    if (logarithm.error <= CERTAIN)
        return distance > CERTAIN ? (struct res_tails){.above = 0, .below = 1}
                                  : (struct res_tails){.above = 1, .below = 0};
    const double above = res_student_tail(distance / logarithm.error, (size_t)logarithm.freedom);
    return (struct res_tails){.above = above, .below = 1 - above};
}

/* Of a division of all samples: the first `count` are the one set. */
static double figure_of(const double *samples, size_t count, size_t all)
{
    const struct res_logarithm difference = res_logarithms_difference(mean_of(samples, count),
                                                                      mean_of(samples + count, all - count));
    if (difference.error > CERTAIN)
        return difference.value / difference.error;
    return fabs(difference.value) > CERTAIN ? copysign(INFINITY, difference.value) : 0;
}

static bool logarithms(const double *samples, size_t count, double less, double *ret_logarithms)
{
    for (size_t i = 0; i < count; i++) {
        if (!(samples[i] > 0) || !isfinite(samples[i]))
            return false;
        ret_logarithms[i] = log(samples[i]) - less;
    }
    return count > 1;
}

static struct res_tails count_divisions(double *samples, size_t count, size_t all, uint64_t seed)
{
    struct res_random random = res_random_from(seed);
    const struct res_logarithm difference = res_logarithms_difference(mean_of(samples, count),
                                                                      mean_of(samples + count, all - count));
    const double seen = figure_of(samples, count, all);
    const double slack = isfinite(seen) ? 1e-9 * fabs(seen) : 0; /* the same division is to count */
    size_t above = 0, below = 0;
    if (difference.error <= CERTAIN)
        return res_logarithm_tails(difference, 1);
    for (size_t i = 0; i < RES_RESAMPLES; i++) {
        for (size_t last = all - 1; last > 0; last--) {
            const size_t other = res_random_below(&random, last + 1);
            const double moved = samples[last];
            samples[last] = samples[other];
            samples[other] = moved;
        }
        const double figure = figure_of(samples, count, all);
        above += figure >= seen - slack;
        below += figure <= seen + slack;
    }
    const struct res_tails student = res_logarithm_tails(difference, 1);
    const double one = 1.0 / (RES_RESAMPLES + 1);
    return (struct res_tails){
        .above = above > 0 ? (double)(above + 1) * one : fmin(one, student.above),
        .below = below > 0 ? (double)(below + 1) * one : fmin(one, student.below),
    };
}

struct res_tails res_two_sample_tails(const double *other, size_t other_count, const double *base,
                                      size_t base_count, double limit, uint64_t seed)
{
    double *samples = res_calloc(other_count + base_count + 1, sizeof *samples);
    struct res_tails tails = NO_TAILS;
    if (limit > 0 && logarithms(other, other_count, log(limit), samples) &&
        logarithms(base, base_count, 0, samples + other_count))
        tails = count_divisions(samples, other_count, other_count + base_count, seed);
    free(samples);
    return tails;
}
