/* steady.c - fastest parts of batches, and what each round has in them. */
#include "results/measure/statistics/steady.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"

#define PART 0.25 /* of the rounds, the fastest */

/* One side by the fastest part of its rounds. */
struct side {
    double *shares;  /* of each round; their mean is the steady time */
    double *weights; /* how much of the steady time's parts each round gave, 1 in all */
    size_t rounds;
    double ns; /* the steady time */
};

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Of the first `rounds` rounds; released by side_release. sorted: room for as many. */
static struct side side_of(const struct res_batches *batches, size_t rounds)
{
    struct side side = {.shares = res_calloc(rounds, sizeof(double)),
                        .weights = res_calloc(rounds, sizeof(double)),
                        .rounds = rounds};
    double *sorted = res_calloc(rounds, sizeof *sorted);
    double taken = 0;
    const size_t last = (size_t)fmax(ceil(PART * (double)rounds - 1e-9) - 1, 0);
    for (size_t batch = 0; batch < batches->batch_count; batch++) {
        for (size_t round = 0; round < rounds; round++)
            sorted[round] = (double)batches->rounds[round][batch];
        qsort(sorted, rounds, sizeof *sorted, by_value);
        for (size_t round = 0; round < rounds; round++) {
            const double ns = (double)batches->rounds[round][batch], slowest = sorted[last];
            side.shares[round] += slowest - fmax(slowest - ns, 0) / PART;
            side.weights[round] += ns <= slowest ? ns : 0;
            taken += ns <= slowest ? ns : 0;
        }
    }
    for (size_t round = 0; round < rounds; round++) {
        side.ns += side.shares[round] / (double)rounds;
        side.weights[round] /= fmax(taken, 1);
    }
    free(sorted);
    return side;
}

static void side_release(struct side *side)
{
    free(side->shares);
    free(side->weights);
}

static double steady_ns(const struct res_batches *batches)
{
    struct side side = side_of(batches, batches->round_count);
    side_release(&side);
    return side.ns;
}

double res_steady_ns(const struct res_batches *batches)
{
    assert(batches->round_count > 0);
    return steady_ns(batches);
}

static bool is_there(const struct res_batches *batches)
{
    return batches != NULL && batches->round_count > 0 && batches->batch_count > 0;
}

/* 0 where there is none, or it was cut differently. */
static double floor_ns(const struct res_batches *floor, const struct res_batches *of)
{
    return is_there(floor) && floor->batch_count == of->batch_count ? steady_ns(floor) : 0;
}

double res_steady_net_ns(const struct res_batches *batches, const struct res_batches *floor)
{
    if (!is_there(batches))
        return NAN;
    const double net = steady_ns(batches) - floor_ns(floor, batches);
    return net > 0 ? net : NAN;
}

/* ---- ratios ---------------------------------------------------------------------------------- */

/* Adds `weight` times the logarithm of one side's net time, and what each round says of it. */
static void add(const struct res_batches *batches, double floor, double weight, size_t rounds, double *says,
                double *weights, double *logarithm)
{
    struct side side = side_of(batches, rounds);
    const double net = side.ns - floor;
    *logarithm += net > 0 ? weight * log(net) : NAN;
    for (size_t round = 0; round < rounds; round++) {
        says[round] += weight * (side.shares[round] - side.ns) / net;
        weights[round] += fabs(weight) * side.weights[round];
    }
    side_release(&side);
}

/* The rounds that the weights make, as many as equal ones would be. */
static double effective(const double *weights, size_t rounds)
{
    double sum = 0, squares = 0;
    for (size_t round = 0; round < rounds; round++) {
        sum += weights[round];
        squares += weights[round] * weights[round];
    }
    return squares > 0 ? fmax(sum * sum / squares, 2) : 2;
}

static struct res_logarithm logarithm_of(const struct res_steady_sides *sides, size_t rounds,
                                         double *ret_says)
{
    const double floor = floor_ns(sides->floor, sides->other);
    const bool controlled = is_there(sides->control);
    double *says = res_calloc(rounds, sizeof *says), *weights = res_calloc(rounds, sizeof *weights);
    struct res_logarithm found = {0, 0, 0};
    double squares = 0;
    add(sides->other, floor, 1, rounds, says, weights, &found.value);
    if (sides->base != NULL)
        add(sides->base, floor, controlled ? -0.5 : -1, rounds, says, weights, &found.value);
    if (controlled)
        add(sides->control, floor, -0.5, rounds, says, weights, &found.value);
    for (size_t round = 0; round < rounds; round++)
        squares += says[round] * says[round];
    if (ret_says != NULL)
        memcpy(ret_says, says, rounds * sizeof *says);
    const double few = effective(weights, rounds);
    found.freedom = few - 1;
    /* As Yuen counts the rounds that are left: PART * rounds of them, less one. */
    const double left = fmax((double)rounds - 1 / PART, 1);
    found.error = rounds > 1 ? sqrt(squares / left / (double)rounds * few / (few - 1)) : NAN;
    free(says);
    free(weights);
    return found;
}

struct res_logarithm res_steady_logarithm(const struct res_steady_sides *sides)
{
    return res_steady_rounds(sides, NULL);
}

struct res_logarithm res_steady_rounds(const struct res_steady_sides *sides, double *ret_says)
{
    const struct res_batches *const all[] = {sides->other, sides->base, sides->control};
    struct res_logarithm none = {NAN, NAN, 0};
    size_t rounds = is_there(sides->other) ? sides->other->round_count : 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && rounds > 0; i++) {
        if (all[i] == NULL || (i == 2 && !is_there(all[i])))
            continue;
        if (!is_there(all[i]) || all[i]->batch_count != sides->other->batch_count)
            return none;
        rounds = all[i]->round_count < rounds ? all[i]->round_count : rounds;
    }
    return rounds > 0 ? logarithm_of(sides, rounds, ret_says) : none;
}
