/* steady_swaps.c - how far a ratio of steady times strays when names are swapped at random within the rounds. */
#include "results/measure/statistics/steady_swaps.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/support.h"

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

double *steady_strays(const struct steady_side *other, const struct steady_side *base, double scale,
                      double base_scale, uint64_t seed)
{
    struct swapping swapping = swapping_of(&other->sorted, &base->sorted, scale, base_scale);
    double *strays = strays_of(&swapping, base->floor_ns, seed);
    free(swapping.cells);
    return strays;
}

double steady_effective_rounds(const struct steady_side *other, const struct steady_side *base)
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
