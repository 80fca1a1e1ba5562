/* fidelity.c - the formulas of fidelity.h. */
#include "results/measure/validate/fidelity.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "footprint/base/support.h"

static double error_of(double predicted, double real)
{
    return real > 0 ? predicted / real - 1 : NAN;
}

struct res_fidelity res_fidelity_of(double rest, const struct res_fidelity_sample *sample)
{
    struct res_fidelity fidelity = {
        .real_total = sample->total,
        .real_heap = sample->heap,
        .predicted_total = rest + sample->startup_total + sample->replayed - sample->missed,
        .predicted_heap = sample->startup_heap + sample->replayed,
    };
    fidelity.error_total = error_of(fidelity.predicted_total, fidelity.real_total);
    fidelity.error_heap = error_of(fidelity.predicted_heap, fidelity.real_heap);
    return fidelity;
}

bool res_fidelity_is_small(const struct res_fidelity *fidelity)
{
    return fidelity->real_heap < RES_HEAP_JUDGED && fidelity->predicted_heap < RES_HEAP_JUDGED;
}

double res_fidelity_sampled_peak(const double *totals, const double *samples, size_t count)
{
    double least = INFINITY, most = 0, highest = 0;
    bool known = count > 0;
    for (size_t i = 0; i < count; i++) {
        known = known && isfinite(totals[i]);
        least = fmin(least, totals[i]);
        most = fmax(most, totals[i]);
        highest = fmax(highest, samples[i]);
    }
    if (count == 0)
        return NAN;
    return known && most <= least * (1 + RES_RUNS_ALIKE) ? highest : res_median(samples, count);
}

enum res_sign res_fidelity_sign(double predicted_ns, double ratio, int verdict)
{
    if (!isfinite(predicted_ns) || !isfinite(ratio))
        return RES_SIGN_UNKNOWN;
    if (verdict != RES_LESS && verdict != RES_MORE)
        return RES_SIGN_NOISE;
    return (verdict == RES_LESS) == (predicted_ns < 0) ? RES_SIGN_RIGHT : RES_SIGN_WRONG;
}

/* ---- real runs ------------------------------------------------------------------------------- */

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

/* ---- peaks that do not fall together -------------------------------------------------------- */

void res_course_release(struct res_course *course)
{
    free((void *)(uintptr_t)course->at); /* ours; const for the others */
    free((void *)(uintptr_t)course->bytes);
    *course = (struct res_course){0};
}

static double highest(const struct res_course *course)
{
    double most = 0;
    for (size_t i = 0; i < course->count; i++)
        most = fmax(most, course->bytes[i]);
    return most;
}

/* The share of the whole that has passed at a moment. */
static double share_at(const struct res_course *course, size_t i)
{
    return course->at[i] / course->at[course->count - 1];
}

#define BY_SHARE 0.1 /* the heap decides before the clock does */

enum step { STEP_BOTH, STEP_REAL, STEP_REPLAYED };

/* The least cost of every pair of moments from the first on, a row at a time. ret_steps: from where each pair is reached. */
static void match(const struct res_course *heap, const struct res_course *replayed, unsigned char *ret_steps)
{
    const size_t columns = replayed->count;
    const double most = fmax(highest(heap), 1), own_most = fmax(highest(replayed), 1);
    double *row = res_calloc(columns, sizeof *row), *above = res_calloc(columns, sizeof *above);
    for (size_t i = 0; i < heap->count; i++) {
        for (size_t j = 0; j < columns; j++) {
            const double from[] = {i > 0 && j > 0 ? above[j - 1] : INFINITY, i > 0 ? above[j] : INFINITY,
                                   j > 0 ? row[j - 1] : INFINITY};
            const double cost = fabs(heap->bytes[i] / most - replayed->bytes[j] / own_most) +
                                BY_SHARE * fabs(share_at(heap, i) - share_at(replayed, j));
            enum step step = STEP_BOTH;
            for (enum step other = STEP_REAL; other <= STEP_REPLAYED; other++)
                step = from[other] < from[step] ? other : step;
            ret_steps[i * columns + j] = (unsigned char)step;
            row[j] = cost + (i + j > 0 ? from[step] : 0);
        }
        double *const done = above;
        above = row;
        row = done;
    }
    free(row);
    free(above);
}

/* Whether shares of its duration are known. */
static bool has_moments(const struct res_course *course)
{
    return course->count > 0 && course->at[course->count - 1] > 0;
}

struct res_course res_fidelity_retimed(const struct res_course *rest, const struct res_course *heap,
                                       const struct res_course *replayed)
{
    if (!has_moments(rest) || heap->count != rest->count || !has_moments(replayed) ||
        replayed->count > RES_RETIMED_MAX)
        return (struct res_course){0};
    const size_t most = rest->count + replayed->count;
    unsigned char *steps = res_calloc(rest->count * replayed->count, 1);
    double *at = res_calloc(most, sizeof *at), *bytes = res_calloc(most, sizeof *bytes);
    size_t count = 0, i = rest->count - 1, j = replayed->count - 1;
    match(heap, replayed, steps);
    for (bool more = true; more; count++) {
        const unsigned char step = steps[i * replayed->count + j];
        at[count] = replayed->at[j];
        bytes[count] = rest->bytes[i];
        more = i + j > 0;
        i -= more && step != STEP_REPLAYED;
        j -= more && step != STEP_REAL;
    }
    for (size_t k = 0; k < count / 2; k++) { /* they were found from the last to the first */
        const double late_at = at[k], late_bytes = bytes[k];
        at[k] = at[count - 1 - k];
        bytes[k] = bytes[count - 1 - k];
        at[count - 1 - k] = late_at;
        bytes[count - 1 - k] = late_bytes;
    }
    free(steps);
    return (struct res_course){at, bytes, count};
}

double res_fidelity_missed(const struct res_course *rest, const struct res_course *replayed)
{
    double together = 0;
    size_t at = 0;
    if (!has_moments(rest) || !has_moments(replayed))
        return 0;
    for (size_t i = 0; i < replayed->count; i++) {
        /* What rest was from the sample before to the one behind may have met it: samples are not of the same moments, and
         * when between two of its own rest fell is not known. */
        const bool between = at > 0 && i > 0 && share_at(rest, at) > share_at(replayed, i - 1);
        double met = fmax(rest->bytes[between ? at - 1 : at], rest->bytes[at]);
        while (at + 1 < rest->count && share_at(rest, at) < share_at(replayed, i))
            met = fmax(met, rest->bytes[++at]);
        together = fmax(together, met + replayed->bytes[i]);
    }
    return fmax(highest(rest) + highest(replayed) - together, 0);
}
