/* steady_cells.c - batches sorted by time, and fastest quarters of them. */
#include "results/measure/statistics/steady_cells.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/support.h"

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
double steady_sum_of(const struct steady_sorted *sorted, const uint32_t *counts)
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

void steady_draw(struct res_random *random, uint32_t *counts, size_t round_count)
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

struct steady_side steady_side_of(const struct res_batches *batches, size_t round_count, double floor_ns)
{
    struct steady_side side = {.sorted = sort(batches, round_count), .floor_ns = floor_ns};
    side.counts = res_calloc(round_count, sizeof *side.counts);
    count_each_once(side.counts, round_count);
    return side;
}

void steady_side_release(struct steady_side *side)
{
    free(side->sorted.cells);
    free(side->counts);
}

double steady_net_of(const struct steady_side *side)
{
    const double net = steady_sum_of(&side->sorted, side->counts) - side->floor_ns;
    return net > 0 ? net : NAN;
}
