/* statistics.c - medians, ratios of pairs and verdicts. The formulas' sources stand in the header. */
#include "results/measure/statistics/statistics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/base/fields.h"

int res_by_value(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double quantile_of_sorted(const double *sorted, size_t count, double part)
{
    const double position = (double)(count - 1) * part;
    const size_t below = (size_t)position;
    const double rest = position - (double)below;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + rest * (sorted[below + 1] - sorted[below]);
}

double res_quantile(const double *samples, size_t count, double part)
{
    assert(count > 0 && part >= 0 && part <= 1);
    RES_FREED double *sorted = res_calloc(count, sizeof *sorted);
    memcpy(sorted, samples, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, res_by_value);
    return quantile_of_sorted(sorted, count, part);
}

double res_median(const double *samples, size_t count)
{
    return res_quantile(samples, count, 0.5);
}

double res_student_quantile(size_t freedom)
{
    static const double quantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                       2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                       2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
    const size_t known = sizeof quantiles / sizeof quantiles[0];
    assert(freedom > 0);
    if (freedom <= known)
        return quantiles[freedom - 1];
    const double z = 1.959964, nu = (double)freedom;
    return z + (pow(z, 3) + z) / (4 * nu) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * nu * nu);
}

/* logs: sorted. The ends are the nearest that is kept (winsorized). */
static double trimmed_error(const double *logs, size_t count, size_t cut)
{
    const size_t kept = count - 2 * cut;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += logs[i < cut ? cut : i >= count - cut ? count - cut - 1 : i];
    for (size_t i = 0; i < count; i++) {
        const double off = logs[i < cut ? cut : i >= count - cut ? count - cut - 1 : i] - sum / (double)count;
        squares += off * off;
    }
    return sqrt(squares / (double)kept / (double)(kept - 1));
}

static bool are_ratios(const double *ratios, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(ratios[i] >= 0) || !isfinite(ratios[i]))
            return false;
    return count > 0;
}

struct res_logarithm res_trimmed_logarithm(const double *ratios, size_t count)
{
    const size_t cut = count / 5, kept = count - 2 * cut;
    struct res_logarithm found = {NAN, NAN, (double)kept - 1};
    if (!are_ratios(ratios, count))
        return found;
    RES_FREED double *logs = res_calloc(count, sizeof *logs);
    for (size_t i = 0; i < count; i++)
        logs[i] = log(ratios[i]);
    qsort(logs, count, sizeof *logs, res_by_value);
    if (isfinite(logs[cut])) {
        found.value = 0;
        for (size_t i = cut; i < count - cut; i++)
            found.value += logs[i] / (double)kept;
        found.error = kept > 1 ? trimmed_error(logs, count, cut) : NAN;
    } else if (isinf(logs[count - cut - 1])) {
        found.value = -INFINITY;
        found.error = kept > 1 ? 0 : NAN;
    }
    return found;
}

struct res_interval res_noise(const struct res_interval *aa)
{
    if (!(aa->low > 0) || !isfinite(aa->high))
        return (struct res_interval){1, 1};
    return (struct res_interval){fmin(fmin(aa->low, 1 / aa->high), 1), fmax(fmax(aa->high, 1 / aa->low), 1)};
}

static bool inside_control(const struct res_comparison *comparison)
{
    const struct res_interval noise = res_noise(&comparison->control);
    return comparison->has_control && comparison->ratio >= noise.low && comparison->ratio <= noise.high;
}

static bool leaves_out(struct res_interval interval, double difference)
{
    return interval.low >= 1 / (1 + difference) && interval.high <= 1 + difference;
}

enum res_verdict res_judge(const struct res_comparison *comparison)
{
    const struct res_interval interval = comparison->interval;
    const size_t needed = comparison->rounds_needed > 0 ? comparison->rounds_needed : RES_ROUNDS_FOR_VERDICT;
    if (comparison->rounds < needed || !isfinite(comparison->ratio) || !isfinite(interval.low) ||
        !isfinite(interval.high))
        return RES_UNDECIDED;
    if (fabs(comparison->ratio - 1) < comparison->worth || inside_control(comparison))
        return RES_SAME;
    const double least = 1 + comparison->least;
    if (interval.low <= least && interval.high >= 1 / least)
        return comparison->excluded == 0 || leaves_out(interval, comparison->excluded) ? RES_SAME
                                                                                       : RES_UNDECIDED;
    return comparison->ratio < 1 ? RES_LESS : RES_MORE;
}

enum res_verdict res_judge_many(enum res_verdict verdict, struct res_interval interval, double excluded,
                                double p_corrected)
{
    const bool is_shown = verdict == RES_LESS || verdict == RES_MORE;
    return !is_shown || p_corrected <= RES_P_VALUE_MOST ? verdict
           : leaves_out(interval, excluded)             ? RES_SAME
                                                        : RES_UNDECIDED;
}

const char *const RES_TIME_VERDICTS[] = {"undecided", "same", "faster", "slower", NULL};
const char *const RES_MEMORY_VERDICTS[] = {"undecided", "same", "less", "more", NULL};

/* ---- Student's t, and many at once: sources stand in the header ------------------------------ */

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

/* The members that are p-values, by size: the caller's to free. */
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

struct res_logarithm res_logarithm_told(double ratio, struct res_interval interval, size_t freedom)
{
    const double width = log(interval.high / interval.low);
    return (struct res_logarithm){log(ratio), width / 2 / res_student_quantile(freedom), (double)freedom};
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

/* ---- the formulas of many workloads. Sources stand in the header ---- */

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

struct res_logarithm res_many_mean(const double *values, const double *shares, size_t count)
{
    const double all = sum_of(shares, count), effective = res_many_effective(shares, count);
    struct res_logarithm mean = {NAN, NAN, effective - 1};
    double squares = 0;
    if (!(all > 0))
        return mean;
    mean.value = 0;
    for (size_t i = 0; i < count; i++)
        mean.value += shares[i] / all * values[i];
    for (size_t i = 0; i < count; i++)
        squares += pow(shares[i] / all * (values[i] - mean.value), 2);
    if (effective > 1)
        mean.error = sqrt(effective / (effective - 1) * squares);
    return mean;
}
