/* steady.c - fastest quarters of batches, and intervals of their sums by resampling rounds. */
#include "results/measure/statistics/steady.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "results/measure/base/random.h"

/* ---- sorted times of batches ------------------------------------------------------------------ */

/* Of one batch in one round. */
struct steady_cell {
    double ns;
    uint32_t round;
};

/* Every batch's rounds from the fastest to the slowest, so that a resample needs no sorting: it only counts. */
struct steady_sorted {
    struct steady_cell *cells; /* round_count of each batch */
    size_t round_count, batch_count;
};

/* One side of what is estimated. */
struct steady_side {
    struct steady_sorted sorted;
    uint32_t *counts; /* how often each round is taken; adds up to round_count */
    double floor_ns;
};

static int by_time(const void *left, const void *right)
{
    const struct steady_cell *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    return (a->round > b->round) - (a->round < b->round); /* so that the same samples give the same order */
}

/* round_count: of those that there are. */
static struct steady_sorted sort(const struct res_batches *batches, size_t round_count)
{
    const size_t most = RES_STEADY_CELLS / round_count > 0 ? RES_STEADY_CELLS / round_count : 1;
    const size_t together = (batches->batch_count + most - 1) / most;
    struct steady_sorted sorted = {.round_count = round_count,
                                   .batch_count = (batches->batch_count + together - 1) / together};
    sorted.cells = res_calloc(sorted.batch_count * round_count, sizeof *sorted.cells);
    for (size_t group = 0; group < sorted.batch_count; group++) {
        struct steady_cell *cells = &sorted.cells[group * round_count];
        const size_t begin = group * together;
        const size_t end = begin + together < batches->batch_count ? begin + together : batches->batch_count;
        for (size_t round = 0; round < round_count; round++) {
            cells[round].round = (uint32_t)round;
            for (size_t batch = begin; batch < end; batch++)
                cells[round].ns += (double)batches->rounds[round][batch];
        }
        qsort(cells, round_count, sizeof *cells, by_time);
    }
    return sorted;
}

/* Each round counts `counts[round]` times; the counts add up to round_count. A quarter of them need not be a whole number: every
 * round is cut into RES_STEADY_PART pieces, of which round_count are taken. */
static double steady_sum_of(const struct steady_sorted *sorted, const uint32_t *counts)
{
    double sum = 0;
    for (size_t batch = 0; batch < sorted->batch_count; batch++) {
        const struct steady_cell *cell = &sorted->cells[batch * sorted->round_count];
        size_t left = sorted->round_count;
        for (; left > 0; cell++) {
            const size_t pieces = (size_t)counts[cell->round] * RES_STEADY_PART;
            const size_t taken = pieces < left ? pieces : left;
            sum += (double)taken * cell->ns;
            left -= taken;
        }
    }
    return sum / (double)sorted->round_count;
}

/* steady_draw - counts of rounds drawn with replacement. */
static void steady_draw(struct res_random *random, uint32_t *counts, size_t round_count)
{
    for (size_t i = 0; i < round_count; i++)
        counts[i] = 0;
    for (size_t i = 0; i < round_count; i++)
        counts[res_random_below(random, round_count)]++;
}

static void count_each_once(uint32_t *counts, size_t round_count)
{
    for (size_t i = 0; i < round_count; i++)
        counts[i] = 1;
}

/* steady_side_of - of the first `round_count` rounds, each counted once; to be released. Where there are more cells than RES_STEADY_CELLS,
 * neighbouring batches are put together. */
static struct steady_side steady_side_of(const struct res_batches *batches, size_t round_count,
                                         double floor_ns)
{
    struct steady_side side = {.sorted = sort(batches, round_count), .floor_ns = floor_ns};
    side.counts = res_calloc(round_count, sizeof *side.counts);
    count_each_once(side.counts, round_count);
    return side;
}

static void steady_side_release(struct steady_side *side)
{
    free(side->sorted.cells);
    free(side->counts);
}

/* steady_net_of - the same less the floor, by the side's counts; NAN where that is not above 0. */
static double steady_net_of(const struct steady_side *side)
{
    const double net = steady_sum_of(&side->sorted, side->counts) - side->floor_ns;
    return net > 0 ? net : NAN;
}

/* ---- names swapped within the rounds ---------------------------------------------------------- */

/* Both sides of a batch in one order: who of two belongs to which set is said by `swapped`. */
struct swapping {
    struct steady_cell
        *cells; /* 2 * round_count of each batch; the base's rounds are numbered from round_count on */
    size_t round_count, batch_count;
};

