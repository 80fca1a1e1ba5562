/* steady.c - fastest quarters of batches, and intervals of their sums by resampling rounds. */
#include "results/measure/statistics/steady.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "results/measure/base/random.h"
#include "results/measure/statistics/steady_cells.h"
#include "results/measure/statistics/steady_swaps.h"

/* base NULL: the side itself. */
static struct res_estimate estimate(struct steady_side *other, struct steady_side *base, size_t few,
                                    uint64_t seed)
{
    struct res_random random = res_random_from(seed);
    struct res_estimate result = {.value = NAN, .interval = {NAN, NAN}};
    double *drawn = res_calloc(RES_RESAMPLES, sizeof *drawn);
    const double value = steady_net_of(other) / (base != NULL ? steady_net_of(base) : 1);
    bool usable = isfinite(value);
    for (size_t i = 0; i < RES_RESAMPLES && usable; i++) {
        steady_draw(&random, other->counts, other->sorted.round_count);
        if (base != NULL)
            steady_draw(&random, base->counts, base->sorted.round_count);
        drawn[i] = steady_net_of(other) / (base != NULL ? steady_net_of(base) : 1);
        usable = isfinite(drawn[i]);
    }
    if (usable)
        result = (struct res_estimate){.value = value,
                                       .interval = res_expanded_interval(drawn, RES_RESAMPLES, few)};
    free(drawn);
    return result;
}

static bool have_samples(const struct res_batches *batches)
{
    return batches->round_count > 0 && batches->batch_count > 0;
}

static const struct res_estimate NO_ESTIMATE = {.value = NAN, .interval = {NAN, NAN}};

double res_steady_ns(const struct res_batches *batches)
{
    assert(batches->round_count > 0);
    if (batches->batch_count == 0)
        return 0;
    struct steady_side side = steady_side_of(batches, batches->round_count, 0);
    const double ns = steady_sum_of(&side.sorted, side.counts);
    steady_side_release(&side);
    return ns;
}

struct res_estimate res_steady_value(const struct res_batches *batches, double floor_ns, uint64_t seed)
{
    if (!have_samples(batches))
        return NO_ESTIMATE;
    struct steady_side side = steady_side_of(batches, batches->round_count, floor_ns);
    const struct res_estimate result = estimate(&side, NULL, batches->round_count, seed);
    steady_side_release(&side);
    return result;
}

/* ---- paired: swaps -------------------------------------------------------------------------- */

/* How far they stray, either way; NULL stays NULL. */
static double *distances_at(const struct steady_side *other, const struct steady_side *base, double scale,
                            uint64_t seed)
{
    double *distances = steady_strays(other, base, scale, 1, seed);
    for (size_t i = 0; distances != NULL && i < RES_RESAMPLES; i++)
        distances[i] = fabs(distances[i]);
    return distances;
}

/* By how much a spread that so few rounds show is to be widened: Student's t for the normal distribution's quantile, and the root for the
 * ratio itself, which chance is no longer between the levelled sides. */
static double widening_of(double rounds)
{
    const double few = fmax(rounds, 2);
    return res_student_quantile((size_t)(few - 1)) / 1.959964 * sqrt(few / (few - 1));
}

/* The share of swaps that stray as far as the ratio did; the names as they were count as one, so that it is never 0. */
static double p_value_of(const double *distances, double ratio)
{
    const double seen = fabs(log(ratio)) *
                        (1 - 1e-12); /* the same swap is to count, however it was rounded */
    size_t as_far = 1;
    for (size_t i = 0; i < RES_RESAMPLES; i++)
        as_far += distances[i] >= seen;
    return (double)as_far / (RES_RESAMPLES + 1);
}

struct res_estimate res_steady_paired(const struct res_batches *other, const struct res_batches *base,
                                      double floor_ns, uint64_t seed)
{
    const size_t count = other->round_count < base->round_count ? other->round_count : base->round_count;
    struct res_estimate result = NO_ESTIMATE;
    if (!have_samples(other) || !have_samples(base) || other->batch_count != base->batch_count)
        return result;
    struct steady_side one = steady_side_of(other, count, floor_ns),
                       two = steady_side_of(base, count, floor_ns);
    const double ratio = steady_net_of(&one) / steady_net_of(&two);
    if (isfinite(ratio)) {
        const double level = (steady_net_of(&one) + floor_ns) / (steady_net_of(&two) + floor_ns);
        double *levelled = distances_at(&one, &two, level, seed);
        double *as_they_are = distances_at(&one, &two, 1, seed);
        if (levelled != NULL && as_they_are != NULL) {
            const double reach = res_quantile(levelled, RES_RESAMPLES, 0.95) *
                                 widening_of(steady_effective_rounds(&one, &two));
            result = (struct res_estimate){.value = ratio,
                                           .interval = {ratio * exp(-reach), ratio * exp(reach)},
                                           .p_value = p_value_of(as_they_are, ratio)};
        }
        free(levelled);
        free(as_they_are);
    }
    steady_side_release(&one);
    steady_side_release(&two);
    return result;
}

