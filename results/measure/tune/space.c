/* space.c - declared ranges to points. */
#include "results/measure/tune/space.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"

static void sort_choices(struct res_tune_choice *choices, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t k = i; k > 0 && choices[k - 1].range > choices[k].range; k--) {
            const struct res_tune_choice moved = choices[k];
            choices[k] = choices[k - 1];
            choices[k - 1] = moved;
        }
    }
}

static char *name_of(const struct res_candidate *base, const struct res_tune_choice *choices, size_t count)
{
    struct res_text name = {0};
    res_text_printf(&name, "%s", base->name);
    for (size_t i = 0; i < count; i++) {
        const struct res_range *range = &base->ranges[choices[i].range];
        res_text_printf(&name, "+%s=%s", range->setting, range->values[choices[i].value]);
    }
    return name.text;
}

/* Choices are in the order of the ranges. */
static bool has_point(const struct res_tune_space *space, const struct res_tune_point *like)
{
    for (size_t i = 0; i < space->point_count; i++) {
        const struct res_tune_point *point = space->points[i];
        if (point->base == like->base && point->choice_count == like->choice_count &&
            memcmp(point->choices, like->choices, like->choice_count * sizeof *like->choices) == 0)
            return true;
    }
    return false;
}

struct res_tune_point *res_tune_space_add(struct res_tune_space *space, size_t base,
                                          const struct res_tune_choice *choices, size_t choice_count)
{
    struct res_tune_point point = {.base = base, .choice_count = choice_count};
    assert(base < space->base_count && choice_count <= RES_TUNE_SETTINGS_MAX);
    if (space->point_count >= RES_TUNE_POINTS_MAX)
        return NULL;
    for (size_t i = 0; i < choice_count; i++) /* NULL is fine where there are none */
        point.choices[i] = choices[i];
    sort_choices(point.choices, choice_count);
    if (has_point(space, &point))
        return NULL;
    point.name = name_of(space->bases[base], point.choices, choice_count);
    if (strlen(point.name) > RES_INLINE_NAME_MAX) {
        free(point.name);
        return NULL;
    }
    struct res_tune_point *added = res_calloc(1, sizeof *added);
    *added = point;
    space->points = res_realloc(space->points, space->point_count + 1, sizeof(struct res_tune_point *));
    space->points[space->point_count++] = added;
    return added;
}

struct single {
    size_t base;
    struct res_tune_choice choice;
};

/* 0: an end of the range; 1: its middle; 2: between. */
static unsigned level_of(size_t value, size_t count)
{
    return value == 0 || value + 1 == count ? 0 : value == count / 2 ? 1 : 2;
}

static void add_level(struct res_tune_space *space, const struct single *singles, size_t count,
                      unsigned level, struct res_random *random)
{
    size_t *order = res_calloc(count, sizeof *order);
    size_t members = 0;
    for (size_t i = 0; i < count; i++) {
        const struct res_range *range = &space->bases[singles[i].base]->ranges[singles[i].choice.range];
        if (level_of(singles[i].choice.value, range->value_count) == level)
            order[members++] = i;
    }
    res_shuffle(random, order, members);
    for (size_t i = 0; i < members; i++)
        (void)res_tune_space_add(space, singles[order[i]].base, &singles[order[i]].choice,
                                 1); /* `declared` tells */
    free(order);
}

void res_tune_space_init(struct res_tune_space *space, const struct res_candidate *const *bases,
                         size_t base_count, struct res_random *random)
{
    struct single *singles = NULL;
    size_t count = 0;
    *space = (struct res_tune_space){.bases = bases, .base_count = base_count};
    for (size_t base = 0; base < base_count; base++) {
        if (base > 0)
            (void)res_tune_space_add(space, base, NULL, 0);
        for (size_t range = 0; range < bases[base]->range_count; range++) {
            const size_t values = bases[base]->ranges[range].value_count;
            singles = res_realloc(singles, count + values, sizeof *singles);
            for (size_t value = 0; value < values; value++)
                singles[count++] = (struct single){base, {range, value}};
        }
    }
    for (unsigned level = 0; level <= 2; level++)
        add_level(space, singles, count, level, random);
    space->declared = count;
    free(singles);
}

void res_tune_space_release(struct res_tune_space *space)
{
    for (size_t i = 0; i < space->point_count; i++) {
        free(space->points[i]->name);
        free(space->points[i]->why);
        free(space->points[i]->times);
        free(space->points[i]->memories);
        free(space->points[i]);
    }
    free(space->points);
    *space = (struct res_tune_space){0};
}

size_t res_tune_count(const struct res_tune_space *space, enum res_tune_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < space->point_count; i++)
        count += space->points[i]->state == state;
    return count;
}
