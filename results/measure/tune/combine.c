/* combine.c - promising singles to combined points. */
#include "results/measure/tune/combine.h"

#include <math.h>
#include <stdlib.h>

#include "results/measure/base/support.h"

#define PAIRED 6u /* best singles of a base of which all pairs are tried */

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

/* Failed and untried singles have no part. Dominated ones have: by what other settings do they may be outdone, and still add
 * to it. */
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
            .saves_time =
                time<-time_least, .saves_memory = memory<-memory_least, .costs_time = time> time_least,
                     .costs_memory = memory>
                    memory_least,
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