struct res_logarithm res_steady_logarithm(const struct res_batches *other, const struct res_batches *base,
                                          double floor_ns, uint64_t seed)
{
    const size_t count = other->round_count < base->round_count ? other->round_count : base->round_count;
    struct res_logarithm result = {NAN, NAN, 0};
    if (!have_samples(other) || !have_samples(base) || other->batch_count != base->batch_count)
        return result;
    struct steady_side one = steady_side_of(other, count, floor_ns);
    struct steady_side two = steady_side_of(base, count, floor_ns);
    const double net[2] = {steady_net_of(&one), steady_net_of(&two)};
    double *strays = NULL;
    if (isfinite(net[0] / net[1]))
        strays = steady_strays(&one, &two, (net[0] + floor_ns) / (net[1] + floor_ns), 1, seed);
    if (strays != NULL) {
        const double rounds = fmax(steady_effective_rounds(&one, &two), 2);
        double squares = 0;
        for (size_t i = 0; i < RES_RESAMPLES; i++)
            squares += strays[i] * strays[i] / RES_RESAMPLES;
        result.value = log(net[0] / net[1]);
        result.error = sqrt(squares * rounds / (rounds - 1));
        result.freedom = rounds - 1;
    }
    free(strays);
    steady_side_release(&one);
    steady_side_release(&two);
    return result;
}

/* ---- paired: at a limit --------------------------------------------------------------------- */

/* Of a figure that strays by `seen`, more than `as_far` swaps did. */
static double tail_of(size_t as_far, double seen, double root_mean_square, size_t rounds)
{
    const double counted = (double)(as_far + 1) / (RES_RESAMPLES + 1);
    if (as_far > 0 || !(root_mean_square > 0))
        return counted;
    const double bound = exp(-seen * seen / (2 * root_mean_square * root_mean_square));
    return fmin(counted, fmax(bound, pow(2, -(double)rounds)));
}

struct res_tails res_steady_tails(const struct res_batches *other, const struct res_batches *base,
                                  double floor_ns, double limit, uint64_t seed)
{
    const size_t count = other->round_count < base->round_count ? other->round_count : base->round_count;
    struct res_tails tails = {1, 1};
    if (!have_samples(other) || !have_samples(base) || other->batch_count != base->batch_count)
        return tails;
    struct steady_side one = steady_side_of(other, count, floor_ns),
                       two = steady_side_of(base, count, floor_ns);
    const double net = steady_net_of(&two);
    /* The lesser side is made greater: the greater made less might fall below the floor. */
    const double scale = (limit * net + floor_ns) / (net + floor_ns);
    const double down = fmin(scale, 1), up = fmax(scale, 1);
    const double seen = log(((steady_net_of(&one) + floor_ns) / down - floor_ns) /
                            ((net + floor_ns) * up - floor_ns));
    double *strays = limit > 0 && isfinite(seen) ? steady_strays(&one, &two, down, up, seed) : NULL;
    if (strays != NULL) {
        const double slack = 1e-12 * fabs(seen); /* the same swap is to count, however it was rounded */
        size_t above = 0, below = 0;
        double squares = 0;
        for (size_t i = 0; i < RES_RESAMPLES; i++) {
            above += strays[i] >= seen - slack;
            below += strays[i] <= seen + slack;
            squares += strays[i] * strays[i];
        }
        const double root_mean_square = sqrt(squares / RES_RESAMPLES);
        tails.above = tail_of(above, seen, root_mean_square, count);
        tails.below = tail_of(below, seen, root_mean_square, count);
    }
    free(strays);
    steady_side_release(&one);
    steady_side_release(&two);
    return tails;
}

/* ---- unpaired ------------------------------------------------------------------------------- */

struct res_estimate res_steady_unpaired(const struct res_batches *other, double other_floor_ns,
                                        const struct res_batches *base, double base_floor_ns, uint64_t seed)
{
    const size_t few = other->round_count < base->round_count ? other->round_count : base->round_count;
    if (!have_samples(other) || !have_samples(base) || other->batch_count != base->batch_count)
        return NO_ESTIMATE;
    struct steady_side one = steady_side_of(other, other->round_count, other_floor_ns);
    struct steady_side two = steady_side_of(base, base->round_count, base_floor_ns);
    const struct res_estimate result = estimate(&one, &two, few, seed);
    steady_side_release(&one);
    steady_side_release(&two);
    return result;
}
