/* screen.c - estimates and ranks of points, and singles put together. */
#include "results/measure/tune/screen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/statistics/statistics.h"

#define INTERVAL 2.0   /* standard errors to either side: 95 % */
#define EQUAL    0.005 /* of memory: what repeats to the page is not told apart by a page */
#define SIMPLER  1.5   /* standard errors by which a point with fewer settings may seem worse */
#define PAIRED   6u    /* best singles of a base of which all pairs are tried */

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

struct res_tune_point **res_tune_points(const struct res_tune_space *space, size_t from,
                                        enum res_tune_state state, size_t *ret_count)
{
    struct res_tune_point **points = res_calloc(space->point_count + 1, sizeof(struct res_tune_point *));
    *ret_count = 0;
    for (size_t i = from; i < space->point_count; i++) {
        if (space->points[i]->state == state)
            points[(*ret_count)++] = space->points[i];
    }
    return points;
}

void res_tune_drop_dominated(const struct res_tune_space *space, const struct res_tune_noise *noise)
{
    static const struct box DEFAULT = {0, 0, 0, 0};
    size_t count;
    struct res_tune_point **alive = res_tune_points(space, 0, RES_TUNE_ALIVE, &count);
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

/* ---- what a part of the settings does as well ------------------------------------------------ */

static bool is_part_of(const struct res_tune_point *part, const struct res_tune_point *point)
{
    size_t found = 0;
    for (size_t i = 0; i < point->choice_count && found < part->choice_count; i++)
        found += part->choices[found].range == point->choices[i].range &&
                 part->choices[found].value == point->choices[i].value;
    return part->base == point->base && part->choice_count < point->choice_count &&
           found == part->choice_count;
}

/* Whether one is not worse than the other by anything that is worth a setting and that the noise cannot hide. */
static bool does_as_well(const struct res_tune_point *one, const struct res_tune_point *other,
                         const struct res_tune_noise *noise)
{
    const double time_error = hypot(res_tune_error(noise->time, one->time_count),
                                    res_tune_error(noise->time, other->time_count));
    const double memory_error = hypot(res_tune_error(noise->memory, one->memory_count),
                                      res_tune_error(noise->memory, other->memory_count));
    return res_tune_time_of(one) - res_tune_time_of(other) <= fmax(RES_TUNE_WORTH, SIMPLER * time_error) &&
           res_tune_memory_of(one) - res_tune_memory_of(other) <=
               fmax(RES_TUNE_WORTH, SIMPLER * memory_error);
}

struct res_tune_point *res_tune_simplest(const struct res_tune_space *space, struct res_tune_point *point,
                                         const struct res_tune_noise *noise)
{
    struct res_tune_point *best = point;
    for (size_t i = 0; i < space->point_count; i++) {
        struct res_tune_point *part = space->points[i];
        if (part->time_count > 0 && part->state != RES_TUNE_FAILED && is_part_of(part, point) &&
            does_as_well(part, point, noise) &&
            (part->choice_count < best->choice_count ||
             (part->choice_count == best->choice_count && sum_of(part) < sum_of(best))))
            best = part;
    }
    return best;
}

/* ---- singles put together -------------------------------------------------------------------- */

/* A single, by what it changes of its base. */
struct effect {
    struct res_tune_choice choice;
    double time, memory;
    bool saves_time, saves_memory, costs_time, costs_memory;
};

struct effects {
    struct effect *items;
    size_t count;
};

/* Estimates of a base as it is: singles of it are measured against the default, which may be another base. */
static void base_estimates(const struct res_tune_space *space, size_t base, double *ret_time,
                           double *ret_memory)
{
    *ret_time = *ret_memory = 0;
    for (size_t i = 0; i < space->point_count; i++) {
        const struct res_tune_point *point = space->points[i];
        if (point->base == base && point->choice_count == 0 && point->time_count > 0) {
            *ret_time = res_tune_time_of(point);
            *ret_memory = res_tune_memory_of(point);
        }
    }
}

static double best_of(const struct effect *effect)
{
    return fmin(effect->time, effect->memory);
}

static int by_best(const void *left, const void *right)
{
    const struct effect *a = left, *b = right;
    if (best_of(a) != best_of(b))
        return (best_of(a) > best_of(b)) - (best_of(a) < best_of(b));
    if (a->choice.range != b->choice.range)
        return a->choice.range < b->choice.range ? -1 : 1;
    return (a->choice.value > b->choice.value) - (a->choice.value < b->choice.value);
}

/* Failed and untried singles are left out. Dominated ones are kept: another setting may do more than they do, and they may
 * still add to it. */
static struct effects effects_of(const struct res_tune_space *space, size_t base,
                                 const struct res_tune_noise *noise)
{
    struct effects effects = {.items = res_calloc(space->point_count, sizeof *effects.items)};
    double base_time, base_memory;
    base_estimates(space, base, &base_time, &base_memory);
    for (size_t i = 0; i < space->point_count; i++) {
        const struct res_tune_point *point = space->points[i];
        if (point->base != base || point->choice_count != 1 || point->time_count == 0 ||
            point->state == RES_TUNE_FAILED)
            continue;
        const double time = res_tune_time_of(point) - base_time;
        const double memory = res_tune_memory_of(point) - base_memory;
        const double time_least = fmax(RES_TUNE_WORTH, res_tune_error(noise->time, point->time_count));
        const double memory_least = fmax(RES_TUNE_WORTH, res_tune_error(noise->memory, point->memory_count));
        effects.items[effects.count++] = (struct effect){
            .choice = point->choices[0],
            .time = time,
            .memory = memory,
            .saves_time = (time < -time_least),
            .saves_memory = (memory < -memory_least),
            .costs_time = (time > time_least),
            .costs_memory = (memory > memory_least),
        };
    }
    qsort(effects.items, effects.count, sizeof *effects.items, by_best);
    return effects;
}

enum wish {
    WISH_TIME,
    WISH_MEMORY,
    WISH_BOTH,
};

static bool serves(const struct effect *effect, enum wish wish)
{
    switch (wish) {
    case WISH_TIME:
        return effect->saves_time;
    case WISH_MEMORY:
        return effect->saves_memory;
    default:
        return (effect->saves_time && !effect->costs_memory) || (effect->saves_memory && !effect->costs_time);
    }
}

static double figure_of(const struct effect *effect, enum wish wish)
{
    return wish == WISH_TIME     ? effect->time
           : wish == WISH_MEMORY ? effect->memory
                                 : effect->time + effect->memory;
}

/* The best value of a setting for a wish; NULL: none serves it. */
static const struct effect *best_for(const struct effects *effects, size_t range, enum wish wish)
{
    const struct effect *best = NULL;
    for (size_t i = 0; i < effects->count; i++) {
        const struct effect *effect = &effects->items[i];
        if (effect->choice.range == range && serves(effect, wish) &&
            (best == NULL || figure_of(effect, wish) < figure_of(best, wish)))
            best = effect;
    }
    return best;
}

/* The best value of each setting together; the first RES_TUNE_SETTINGS_MAX of them by what they save. */
static size_t add_together(struct res_tune_space *space, size_t base, const struct effects *effects,
                           enum wish wish)
{
    struct res_tune_choice choices[RES_TUNE_SETTINGS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < effects->count && count < RES_TUNE_SETTINGS_MAX; i++) {
        const struct effect *effect = &effects->items[i];
        if (best_for(effects, effect->choice.range, wish) == effect)
            choices[count++] = effect->choice;
    }
    for (; count > 1; count--) { /* fewer where the name would be too long */
        if (res_tune_space_add(space, base, choices, count) != NULL)
            return 1;
    }
    return 0;
}

static size_t add_pairs(struct res_tune_space *space, size_t base, const struct effects *effects)
{
    const struct effect *best[PAIRED];
    size_t count = 0, added = 0;
    for (size_t i = 0; i < effects->count && count < PAIRED; i++) {
        const struct effect *effect = &effects->items[i];
        const size_t range = effect->choice.range;
        if (best_for(effects, range, WISH_TIME) == effect || best_for(effects, range, WISH_MEMORY) == effect)
            best[count++] = effect;
    }
    for (size_t later = 1; later < count; later++) {
        for (size_t earlier = 0; earlier < later; earlier++) {
            const struct res_tune_choice pair[] = {best[earlier]->choice, best[later]->choice};
            if (pair[0].range != pair[1].range)
                added += res_tune_space_add(space, base, pair, 2) != NULL;
        }
    }
    return added;
}

size_t res_tune_combine(struct res_tune_space *space, const struct res_tune_noise *noise)
{
    size_t added = 0;
    for (size_t base = 0; base < space->base_count; base++) {
        struct effects effects = effects_of(space, base, noise);
        added += add_together(space, base, &effects, WISH_TIME);
        added += add_together(space, base, &effects, WISH_MEMORY);
        added += add_together(space, base, &effects, WISH_BOTH);
        added += add_pairs(space, base, &effects);
        free(effects.items);
    }
    return added;
}