/* scale: brings the one side to the other's level, so that only chance is left between them. base_scale: or the other way. */
static struct swapping swapping_of(const struct steady_sorted *other, const struct steady_sorted *base,
                                   double scale, double base_scale)
{
    const size_t rounds = other->round_count;
    struct swapping swapping = {.round_count = rounds, .batch_count = other->batch_count};
    swapping.cells = res_calloc(2 * rounds * other->batch_count, sizeof *swapping.cells);
    for (size_t batch = 0; batch < other->batch_count; batch++) {
        const struct steady_cell *one = &other->cells[batch * rounds], *two = &base->cells[batch * rounds];
        struct steady_cell *cells = &swapping.cells[2 * batch * rounds];
        size_t i = 0, k = 0;
        while (i + k < 2 * rounds) {
            const bool take_one = k == rounds || (i < rounds && one[i].ns / scale <= two[k].ns * base_scale);
            cells[i + k] = take_one ? (struct steady_cell){.ns = one[i].ns / scale, .round = one[i].round}
                                    : (struct steady_cell){.ns = two[k].ns * base_scale,
                                                           .round = two[k].round + (uint32_t)rounds};
            if (take_one)
                i++;
            else
                k++;
        }
    }
    return swapping;
}

/* Steady times of both sets when the rounds are swapped so. */
static void steady_swapped(const struct swapping *swapping, const uint8_t *swapped, double ret_sums[2])
{
    const size_t rounds = swapping->round_count;
    ret_sums[0] = ret_sums[1] = 0;
    for (size_t batch = 0; batch < swapping->batch_count; batch++) {
        const struct steady_cell *cell = &swapping->cells[2 * batch * rounds];
        size_t left[2] = {rounds, rounds};
        for (; left[0] + left[1] > 0; cell++) {
            const size_t base = cell->round >= rounds;
            const size_t set = base ^ swapped[cell->round - base * rounds];
            const size_t taken = left[set] < RES_STEADY_PART ? left[set] : RES_STEADY_PART;
            ret_sums[set] += (double)taken * cell->ns;
            left[set] -= taken;
        }
    }
    ret_sums[0] /= (double)rounds;
    ret_sums[1] /= (double)rounds;
}

/* The logarithm of the ratio over random swaps: RES_RESAMPLES of them, to be freed. NULL where a swap leaves nothing above the floor. */
static double *strays_of(const struct swapping *swapping, double floor_ns, uint64_t seed)
{
    struct res_random random = res_random_from(seed);
    double *strays = res_calloc(RES_RESAMPLES, sizeof *strays);
    uint8_t *swapped = res_calloc(swapping->round_count, sizeof *swapped);
    bool usable = true;
    for (size_t i = 0; i < RES_RESAMPLES && usable; i++) {
        double sums[2];
        for (size_t round = 0; round < swapping->round_count; round++)
            swapped[round] = (uint8_t)(res_random_next(&random) >> 63);
        steady_swapped(swapping, swapped, sums);
        usable = sums[0] > floor_ns && sums[1] > floor_ns;
        if (usable)
            strays[i] = log((sums[0] - floor_ns) / (sums[1] - floor_ns));
    }
    free(swapped);
    if (usable)
        return strays;
    free(strays);
    return NULL;
}

/* steady_strays - logarithms of the ratio of net steady times over RES_RESAMPLES random swaps; the caller's to free. NULL where a swap leaves nothing
 * above the floor (base's, of both).
 * scale, base_scale  other's times are divided by the one, base's multiplied by the other: so that only chance is left between the sides.
 * Both have the same number of rounds and batches. */
static double *steady_strays(const struct steady_side *other, const struct steady_side *base, double scale,
                             double base_scale, uint64_t seed)
{
    struct swapping swapping = swapping_of(&other->sorted, &base->sorted, scale, base_scale);
    double *strays = strays_of(&swapping, base->floor_ns, seed);
    free(swapping.cells);
    return strays;
}

/* steady_effective_rounds - how many rounds a steady time rests on: Kish's effective number, of the shares that the rounds have in its fastest
 * quarters. All of them where each batch has other fastest rounds; a quarter where the same ones are fastest throughout, as when a machine becomes
 * slower. */
static double steady_effective_rounds(const struct steady_side *other, const struct steady_side *base)
{
    const size_t rounds = other->sorted.round_count;
    double *shares = res_calloc(rounds, sizeof *shares);
    double sum = 0, squares = 0;
    for (int which = 0; which < 2; which++) {
        const struct steady_sorted *sorted = which == 0 ? &other->sorted : &base->sorted;
        for (size_t batch = 0; batch < sorted->batch_count; batch++) {
            const struct steady_cell *cell = &sorted->cells[batch * rounds];
            for (size_t left = rounds; left > 0; cell++) {
                const size_t taken = left < RES_STEADY_PART ? left : RES_STEADY_PART;
                shares[cell->round] += (double)taken * cell->ns;
                left -= taken;
            }
        }
    }
    for (size_t round = 0; round < rounds; round++) {
        sum += shares[round];
        squares += shares[round] * shares[round];
    }
    free(shares);
    return squares > 0 ? sum * sum / squares : 1;
}

/* ---- paired: swaps -------------------------------------------------------------------------- */

