/* steady.c - fastest quarters of batches, and intervals of their sums by resampling rounds. */
#include "results/steady.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "results/random.h"
#include "results/support.h"

/* Of one batch in one round. */
struct cell {
    double ns;
    uint32_t round;
};

/* Every batch's rounds from the fastest to the slowest, so that a resample needs no sorting: it only counts. */
struct sorted {
    struct cell *cells; /* round_count of each batch */
    size_t round_count, batch_count;
};

static int by_time(const void *left, const void *right)
{
    const struct cell *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    return (a->round > b->round) - (a->round < b->round); /* so that the same samples give the same order */
}

/* round_count: of those that there are. */
static struct sorted sort(const struct res_batches *batches, size_t round_count)
{
    const size_t most = RES_STEADY_CELLS / round_count > 0 ? RES_STEADY_CELLS / round_count : 1;
    const size_t together = (batches->batch_count + most - 1) / most;
    struct sorted sorted = {.round_count = round_count,
                            .batch_count = (batches->batch_count + together - 1) / together};
    sorted.cells = res_calloc(sorted.batch_count * round_count, sizeof *sorted.cells);
    for (size_t group = 0; group < sorted.batch_count; group++) {
        struct cell *cells = &sorted.cells[group * round_count];
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
static double steady_of(const struct sorted *sorted, const uint32_t *counts)
{
    double sum = 0;
    for (size_t batch = 0; batch < sorted->batch_count; batch++) {
        const struct cell *cell = &sorted->cells[batch * sorted->round_count];
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

static void draw(struct res_random *random, uint32_t *counts, size_t round_count)
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

/* One side of what is estimated. */
struct side {
    struct sorted sorted;
    uint32_t *counts;
    double floor_ns;
};

static struct side side_of(const struct res_batches *batches, size_t round_count, double floor_ns)
{
    struct side side = {.sorted = sort(batches, round_count), .floor_ns = floor_ns};
    side.counts = res_calloc(round_count, sizeof *side.counts);
    count_each_once(side.counts, round_count);
    return side;
}

static void side_release(struct side *side)
{
    free(side->sorted.cells);
    free(side->counts);
}

static double net_of(const struct side *side)
{
    const double net = steady_of(&side->sorted, side->counts) - side->floor_ns;
    return net > 0 ? net : NAN;
}

/* base NULL: the side itself. paired: both sides count the same rounds. */
static struct res_estimate estimate(struct side *other, struct side *base, bool paired, size_t few,
                                    uint64_t seed)
{
    struct res_random random = res_random_from(seed);
    struct res_estimate result = {.value = NAN, .interval = {NAN, NAN}};
    double *drawn = res_calloc(RES_RESAMPLES, sizeof *drawn);
    const double value = net_of(other) / (base != NULL ? net_of(base) : 1);
    bool usable = isfinite(value);
    for (size_t i = 0; i < RES_RESAMPLES && usable; i++) {
        draw(&random, other->counts, other->sorted.round_count);
        if (base != NULL && paired)
            for (size_t round = 0; round < base->sorted.round_count; round++)
                base->counts[round] = other->counts[round];
        else if (base != NULL)
            draw(&random, base->counts, base->sorted.round_count);
        drawn[i] = net_of(other) / (base != NULL ? net_of(base) : 1);
        usable = isfinite(drawn[i]);
    }
    if (usable)
        result = (struct res_estimate){value, res_expanded_interval(drawn, RES_RESAMPLES, few)};
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
    struct side side = side_of(batches, batches->round_count, 0);
    const double ns = steady_of(&side.sorted, side.counts);
    side_release(&side);
    return ns;
}

struct res_estimate res_steady_value(const struct res_batches *batches, double floor_ns, uint64_t seed)
{
    if (!have_samples(batches))
        return NO_ESTIMATE;
    struct side side = side_of(batches, batches->round_count, floor_ns);
    const struct res_estimate result = estimate(&side, NULL, false, batches->round_count, seed);
    side_release(&side);
    return result;
}

struct res_estimate res_steady_paired(const struct res_batches *other, const struct res_batches *base,
                                      double floor_ns, uint64_t seed)
{
    const size_t count = other->round_count < base->round_count ? other->round_count : base->round_count;
    if (!have_samples(other) || !have_samples(base) || other->batch_count != base->batch_count)
        return NO_ESTIMATE;
    struct side one = side_of(other, count, floor_ns), two = side_of(base, count, floor_ns);
    const struct res_estimate result = estimate(&one, &two, true, count, seed);
    side_release(&one);
    side_release(&two);
    return result;
}

struct res_estimate res_steady_unpaired(const struct res_batches *other, double other_floor_ns,
                                        const struct res_batches *base, double base_floor_ns, uint64_t seed)
{
    const size_t few = other->round_count < base->round_count ? other->round_count : base->round_count;
    if (!have_samples(other) || !have_samples(base) || other->batch_count != base->batch_count)
        return NO_ESTIMATE;
    struct side one = side_of(other, other->round_count, other_floor_ns);
    struct side two = side_of(base, base->round_count, base_floor_ns);
    const struct res_estimate result = estimate(&one, &two, false, few, seed);
    side_release(&one);
    side_release(&two);
    return result;
}
