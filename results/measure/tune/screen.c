/* screen.c - estimates and ranks of points. */
#include "results/measure/tune/screen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/base/support.h"
#include "results/measure/statistics/statistics.h"

#define INTERVAL 2.0   /* standard errors to either side: 95 % */
#define EQUAL    0.005 /* of memory: what repeats to the page is not told apart by a page */

/* ---- noise ---------------------------------------------------------------------------------- */

struct pool {
    double squares;
    size_t degrees;
};

static void add_within(struct pool *pool, const double *samples, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += samples[i];
    for (size_t i = 0; i < count; i++)
        pool->squares += pow(samples[i] - sum / (double)count, 2);
    pool->degrees += count > 1 ? count - 1 : 0;
}

/* A sample of a point is a difference of two runs; so is that of two successive runs of the default. */
static void add_successive(struct pool *pool, const double *samples, size_t count)
{
    for (size_t i = 1; i < count; i++)
        pool->squares += pow(samples[i] - samples[i - 1], 2);
    pool->degrees += count > 1 ? count - 1 : 0;
}

static double deviation_of(const struct pool *pool)
{
    return pool->degrees > 0 ? sqrt(pool->squares / (double)pool->degrees) : INFINITY;
}

struct res_tune_noise res_tune_noise_of(const struct res_tune_space *space,
                                        const struct res_tune_default *reference)
{
    struct pool time = {0}, memory = {0};
    add_successive(&time, reference->times, reference->time_count);
    add_successive(&memory, reference->memories, reference->memory_count);
    for (size_t i = 0; i < space->point_count; i++) {
        add_within(&time, space->points[i]->times, space->points[i]->time_count);
        add_within(&memory, space->points[i]->memories, space->points[i]->memory_count);
    }
    return (struct res_tune_noise){.time = deviation_of(&time), .memory = deviation_of(&memory)};
}

/* ---- estimates ------------------------------------------------------------------------------ */

double res_tune_time_of(const struct res_tune_point *point)
{
    return point->time_count > 0 ? res_median(point->times, point->time_count) : 0;
}

double res_tune_memory_of(const struct res_tune_point *point)
{
    return point->memory_count > 0 ? res_median(point->memories, point->memory_count) : 0;
}

double res_tune_error(double noise, size_t count)
{
    return count > 0 ? noise / sqrt((double)count) : INFINITY;
}

struct box {
    double time_low, time_high, memory_low, memory_high;
};

static struct box box_of(const struct res_tune_point *point, const struct res_tune_noise *noise)
{
    const double time = INTERVAL * res_tune_error(noise->time, point->time_count);
    const double memory = INTERVAL * res_tune_error(noise->memory, point->memory_count);
    return (struct box){
        .time_low = res_tune_time_of(point) - time,
        .time_high = res_tune_time_of(point) + time,
        .memory_low = res_tune_memory_of(point) - memory,
        .memory_high = res_tune_memory_of(point) + memory,
    };
}

static bool dominates(const struct box *better, const struct box *worse)
{
    return (better->time_high < worse->time_low && better->memory_high <= worse->memory_low + EQUAL) ||
           (better->memory_high + EQUAL < worse->memory_low && better->time_high <= worse->time_low);
}

struct res_tune_point **res_tune_alive(const struct res_tune_space *space, size_t *ret_count)
{
    struct res_tune_point **alive = res_calloc(space->point_count, sizeof(struct res_tune_point *));
    size_t count = 0;
    for (size_t i = 0; i < space->point_count; i++) {
        if (space->points[i]->state == RES_TUNE_ALIVE)
            alive[count++] = space->points[i];
    }
    *ret_count = count;
    return alive;
}

void res_tune_drop_dominated(const struct res_tune_space *space, const struct res_tune_noise *noise)
{
    static const struct box DEFAULT = {0, 0, 0, 0};
    size_t count;
    struct res_tune_point **alive = res_tune_alive(space, &count);
    for (size_t i = 0; i < count; i++) {
        const struct box own = box_of(alive[i], noise);
        bool dominated = dominates(&DEFAULT, &own);
        for (size_t k = 0; k < count && !dominated; k++) {
            const struct box other = box_of(alive[k], noise);
            dominated = k != i && dominates(&other, &own);
        }
        if (dominated)
            alive[i]->state = RES_TUNE_DOMINATED;
    }
    free(alive);
}

/* ---- ranks ---------------------------------------------------------------------------------- */

static bool beats(const struct res_tune_point *one, const struct res_tune_point *other)
{
    const double times[] = {res_tune_time_of(one), res_tune_time_of(other)};
    const double memories[] = {res_tune_memory_of(one), res_tune_memory_of(other)};
    return times[0] <= times[1] && memories[0] <= memories[1] &&
           (times[0] < times[1] || memories[0] < memories[1]);
}

static double sum_of(const struct res_tune_point *point)
{
    return res_tune_time_of(point) + res_tune_memory_of(point);
}

/* qsort is not stable: equal points go by name, so that one seed has one result. */
static int by_sum(const void *left, const void *right)
{
    const struct res_tune_point *a = *(struct res_tune_point *const *)left;
    const struct res_tune_point *b = *(struct res_tune_point *const *)right;
    const double x = sum_of(a), y = sum_of(b);
    return x != y ? (x > y) - (x < y) : strcmp(a->name, b->name);
}

static void put_first(struct res_tune_point **points, size_t from, size_t to)
{
    struct res_tune_point *moved = points[from];
    memmove(points + to + 1, points + to, (from - to) * sizeof(struct res_tune_point *));
    points[to] = moved;
}

/* Takes the points that nobody in the list beats to its front. Returns how many. */
static size_t take_layer(struct res_tune_point **points, size_t count)
{
    size_t layer = 0;
    bool *beaten = res_calloc(count, sizeof *beaten);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count && !beaten[i]; k++)
            beaten[i] = beats(points[k], points[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (!beaten[i])
            put_first(points, i, layer++);
    }
    free(beaten);
    return layer;
}

void res_tune_rank(struct res_tune_point **points, size_t count)
{
    while (count > 0) {
        qsort(points, count, sizeof(struct res_tune_point *), by_sum);
        const size_t layer = take_layer(points, count);
        size_t fastest = 0, smallest = 0;
        for (size_t i = 1; i < layer; i++) {
            if (res_tune_time_of(points[i]) < res_tune_time_of(points[fastest]))
                fastest = i;
        }
        put_first(points, fastest, 0);
        for (size_t i = 1; i < layer; i++) {
            if (res_tune_memory_of(points[i]) < res_tune_memory_of(points[smallest]))
                smallest = i;
        }
        if (smallest > 0)
            put_first(points, smallest, 1);
        points += layer;
        count -= layer;
    }
}
