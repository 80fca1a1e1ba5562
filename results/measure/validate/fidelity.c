/* fidelity.c - the formulas of fidelity.h. */
#include "results/measure/validate/fidelity.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "footprint/base/support.h"

static struct res_levels plus(struct res_levels left, struct res_levels right)
{
    return (struct res_levels){left.peak_bytes + right.peak_bytes, left.mean_bytes + right.mean_bytes,
                               left.end_bytes + right.end_bytes};
}

static struct res_levels constant(double bytes)
{
    return (struct res_levels){bytes, bytes, bytes};
}

static double error_of(double predicted, double real)
{
    return real > 0 ? predicted / real - 1 : NAN;
}

static struct res_levels errors_of(struct res_levels predicted, struct res_levels real)
{
    return (struct res_levels){error_of(predicted.peak_bytes, real.peak_bytes),
                               error_of(predicted.mean_bytes, real.mean_bytes),
                               error_of(predicted.end_bytes, real.end_bytes)};
}

struct res_fidelity res_fidelity_of(const struct res_levels *rest, const struct res_fidelity_sample *sample)
{
    struct res_fidelity fidelity = {
        .real_total = sample->total,
        .real_heap = sample->heap,
        .predicted_total = plus(plus(*rest, constant(sample->startup_total_bytes)), sample->replayed),
        .predicted_heap = plus(constant(sample->startup_heap_bytes), sample->replayed),
    };
    fidelity.predicted_total.peak_bytes -= sample->missed_bytes;
    fidelity.error_total = errors_of(fidelity.predicted_total, fidelity.real_total);
    fidelity.error_heap = errors_of(fidelity.predicted_heap, fidelity.real_heap);
    return fidelity;
}

static double level_median(const struct res_fidelity *all, size_t count, size_t level_at)
{
    double *known = res_calloc(count, sizeof *known);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const double bytes = *(const double *)((const char *)&all[i] + level_at);
        if (isfinite(bytes))
            known[found++] = bytes;
    }
    const double median = found > 0 ? res_median(known, found) : NAN;
    free(known);
    return median;
}

static struct res_levels medians_of(const struct res_fidelity *all, size_t count, size_t levels_at)
{
    return (struct res_levels){
        level_median(all, count, levels_at + offsetof(struct res_levels, peak_bytes)),
        level_median(all, count, levels_at + offsetof(struct res_levels, mean_bytes)),
        level_median(all, count, levels_at + offsetof(struct res_levels, end_bytes)),
    };
}

struct res_fidelity res_fidelity_median(const struct res_fidelity *all, size_t count)
{
    struct res_fidelity median = all[0];
    median.predicted_total = medians_of(all, count, offsetof(struct res_fidelity, predicted_total));
    median.predicted_heap = medians_of(all, count, offsetof(struct res_fidelity, predicted_heap));
    median.error_total = errors_of(median.predicted_total, median.real_total);
    median.error_heap = errors_of(median.predicted_heap, median.real_heap);
    return median;
}

bool res_fidelity_is_small(const struct res_fidelity *fidelity)
{
    return fidelity->real_heap.peak_bytes < RES_HEAP_JUDGED &&
           fidelity->predicted_heap.peak_bytes < RES_HEAP_JUDGED;
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

/* ---- real runs ------------------------------------------------------------------------------- */

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

struct res_levels res_real_beyond_of(const struct res_real_ranges *ranges, const struct res_levels *predicted)
{
    return (struct res_levels){res_real_range_beyond(&ranges->peak, predicted->peak_bytes),
                               res_real_range_beyond(&ranges->mean, predicted->mean_bytes),
                               res_real_range_beyond(&ranges->end, predicted->end_bytes)};
}

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

/* ---- order ---------------------------------------------------------------------------------- */

struct res_bar res_fidelity_order(const double *real_peaks, const double *predicted_peaks, size_t count)
{
    struct res_bar bar = {0, 0};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = i + 1; k < count; k++) {
            const double apart = real_peaks[i] - real_peaks[k],
                         predicted = predicted_peaks[i] - predicted_peaks[k];
            /* Written so that a missing figure makes no pair. */
            if (!(fabs(apart) > RES_BAR_DISTINCT * fmin(real_peaks[i], real_peaks[k])) ||
                !isfinite(predicted))
                continue;
            bar.checked++;
            bar.met += apart > 0 ? predicted > 0 : predicted < 0;
        }
    }
    return bar;
}

/* Median and interval of the paired ratios. */
static double ratio_of(const double *candidate, const double *baseline, size_t rounds, uint64_t seed,
                       struct res_interval *ret_interval)
{
    double *ratios = res_calloc(rounds, sizeof *ratios);
    bool usable = rounds > 0;
    for (size_t i = 0; i < rounds; i++) {
        usable = usable && baseline[i] > 0 && candidate[i] >= 0 && isfinite(baseline[i]) &&
                 isfinite(candidate[i]);
        ratios[i] = candidate[i] / baseline[i];
    }
    *ret_interval = usable && rounds >= RES_ROUNDS_FOR_INTERVAL ? res_bootstrap_median(ratios, rounds, seed)
                                                                : (struct res_interval){NAN, NAN};
    const double ratio = usable ? res_median(ratios, rounds) : NAN;
    free(ratios);
    return ratio;
}

struct res_time_check res_time_check_of(const double *candidate_ns, const double *baseline_ns,
                                        const double *control_ns, size_t rounds, double predicted_ns,
                                        uint64_t seed)
{
    struct res_time_check check = {.real_ns = NAN, .predicted_ns = predicted_ns};
    struct res_comparison comparison = {.rounds = rounds};
    check.ratio = ratio_of(candidate_ns, baseline_ns, rounds, seed, &check.interval);
    if (control_ns != NULL)
        comparison.has_control = isfinite(
            ratio_of(control_ns, baseline_ns, rounds, seed, &comparison.control));
    comparison.ratio = check.ratio;
    comparison.interval = check.interval;
    check.verdict = res_judge(&comparison);
    if (!isfinite(check.ratio))
        return check;
    double *differences = res_calloc(rounds, sizeof *differences);
    for (size_t i = 0; i < rounds; i++)
        differences[i] = candidate_ns[i] - baseline_ns[i];
    check.real_ns = res_median(differences, rounds);
    free(differences);
    if (!isfinite(predicted_ns))
        check.sign = RES_SIGN_UNKNOWN;
    else if (check.verdict == RES_LESS)
        check.sign = predicted_ns < 0 ? RES_SIGN_RIGHT : RES_SIGN_WRONG;
    else if (check.verdict == RES_MORE)
        check.sign = predicted_ns > 0 ? RES_SIGN_RIGHT : RES_SIGN_WRONG;
    else
        check.sign = RES_SIGN_NOISE;
    return check;
}
