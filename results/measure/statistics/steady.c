/* steady.c - fastest parts of batches, and what each round has in them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/base/fields.h"
#include "results/measure/statistics/statistics.h"

/* The parts of the rounds, the fastest of them. */
static const double PARTS[] = {0.5, 0.25, 0.125, 0.0625};
#define PART_COUNT   (sizeof PARTS / sizeof PARTS[0])
#define QUARTER      1
#define ROUNDS_LEAST 4 /* in another part than a quarter */

/* One side by one part of its rounds. */
struct side {
    double *shares;  /* of each round; their mean is the steady time */
    double *weights; /* how much of the steady time's parts each round gave, 1 in all */
    double ns;       /* the steady time */
};

/* The logarithms by each of the parts that somebody asked for, up to end. */
struct res_steady {
    size_t end;
    struct side by[PART_COUNT];
};

/* A batch more, by its times. slowest: of those, that of the part. Returns how much of them the part has. */
static double add_batch(struct side *side, double part, const double *times, double slowest, size_t rounds)
{
    const double times_more = 1 / part; /* exact, as parts are powers of 2 */
    double taken = 0;
    for (size_t round = 0; round < rounds; round++) {
        const double ns = times[round], kept = ns <= slowest ? ns : 0;
        side->shares[round] += slowest - (ns < slowest ? slowest - ns : 0) * times_more;
        side->weights[round] += kept;
        taken += kept;
    }
    return taken;
}

/* The place of a part's slowest round among the times in their order. */
static size_t place_of(size_t part, size_t rounds)
{
    return (size_t)fmax(ceil(PARTS[part] * (double)rounds - 1e-9) - 1, 0);
}

#define FEW_ROUNDS 64u /* inserting is slower than qsort with more */

