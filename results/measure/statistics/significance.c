/* significance.c - Student's t, and many at once. Sources stand in the header. */
#include "results/measure/statistics/significance.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "footprint/base/support.h"
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

/* The share that lies above t; freedom > 0. */
static double student_tail(double t, size_t freedom)
{
    const double outside = fmax(0, 1 - within(fabs(t), freedom)) / 2;
    return t > 0 ? outside : 1 - outside;
}

static const struct res_tails NO_TAILS = {1, 1};

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

/* ---- a logarithm ----------------------------------------------------------------------------- */

#define CERTAIN 1e-12 /* errors below are rounding */

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
    return logarithm.value < INFINITY && isfinite(logarithm.error) && logarithm.freedom >= 1;
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
    if (!is_usable(logarithm) || !(limit >= 0))
        return NO_TAILS;
    const double distance = isinf(logarithm.value) && limit == 0 ? 0 : logarithm.value - log(limit);
    if (logarithm.error <= CERTAIN || isinf(distance))
        return distance > CERTAIN ? (struct res_tails){.above = 0, .below = 1}
                                  : (struct res_tails){.above = 1, .below = 0};
    const double above = student_tail(distance / logarithm.error, (size_t)logarithm.freedom);
    return (struct res_tails){.above = above, .below = 1 - above};
}
