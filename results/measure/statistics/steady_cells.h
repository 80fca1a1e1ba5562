/* steady_cells.h - the times of batches (steady.h), sorted so that fastest quarters of any choice of rounds are only counted; steady*.c only. */
#ifndef MALLAB_RESULTS_MEASURE_STATISTICS_STEADY_CELLS_H
#define MALLAB_RESULTS_MEASURE_STATISTICS_STEADY_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "results/measure/base/random.h"
#include "results/measure/statistics/steady.h"

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

/* steady_side_of - of the first `round_count` rounds, each counted once; to be released. Where there are more cells than RES_STEADY_CELLS,
 * neighbouring batches are put together. */
struct steady_side steady_side_of(const struct res_batches *batches, size_t round_count, double floor_ns);
void steady_side_release(struct steady_side *side);

/* steady_sum_of - the steady time when each round counts `counts[round]` times. */
double steady_sum_of(const struct steady_sorted *sorted, const uint32_t *counts);

/* steady_net_of - the same less the floor, by the side's counts; NAN where that is not above 0. */
double steady_net_of(const struct steady_side *side);

/* steady_draw - counts of rounds drawn with replacement. */
void steady_draw(struct res_random *random, uint32_t *counts, size_t round_count);

#endif
