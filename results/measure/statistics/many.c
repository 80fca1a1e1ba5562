/* many.c - the formulas of many workloads. Sources stand in the header. */
#include "results/measure/statistics/many.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/statistics/significance.h"

#define NORMAL_FREEDOM                                                                                       \
    10000.0              /* Student's 97.5 % quantile is 1.9602 then, the normal distribution's 1.9600 */
#define ROUNDING   1e-20 /* of a variance of logarithms; less is none */
#define CONFIDENCE 0.95

/* ---- means ----------------------------------------------------------------------------------- */

static double sum_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

double res_many_effective(const double *shares, size_t count)
{
    const double sum = sum_of(shares, count);
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += shares[i] * shares[i];
    /* Rounding must not take a workload away. */
    const double effective = squares > 0 ? sum * sum / squares : 0;
    return fabs(effective - round(effective)) < 1e-9 ? round(effective) : effective;
}

static double freedom_of(const double *shares, size_t count)
{
    return res_many_effective(shares, count) - 1;
}

static double weighted(const double *values, const double *shares, size_t count)
{
    const double all = sum_of(shares, count);
    double mean = 0;
    for (size_t i = 0; i < count; i++)
        mean += shares[i] / all * values[i];
    return mean;
}

struct res_logarithm res_many_mean(const double *values, const double *shares, size_t count)
{
    const double all = sum_of(shares, count), effective = res_many_effective(shares, count);
    struct res_logarithm mean = {NAN, NAN, freedom_of(shares, count)};
    double squares = 0;
    if (!(all > 0))
        return mean;
    mean.value = weighted(values, shares, count);
    for (size_t i = 0; i < count; i++)
        squares += pow(shares[i] / all * (values[i] - mean.value), 2);
    if (effective > 1)
        mean.error = sqrt(effective / (effective - 1) * squares);
    return mean;
}

struct res_logarithm res_many_these(const double *values, const double *variances, const double *shares,
                                    size_t count)
{
    const double all = sum_of(shares, count);
    double squares = 0;
    if (!(all > 0))
        return (struct res_logarithm){NAN, NAN, NORMAL_FREEDOM};
    for (size_t i = 0; i < count; i++)
        squares += pow(shares[i] / all, 2) * variances[i];
    return (struct res_logarithm){weighted(values, shares, count), sqrt(squares), NORMAL_FREEDOM};
}

/* ---- spread ---------------------------------------------------------------------------------- */

/* By the weights of a tau^2: their mean, and the squares around it, which would be count - 1 on average were it true. */
static struct res_many_spread at(const double *values, const double *variances, size_t count, double tau2,
                                 double *ret_squares)
{
    double all = 0, sum = 0;
    *ret_squares = 0;
    for (size_t i = 0; i < count; i++) {
        const double weight = 1 / (fmax(variances[i], ROUNDING) + tau2);
        all += weight;
        sum += weight * values[i];
    }
    for (size_t i = 0; i < count; i++)
        *ret_squares += pow(values[i] - sum / all, 2) / (fmax(variances[i], ROUNDING) + tau2);
    return (struct res_many_spread){tau2, sum / all, 1 / sqrt(all)};
}

/* The squares fall as tau^2 grows: between two bounds. */
struct res_many_spread res_many_spread(const double *values, const double *variances, size_t count)
{
    const double asked = (double)count - 1;
    double low = 0, high = ROUNDING, squares;
    if (count < 2)
        return (struct res_many_spread){NAN, count > 0 ? values[0] : NAN, NAN};
    struct res_many_spread spread = at(values, variances, count, 0, &squares);
    if (squares <= asked)
        return spread;
    do {
        high *= 4;
        (void)at(values, variances, count, high, &squares);
    } while (squares > asked);
    while (high - low > 1e-15 * high) {
        const double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        spread = at(values, variances, count, middle, &squares);
        *(squares > asked ? &low : &high) = middle;
    }
    return spread;
}

struct res_interval res_many_new(struct res_logarithm mean, double tau2, size_t count)
{
    if (count < 3)
        return (struct res_interval){NAN, NAN};
    const double reach = res_student_quantile(count - 2) * sqrt(tau2 + mean.error * mean.error);
    return (struct res_interval){mean.value - reach, mean.value + reach};
}

/* ---- totals ---------------------------------------------------------------------------------- */

struct res_logarithm res_many_total(const double *amounts, const double *ratios, const double *shares,
                                    size_t count)
{
    double base = 0, other = 0, mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        base += amounts[i];
        other += amounts[i] * ratios[i];
    }
    struct res_logarithm total = {log(other / base), NAN, freedom_of(shares, count)};
    if (count < 2)
        return total;
    double *without = res_calloc(count, sizeof *without);
    for (size_t i = 0; i < count; i++) {
        without[i] = log((other - amounts[i] * ratios[i]) / (base - amounts[i]));
        mean += without[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++)
        squares += pow(without[i] - mean, 2);
    total.error = sqrt(((double)count - 1) / (double)count * squares);
    free(without);
    return total;
}

struct res_logarithm res_many_total_these(const double *amounts, const double *ratios,
                                          const double *variances, size_t count)
{
    double base = 0, other = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        base += amounts[i];
        other += amounts[i] * ratios[i];
        squares += pow(amounts[i] * ratios[i], 2) * variances[i];
    }
    return (struct res_logarithm){log(other / base), sqrt(squares) / other, NORMAL_FREEDOM};
}
