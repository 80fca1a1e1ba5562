/* significance.c - signs, Student's t, and many at once. Sources stand in the header. */
#include "results/measure/statistics/significance.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "results/measure/base/random.h"
#include "results/measure/statistics/statistics.h"

/* ---- Student -------------------------------------------------------------------------------- */

/* The share of t's distribution within -t .. t. */
static double within(double t, size_t degrees)
{
    const double angle = atan(t / sqrt((double)degrees));
    const double cosine = cos(angle), square = cosine * cosine;
    const bool odd = degrees % 2 == 1;
    double term = odd ? cosine : 1, sum = 0;
    for (size_t i = odd ? 1 : 0; i + 2 <= degrees; i += 2) {
        sum += term;
        term *= square * (double)(i + 1) / (double)(i + 2);
    }
    return odd ? 2 / M_PI * (angle + sin(angle) * sum) : sin(angle) * sum;
}

/* Of the logarithms of samples. */
struct mean {
    double value, error; /* error NAN under 2 samples */
};

static struct mean mean_of(const double *samples, size_t count)
{
    struct mean mean = {0, NAN};
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        mean.value += log(samples[i]) / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += pow(log(samples[i]) - mean.value, 2);
    if (count > 1)
        mean.error = sqrt(squares / (double)(count - 1) / (double)count);
    return mean;
}

/* Samples that are all the same have an error of rounding only. */
static bool is_certain(const struct mean *mean)
{
    return mean->error <= 1e-12;
}

/* The share that lies above t; freedom > 0. */
static double student_tail(double t, size_t freedom)
{
    const double outside = fmax(0, 1 - within(fabs(t), freedom)) / 2;
    return t > 0 ? outside : 1 - outside;
}

static const struct res_tails NO_TAILS = {1, 1};

/* distance: of the figure's logarithm above the limit's, in units of error; certain: there is no error. */
static struct res_tails tails_of(double distance, bool certain, double error, size_t freedom)
{
    if (certain)
        return distance > 1e-12 ? (struct res_tails){.above = 0, .below = 1}
                                : (struct res_tails){.above = 1, .below = 0};
    return (struct res_tails){.above = student_tail(distance / error, freedom),
                              .below = student_tail(-distance / error, freedom)};
}

struct res_tails res_student_tails(const double *samples, size_t count, double limit)
{
    const struct mean mean = mean_of(samples, count);
    if (count < 2 || !isfinite(mean.value) || !(limit > 0))
        return NO_TAILS;
    return tails_of(mean.value - log(limit), is_certain(&mean), mean.error, count - 1);
}

struct res_tails res_interval_tails(const struct res_estimate *estimate, size_t freedom, double limit)
{
    const struct res_interval interval = estimate->interval;
    if (!(estimate->value > 0) || !(interval.low > 0) || !isfinite(interval.high) || !(limit > 0))
        return NO_TAILS;
    const double distance = log(estimate->value / limit);
    /* Intervals need not lie evenly around their figure: the side towards the limit counts. */
    const double reach = distance > 0 ? log(estimate->value / interval.low)
                                      : log(interval.high / estimate->value);
    return tails_of(distance, reach <= 1e-12, reach / res_student_quantile(freedom), freedom);
}

/* ---- signs ---------------------------------------------------------------------------------- */

#define EXACT_MOST 1000u /* signs whose number of choices a double still holds */

/* The share of all choices of `count` signs with at least `least` of one kind. */
static double share_from(size_t least, size_t count)
{
    double share = ldexp(1, -(int)count), sum = 0; /* of i of one kind */
    for (size_t i = 0; i <= count; i++) {
        if (count > EXACT_MOST)
            share = exp(lgamma((double)count + 1) - lgamma((double)i + 1) - lgamma((double)(count - i) + 1) -
                        (double)count * log(2));
        sum += i >= least ? share : 0;
        share *= (double)(count - i) / (double)(i + 1);
    }
    return fmin(sum, 1);
}

struct res_tails res_sign_tails(const double *samples, size_t count, double limit)
{
    size_t above = 0;
    for (size_t i = 0; i < count; i++)
        above += samples[i] > limit;
    return (struct res_tails){.above = share_from(above, count), .below = share_from(count - above, count)};
}

/* ---- many at once --------------------------------------------------------------------------- */

static int by_value(const void *left, const void *right)
{
    const double a = **(double *const *)left, b = **(double *const *)right;
    return (a > b) - (a < b);
}

/* Those that are p-values, by size: the caller's to free. */
static double **tested_of(double *p_values, size_t count, size_t *ret_tested)
{
    double **sorted = res_calloc(count + 1, sizeof *sorted);
    *ret_tested = 0;
    for (size_t i = 0; i < count; i++)
        if (p_values[i] <= 1)
            sorted[(*ret_tested)++] = &p_values[i];
    qsort(sorted, *ret_tested, sizeof *sorted, by_value);
    return sorted;
}

void res_holm(double *p_values, size_t count)
{
    size_t tested;
    double **sorted = tested_of(p_values, count, &tested);
    double most = 0;
    for (size_t i = 0; i < tested; i++) {
        most = fmax(most, fmin(1, *sorted[i] * (double)(tested - i)));
        *sorted[i] = most;
    }
    free(sorted);
}

void res_discoveries(double *p_values, size_t count)
{
    size_t tested;
    double **sorted = tested_of(p_values, count, &tested);
    double least = 1;
    for (size_t i = tested; i > 0; i--) {
        least = fmin(least, *sorted[i - 1] * (double)tested / (double)i);
        *sorted[i - 1] = least;
    }
    free(sorted);
}

/* ---- two samples ----------------------------------------------------------------------------- */

#define CERTAIN 1e-12 /* errors below are rounding */

static struct res_logarithm mean_logarithm_of(const double *logarithms, size_t count)
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
        return (struct res_estimate){.value = exp(logarithm.value), .interval = {NAN, NAN}, .p_value = 1};
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
    const double above = student_tail(distance / logarithm.error, (size_t)logarithm.freedom);
    return (struct res_tails){.above = above, .below = 1 - above};
}

/* Of a division of all samples: the first `count` are the one set. */
static double figure_of(const double *samples, size_t count, size_t all)
{
    const struct res_logarithm difference = res_logarithms_difference(
        mean_logarithm_of(samples, count), mean_logarithm_of(samples + count, all - count));
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
    const struct res_logarithm difference = res_logarithms_difference(
        mean_logarithm_of(samples, count), mean_logarithm_of(samples + count, all - count));
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