/* The `count` least of a batch's times, in order. sorted: room for one more than there are. */
static void sort(const double *times, size_t rounds, size_t count, double *sorted)
{
    if (rounds > FEW_ROUNDS) {
        memcpy(sorted, times, rounds * sizeof *sorted);
        qsort(sorted, rounds, sizeof *sorted, res_by_value);
        return;
    }
    for (size_t round = 0; round < rounds; round++) {
        size_t at = round < count ? round : count;
        for (; at > 0 && sorted[at - 1] > times[round]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = times[round];
    }
}

/* The sides by the first `rounds` rounds. */
static struct res_steady sides_of(const struct res_batches *batches, size_t rounds, size_t first, size_t end)
{
    struct res_steady sides = {.end = end};
    double *times = res_calloc(2 * rounds + 1, sizeof *times), *sorted = times + rounds;
    double taken[PART_COUNT] = {0};
    for (size_t part = first; part < end; part++)
        sides.by[part] = (struct side){res_calloc(rounds, sizeof(double)), res_calloc(rounds, sizeof(double)),
                                       0};
    for (size_t batch = 0; batch < batches->batch_count; batch++) {
        for (size_t round = 0; round < rounds; round++)
            times[round] = (double)batches->rounds[round][batch];
        sort(times, rounds, place_of(first, rounds) + 1, sorted);
        for (size_t part = first; part < end; part++)
            taken[part] += add_batch(&sides.by[part], PARTS[part], times, sorted[place_of(part, rounds)],
                                     rounds);
    }
    for (size_t part = first; part < end; part++)
        for (size_t round = 0; round < rounds; round++) {
            sides.by[part].ns += sides.by[part].shares[round] / (double)rounds;
            sides.by[part].weights[round] /= fmax(taken[part], 1);
        }
    free(times);
    return sides;
}

static void sides_release(struct res_steady *sides)
{
    for (size_t part = 0; part < PART_COUNT; part++) {
        free(sides->by[part].shares);
        free(sides->by[part].weights);
    }
}

static bool is_there(const struct res_batches *batches)
{
    return batches != NULL && batches->round_count > 0 && batches->batch_count > 0;
}

/* The place behind the last part that so many rounds are enough for. */
static size_t end_of(size_t rounds)
{
    size_t end = QUARTER + 1;
    while (end < PART_COUNT && PARTS[end] * (double)rounds >= ROUNDS_LEAST)
        end++;
    return end;
}

struct res_steady *res_steady_of(const struct res_batches *batches)
{
    struct res_steady *steady = is_there(batches) ? res_calloc(1, sizeof *steady) : NULL;
    if (steady != NULL)
        *steady = sides_of(batches, batches->round_count, 0, end_of(batches->round_count));
    return steady;
}

void res_steady_free(struct res_steady *steady)
{
    if (steady != NULL)
        sides_release(steady);
    free(steady);
}

static double steady_ns(const struct res_batches *batches)
{
    if (batches->steady != NULL)
        return batches->steady->by[QUARTER].ns;
    struct res_steady sides = sides_of(batches, batches->round_count, QUARTER, QUARTER + 1);
    sides_release(&sides);
    return sides.by[QUARTER].ns;
}

static bool is_floor_of(const struct res_batches *floor, const struct res_batches *of)
{
    return is_there(floor) && floor->batch_count == of->batch_count;
}

double res_steady_net_ns(const struct res_batches *batches, const struct res_batches *floor)
{
    if (!is_there(batches))
        return NAN;
    const double net = steady_ns(batches) - (is_floor_of(floor, batches) ? steady_ns(floor) : 0);
    return net > 0 ? net : NAN;
}

/* ---- ratios ---------------------------------------------------------------------------------- */

/* Adds `weight` times the logarithm of one side's net time, and what each round says of it. */
static void add(const struct side *side, double floor, double weight, size_t rounds, double *says,
                double *weights, double *logarithm)
{
    const double net = side->ns - floor;
    *logarithm += net > 0 ? weight * log(net) : NAN;
    for (size_t round = 0; round < rounds; round++) {
        says[round] += weight * (side->shares[round] - side->ns) / net;
        weights[round] += fabs(weight) * side->weights[round];
    }
}

/* The standard error of a mean of what rounds say, by one part of them. */
static double error_of(size_t part, const double *says, const double *weights, size_t rounds,
                       double *ret_freedom)
{
    const double few = fmax(res_many_effective(weights, rounds), 2);
    /* As Yuen counts the rounds that are left: part * rounds of them, less one. */
    const double left = fmax((double)rounds - 1 / PARTS[part], 1);
    double squares = 0;
    for (size_t round = 0; round < rounds; round++)
        squares += says[round] * says[round];
    *ret_freedom = few - 1;
    return rounds > 1 ? sqrt(squares / left / (double)rounds * few / (few - 1)) : NAN;
}

/* The sides of a ratio: other, base, control, floor. */
enum { OTHER, BASE, CONTROL, FLOOR, SIDE_COUNT };

/* The logarithm by one part. says: room for each round. */
static struct res_logarithm logarithm_by(size_t part, const struct res_steady *sides, const bool *is_side,
                                         size_t rounds, double *says)
{
    const double floor = is_side[FLOOR] ? sides[FLOOR].by[part].ns : 0;
    RES_FREED double *weights = res_calloc(rounds, sizeof *weights);
    struct res_logarithm found = {0, 0, 0};
    memset(says, 0, rounds * sizeof *says);
    add(&sides[OTHER].by[part], floor, 1, rounds, says, weights, &found.value);
    if (is_side[BASE])
        add(&sides[BASE].by[part], floor, is_side[CONTROL] ? -0.5 : -1, rounds, says, weights, &found.value);
    if (is_side[CONTROL])
        add(&sides[CONTROL].by[part], floor, -0.5, rounds, says, weights, &found.value);
    found.error = error_of(part, says, weights, rounds, &found.freedom);
    return found;
}

static double width_of(const struct res_logarithm *logarithm)
{
    const struct res_interval interval = res_logarithm_estimate(*logarithm).interval;
    const double width = log(interval.high / interval.low);
    return isfinite(width) ? width : INFINITY;
}

/* The logarithm by the part that tells most. */
static struct res_logarithm logarithm_of(const struct res_steady_sides *of, size_t rounds)
{
    const struct res_batches *const batches[SIDE_COUNT] = {of->other, of->base, of->control, of->floor};
    const bool is_side[SIDE_COUNT] = {true, of->base != NULL, is_there(of->control),
                                      is_floor_of(of->floor, of->other)};
    struct res_steady sides[SIDE_COUNT];
    bool is_own[SIDE_COUNT] = {false};
    RES_FREED double *says = res_calloc(rounds, sizeof *says);
    const size_t end = end_of(rounds);
    for (size_t i = 0; i < SIDE_COUNT; i++) {
        const size_t count = i == FLOOR && is_side[i] ? of->floor->round_count : rounds;
        const struct res_steady *made = is_side[i] && batches[i]->round_count == count ? batches[i]->steady
                                                                                       : NULL;
        is_own[i] = is_side[i] && (made == NULL || made->end < end);
        if (is_side[i])
            sides[i] = is_own[i] ? sides_of(batches[i], count, 0, end) : *made;
    }
    struct res_logarithm found = logarithm_by(QUARTER, sides, is_side, rounds, says);
    for (size_t part = 0; part < end; part++) {
        if (part == QUARTER || PARTS[part] * (double)rounds < ROUNDS_LEAST)
            continue;
        const struct res_logarithm one = logarithm_by(part, sides, is_side, rounds, says);
        if (width_of(&one) < width_of(&found))
            found = one;
    }
    for (size_t i = 0; i < SIDE_COUNT; i++)
        if (is_own[i])
            sides_release(&sides[i]);
    return found;
}

struct res_logarithm res_steady_logarithm(const struct res_steady_sides *sides)
{
    const struct res_batches *const all[] = {sides->other, sides->base, sides->control};
    size_t rounds = is_there(sides->other) ? sides->other->round_count : 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && rounds > 0; i++) {
        if (all[i] == NULL || (i == 2 && !is_there(all[i])))
            continue;
        if (!is_there(all[i]) || all[i]->batch_count != sides->other->batch_count)
            return RES_NO_LOGARITHM;
        rounds = all[i]->round_count < rounds ? all[i]->round_count : rounds;
    }
    return rounds > 0 ? logarithm_of(sides, rounds) : RES_NO_LOGARITHM;
}
