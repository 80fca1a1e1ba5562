/* significance.c - signed ranks and Student's t. Sources stand in the header. */
#include "results/tune/significance.h"

#include <math.h>
#include <stdlib.h>

#include "results/support.h"

/* ---- signed ranks --------------------------------------------------------------------------- */

static int by_size(const void *left, const void *right)
{
    const double a = fabs(*(const double *)left), b = fabs(*(const double *)right);
    return (a > b) - (a < b);
}

/* Ranks twice over, so that the middle ones of ties are whole. logs: sorted by size. */
static void rank_twice(const double *logs, size_t count, size_t *ret_ranks)
{
    for (size_t first = 0, next; first < count; first = next) {
        next = first + 1;
        while (next < count && fabs(logs[next]) == fabs(logs[first]))
            next++;
        for (size_t i = first; i < next; i++)
            ret_ranks[i] = first + 1 + next;
    }
}

/* The share of all choices of signs whose negative ranks add up to `most` or less. */
static double share_up_to(const size_t *ranks, size_t count, size_t most)
{
    double *ways = res_calloc(most + 1, sizeof *ways);
    double sum = 0;
    ways[0] = 1;
    for (size_t i = 0; i < count; i++) {
        for (size_t total = most + 1; total-- > 0;) {
            ways[total] /= 2;
            if (total >= ranks[i])
                ways[total] += ways[total - ranks[i]] / 2;
        }
    }
    for (size_t total = 0; total <= most; total++)
        sum += ways[total];
    free(ways);
    return sum;
}

double res_signed_rank_p(const double *ratios, size_t count)
{
    double logs[RES_SIGNED_RANK_MAX];
    size_t ranks[RES_SIGNED_RANK_MAX];
    size_t kept = 0, negative = 0, positive = 0;
    for (size_t i = 0; i < count && kept < RES_SIGNED_RANK_MAX; i++) {
        if (ratios[i] != 1)
            logs[kept++] = log(ratios[i]);
    }
    if (kept == 0)
        return 1;
    qsort(logs, kept, sizeof *logs, by_size);
    rank_twice(logs, kept, ranks);
    for (size_t i = 0; i < kept; i++)
        *(logs[i] < 0 ? &negative : &positive) += ranks[i];
    const size_t less = negative < positive ? negative : positive;
    return fmin(1, 2 * share_up_to(ranks, kept, less));
}

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

double res_student_p(const double *ratios, size_t count)
{
    double sum = 0, squares = 0;
    if (count < 2)
        return 1;
    for (size_t i = 0; i < count; i++)
        sum += log(ratios[i]);
    const double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += pow(log(ratios[i]) - mean, 2);
    const double error = sqrt(squares / (double)(count - 1) / (double)count);
    if (!(error > 0))
        return mean == 0 ? 1 : 0;
    return fmax(0, 1 - within(fabs(mean) / error, count - 1));
}
