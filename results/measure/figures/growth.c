/* growth.c - growth of memory through the night: slopes over the samples of a memory pass. */
#include <math.h>
#include <stdlib.h>

#include "results/measure/figures/figures.h"

#define BLOCKS 32u /* of equal time behind the first tenth, which is startup */
#define HALF   (BLOCKS / 2)

/* Memory that fills or settles approaches its size by an exponential: time constants that are tried, in blocks. */
static const double SETTLES[] = {1, 2, 4, 8, 16};
static const double NOTHING[BLOCKS];
#define STEADIEST 0.95 /* correlation of neighbours at most: with more nothing is known */
/* The least share of resident memory an hour that is told: less is nobody's concern. */
#define WORTH 0.05
/* The share of live bytes' growth that an allocator adds to any object, and which is no growth of its own. */
#define ADDED 0.25

/* Less its mean, and what `shape`, whose mean is 0, explains of it; all 0: nothing. */
static void leave_out(const double *values, size_t count, const double *shape, double *ret_rest)
{
    double mean = 0, common = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++) {
        common += (values[i] - mean) * shape[i];
        squares += shape[i] * shape[i];
    }
    for (size_t i = 0; i < count; i++)
        ret_rest[i] = values[i] - mean - (squares > 0 ? common / squares * shape[i] : 0);
}

/* A straight line through blocks beside a shape, per block: Student's interval of its slope, of as many values as correlated ones are worth.
 * used        degrees of freedom
 * ret_square  of what it leaves */
static struct res_growth line(const double *blocks, size_t count, const double *shape, size_t used,
                              double *ret_square)
{
    double index[BLOCKS], times[BLOCKS], values[BLOCKS], slope = 0, squares = 0, left = 0, next = 0, last = 0;
    for (size_t i = 0; i < count; i++)
        index[i] = (double)i;
    leave_out(index, count, shape, times);
    leave_out(blocks, count, shape, values);
    for (size_t i = 0; i < count; i++) {
        slope += times[i] * values[i];
        squares += times[i] * times[i];
    }
    slope /= squares;
    for (size_t i = 0; i < count; i++) {
        const double rest = values[i] - slope * times[i];
        left += rest * rest;
        next += rest * last;
        last = rest;
    }
    const double alike = left > 0 ? fmin(fmax(next / left, 0), STEADIEST) : 0;
    const double worth = (1 - alike) / (1 + alike),
                 freedom = fmax(2, round((double)count * worth) - (double)used);
    const double error = sqrt(left / (double)(count - used) / squares / worth) *
                         res_student_quantile((size_t)freedom);
    *ret_square = left;
    return (struct res_growth){slope, slope - error, slope + error};
}

/* The line beside the exponential that leaves least. */
static struct res_growth line_beside_settling(const double *blocks)
{
    struct res_growth best = {NAN, NAN, NAN};
    double least = INFINITY, square, raw[BLOCKS], shape[BLOCKS];
    for (size_t k = 0; k < sizeof SETTLES / sizeof SETTLES[0]; k++) {
        for (size_t i = 0; i < BLOCKS; i++)
            raw[i] = exp(-(double)i / SETTLES[k]);
        leave_out(raw, BLOCKS, NOTHING, shape);
        const struct res_growth found = line(blocks, BLOCKS, shape, 4, &square);
        if (square < least)
            best = found;
        least = fmin(least, square);
    }
    return best;
}

struct res_growth res_growth_of(const double *times_ns, const double *bytes, size_t count, double held)
{
    static const struct res_growth UNKNOWN = {NAN, NAN, NAN};
    const double end_ns = count > 0 ? times_ns[count - 1] : 0, begin_ns = end_ns / 10;
    const double block_ns = (end_ns - begin_ns) / BLOCKS, block_hours = block_ns / 3600e9;
    double blocks[BLOCKS], square;
    size_t at = 0;
    if (end_ns < (double)FP_USAGE_LONG_NS)
        return UNKNOWN;
    while (at < count && times_ns[at] <= begin_ns)
        at++;
    for (size_t i = 0; i < BLOCKS; i++) {
        const size_t first = at;
        while (at < count && (i + 1 == BLOCKS || times_ns[at] <= begin_ns + block_ns * (double)(i + 1)))
            at++;
        if (at == first)
            return UNKNOWN;
        blocks[i] = res_median(bytes + first, at - first);
    }
    const struct res_growth late = line(blocks + HALF, HALF, NOTHING, 2, &square);
    struct res_growth growth = line_beside_settling(blocks);
    growth = (struct res_growth){growth.bytes / block_hours, growth.low / block_hours,
                                 growth.high / block_hours};
    if (!(growth.low > WORTH * held && late.low > 0))
        growth.bytes = 0;
    return growth;
}

struct res_growth res_growth_beyond(const double *times_ns, double *bytes, const double *live, size_t count,
                                    struct res_growth *ret_live)
{
    double held = 0;
    for (size_t i = 0; i < count; i++) {
        held = fmax(held, bytes[i]);
        bytes[i] -= live[i];
    }
    struct res_growth beyond = res_growth_of(times_ns, bytes, count, held);
    *ret_live = res_growth_of(times_ns, live, count, held);
    if (beyond.bytes < ADDED * ret_live->bytes)
        beyond.bytes = 0;
    return beyond;
}

void res_growth_measure(struct res_run *run)
{
    const json_t *samples = json_object_get(run->json, "samples");
    const json_t *lists[] = {json_object_get(samples, "time_ns"), json_object_get(samples, "live_bytes"),
                             json_object_get(samples, "resident_bytes")};
    const size_t count = json_array_size(lists[0]);
    RES_FREED double *times_ns = res_json_numbers(lists[0], count);
    RES_FREED double *live = res_json_numbers(lists[1], count);
    RES_FREED double *resident = res_json_numbers(lists[2], count);
    run->growth = run->live_growth = (struct res_growth){NAN, NAN, NAN};
    if (json_array_size(lists[1]) == count && json_array_size(lists[2]) == count)
        run->growth = res_growth_beyond(times_ns, resident, live, count, &run->live_growth);
}

struct res_growth res_growth_together(const struct res_run *runs, size_t count, size_t at)
{
    struct res_growth all = {NAN, NAN, NAN};
    RES_FREED double *bytes = res_calloc(count + 1, sizeof *bytes);
    for (size_t i = 0; i < count; i++) {
        const struct res_growth *one = (const void *)((const char *)&runs[i] + at);
        bytes[i] = one->bytes;
        all.low = fmin(all.low, one->low);
        all.high = fmax(all.high, one->high);
    }
    all.bytes = count > 0 ? res_median(bytes, count) : NAN;
    return all;
}
