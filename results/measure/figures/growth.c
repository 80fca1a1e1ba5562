/* growth.c - whether memory grows through the night: slopes over the samples of a memory pass. */
#include <math.h>
#include <stdlib.h>

#include "results/measure/figures/figures.h"

#define BLOCKS  32u /* of equal time behind the first tenth, which is startup */
#define HALF    (BLOCKS / 2)
#define QUARTER (BLOCKS / 4)

/* What fills or settles approaches its size by an exponential: a quarter of the blocks later its slope is exp(-0.45) of what it was where the time
 * constant is half of the recording. What falls further levels off, and is no growth. */
#define LEVELS_OFF 0.64
/* Of what is resident, an hour: less is nobody's concern. */
#define WORTH 0.02
/* Of what live bytes grow by: so much more is what an allocator adds to any object, and no growth of its own. */
#define ADDED 0.25

/* A straight line through blocks, in bytes an hour: Student's interval of its slope. */
static struct res_growth line(const double *blocks, size_t count, double block_hours)
{
    const double middle = (double)(count - 1) / 2;
    double mean = 0, slope = 0, squares = 0, left = 0;
    for (size_t i = 0; i < count; i++)
        mean += blocks[i] / (double)count;
    for (size_t i = 0; i < count; i++) {
        slope += ((double)i - middle) * (blocks[i] - mean);
        squares += ((double)i - middle) * ((double)i - middle);
    }
    slope /= squares;
    for (size_t i = 0; i < count; i++)
        left += pow(blocks[i] - mean - slope * ((double)i - middle), 2);
    const double error = sqrt(left / (double)(count - 2) / squares) * res_student_quantile(count - 2);
    return (struct res_growth){slope / block_hours, (slope - error) / block_hours,
                               (slope + error) / block_hours};
}

struct res_growth res_growth_of(const double *times_ns, const double *bytes, size_t count, double held)
{
    static const struct res_growth UNKNOWN = {NAN, NAN, NAN};
    const double end_ns = count > 0 ? times_ns[count - 1] : 0, begin_ns = end_ns / 10;
    const double block_ns = (end_ns - begin_ns) / BLOCKS, block_hours = block_ns / 3600e9;
    double blocks[BLOCKS];
    size_t at = 0;
    if (end_ns < RES_GROWTH_LEAST_NS)
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
    const struct res_growth all = line(blocks, BLOCKS, block_hours),
                            before = line(blocks + HALF, QUARTER, block_hours),
                            last = line(blocks + HALF + QUARTER, QUARTER, block_hours);
    struct res_growth growth = line(blocks + HALF, HALF, block_hours);
    if (!(growth.low > WORTH * held && all.low > 0) || last.bytes < LEVELS_OFF * before.bytes)
        growth.bytes = 0;
    return growth;
}

/* NULL: there are not `count`. The caller's to free. */
static double *numbers_of(const json_t *array, size_t count)
{
    double *numbers = json_array_size(array) == count ? res_calloc(count + 1, sizeof *numbers) : NULL;
    for (size_t i = 0; i < count && numbers != NULL; i++)
        numbers[i] = json_number_value(json_array_get(array, i));
    return numbers;
}

void res_growth_measure(struct res_run *run)
{
    const json_t *samples = json_object_get(run->json, "samples");
    const json_t *times = json_object_get(samples, "time_ns");
    const size_t count = json_array_size(times);
    double *times_ns = numbers_of(times, count);
    double *live = numbers_of(json_object_get(samples, "live_bytes"), count);
    double *resident = numbers_of(json_object_get(samples, "resident_bytes"), count);
    run->growth = run->live_growth = (struct res_growth){NAN, NAN, NAN};
    if (times_ns != NULL && live != NULL && resident != NULL) {
        const double held = run->resident_peak_bytes;
        run->live_growth = res_growth_of(times_ns, live, count, held);
        for (size_t i = 0; i < count; i++)
            resident[i] -= live[i];
        run->growth = res_growth_of(times_ns, resident, count, held);
        if (run->growth.bytes < ADDED * run->live_growth.bytes)
            run->growth.bytes = 0;
    }
    free(times_ns);
    free(live);
    free(resident);
}

struct res_growth res_growth_together(const struct res_run *runs, size_t count, size_t at)
{
    struct res_growth all = {NAN, NAN, NAN};
    double *bytes = res_calloc(count + 1, sizeof *bytes);
    for (size_t i = 0; i < count; i++) {
        const struct res_growth *one = (const void *)((const char *)&runs[i] + at);
        bytes[i] = one->bytes;
        all.low = fmin(all.low, one->low);
        all.high = fmax(all.high, one->high);
    }
    all.bytes = count > 0 ? res_median(bytes, count) : NAN;
    free(bytes);
    return all;
}