/* Both sides of as many rounds as both have, to be released. Returns how many; 0: there are none, or batches differ. */
static size_t sides_of(const struct res_batches *other, const struct res_batches *base, double floor_ns,
                       struct steady_side ret_sides[2])
{
    const size_t count = other->round_count < base->round_count ? other->round_count : base->round_count;
    if (count == 0 || other->batch_count == 0 || other->batch_count != base->batch_count)
        return 0;
    ret_sides[0] = steady_side_of(other, count, floor_ns);
    ret_sides[1] = steady_side_of(base, count, floor_ns);
    return count;
}

static void release_sides(struct steady_side sides[2])
{
    steady_side_release(&sides[0]);
    steady_side_release(&sides[1]);
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
    struct steady_side sides[2];
    struct res_estimate result = NO_ESTIMATE;
    if (sides_of(other, base, floor_ns, sides) == 0)
        return result;
    const double ratio = steady_net_of(&sides[0]) / steady_net_of(&sides[1]);
    if (isfinite(ratio)) {
        const double level = (steady_net_of(&sides[0]) + floor_ns) / (steady_net_of(&sides[1]) + floor_ns);
        double *levelled = distances_at(&sides[0], &sides[1], level, seed);
        double *as_they_are = distances_at(&sides[0], &sides[1], 1, seed);
        if (levelled != NULL && as_they_are != NULL) {
            const double reach = res_quantile(levelled, RES_RESAMPLES, 0.95) *
                                 widening_of(steady_effective_rounds(&sides[0], &sides[1]));
            result = (struct res_estimate){.value = ratio,
                                           .interval = {ratio * exp(-reach), ratio * exp(reach)},
                                           .p_value = p_value_of(as_they_are, ratio)};
        }
        free(levelled);
        free(as_they_are);
    }
    release_sides(sides);
    return result;
}

struct res_logarithm res_steady_logarithm(const struct res_batches *other, const struct res_batches *base,
                                          double floor_ns, uint64_t seed)
{
    struct steady_side sides[2];
    struct res_logarithm result = {NAN, NAN, 0};
    if (sides_of(other, base, floor_ns, sides) == 0)
        return result;
    const double net[2] = {steady_net_of(&sides[0]), steady_net_of(&sides[1])};
    double *strays = NULL;
    if (isfinite(net[0] / net[1]))
        strays = steady_strays(&sides[0], &sides[1], (net[0] + floor_ns) / (net[1] + floor_ns), 1, seed);
    if (strays != NULL) {
        const double rounds = fmax(steady_effective_rounds(&sides[0], &sides[1]), 2);
        double squares = 0;
        for (size_t i = 0; i < RES_RESAMPLES; i++)
            squares += strays[i] * strays[i] / RES_RESAMPLES;
        result.value = log(net[0] / net[1]);
        result.error = sqrt(squares * rounds / (rounds - 1));
        result.freedom = rounds - 1;
    }
    free(strays);
    release_sides(sides);
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
    struct steady_side sides[2];
    struct res_tails tails = {1, 1};
    const size_t count = sides_of(other, base, floor_ns, sides);
    if (count == 0)
        return tails;
    const double net = steady_net_of(&sides[1]);
    /* The lesser side is made greater: the greater made less might fall below the floor. */
    const double scale = (limit * net + floor_ns) / (net + floor_ns);
    const double down = fmin(scale, 1), up = fmax(scale, 1);
    const double seen = log(((steady_net_of(&sides[0]) + floor_ns) / down - floor_ns) /
                            ((net + floor_ns) * up - floor_ns));
    double *strays = limit > 0 && isfinite(seen) ? steady_strays(&sides[0], &sides[1], down, up, seed) : NULL;
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
    release_sides(sides);
    return tails;
}

/* ---- unpaired ------------------------------------------------------------------------------- */

struct res_estimate res_steady_unpaired(const struct res_batches *other, double other_floor_ns,
                                        const struct res_batches *base, double base_floor_ns, uint64_t seed)
{
    const size_t few = other->round_count < base->round_count ? other->round_count : base->round_count;
    struct res_random random = res_random_from(seed);
    if (few == 0 || other->batch_count == 0 || other->batch_count != base->batch_count)
        return NO_ESTIMATE;
    struct res_estimate result = NO_ESTIMATE;
    struct steady_side sides[] = {steady_side_of(other, other->round_count, other_floor_ns),
                                  steady_side_of(base, base->round_count, base_floor_ns)};
    double *drawn = res_calloc(RES_RESAMPLES, sizeof *drawn);
    const double value = steady_net_of(&sides[0]) / steady_net_of(&sides[1]);
    bool usable = isfinite(value);
    for (size_t i = 0; i < RES_RESAMPLES && usable; i++) {
        for (size_t k = 0; k < 2; k++)
            steady_draw(&random, sides[k].counts, sides[k].sorted.round_count);
        drawn[i] = steady_net_of(&sides[0]) / steady_net_of(&sides[1]);
        usable = isfinite(drawn[i]);
    }
    if (usable)
        result = (struct res_estimate){.value = value,
                                       .interval = res_expanded_interval(drawn, RES_RESAMPLES, few)};
    free(drawn);
    release_sides(sides);
    return result;
}
