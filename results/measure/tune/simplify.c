/* simplify.c - one setting off at a time. */
#include "results/measure/tune/simplify.h"

#include <math.h>
#include <string.h>

/* Variants of a point, each without one of its settings; behind the finalist that they are held against. */
struct group {
    struct res_tune_point *members[RES_TUNE_HEAT]; /* [0] is the finalist */
    size_t begun[RES_TUNE_HEAT];                   /* samples of time that each had before */
    size_t count;
};

_Static_assert(RES_TUNE_SETTINGS_MAX + 1 <= RES_TUNE_HEAT, "a finalist and its variants are one heat");

static bool can_lose(const struct res_tune_point *point)
{
    return point->choice_count > 1 || (point->choice_count == 1 && point->base > 0);
}

static void add_variant(struct res_tune_space *space, const struct res_tune_point *point, size_t left_out,
                        struct group *group)
{
    struct res_tune_choice choices[RES_TUNE_SETTINGS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < point->choice_count; i++) {
        if (i != left_out)
            choices[count++] = point->choices[i];
    }
    struct res_tune_point *variant = res_tune_space_find(space, point->base, choices, count);
    if (variant == NULL)
        variant = res_tune_space_add(space, point->base, choices, count);
    if (variant == NULL || variant->state == RES_TUNE_FAILED)
        return;
    group->begun[group->count] = variant->time_count;
    group->members[group->count++] = variant;
}

/* By how much a variant is worse than the finalist, of the samples since the group began: taken in the same heats, so that the
 * default's own noise is in both. */
static double time_lost(const struct group *group, size_t variant)
{
    const struct res_tune_point *finalist = group->members[0], *point = group->members[variant];
    const size_t rounds[] = {finalist->time_count - group->begun[0],
                             point->time_count - group->begun[variant]};
    const size_t count = rounds[0] < rounds[1] ? rounds[0] : rounds[1];
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += point->times[group->begun[variant] + i] - finalist->times[group->begun[0] + i];
    return count > 0 ? sum / (double)count : INFINITY;
}

static double memory_lost(const struct group *group, size_t variant)
{
    return res_tune_memory_of(group->members[variant]) - res_tune_memory_of(group->members[0]);
}

/* The variant that loses least, if it does not lose beyond the noise; NULL: each setting is worth its place. */
static struct res_tune_point *best_variant(const struct group *group, const struct res_tune_noise *noise)
{
    const double time_most = res_tune_error(noise->time, RES_TUNE_SIMPLIFY_ROUNDS);
    struct res_tune_point *best = NULL;
    double best_loss = INFINITY;
    for (size_t i = 1; i < group->count; i++) {
        const struct res_tune_point *variant = group->members[i];
        const double memory_most = fmax(RES_TUNE_WORTH / 2,
                                        res_tune_error(noise->memory, variant->memory_count));
        const double time = time_lost(group, i), memory = memory_lost(group, i);
        if (variant->state != RES_TUNE_FAILED && time <= time_most && memory <= memory_most &&
            time + memory < best_loss) {
            best_loss = time + memory;
            best = group->members[i];
        }
    }
    return best;
}

/* Where there is no time for heats: a variant that the search has tried, and that it did not tell from the finalist. */
static struct res_tune_point *known_variant(const struct group *group, const struct res_tune_noise *noise)
{
    const struct res_tune_point *finalist = group->members[0];
    for (size_t i = 1; i < group->count; i++) {
        const struct res_tune_point *variant = group->members[i];
        const double time_most = hypot(res_tune_error(noise->time, variant->time_count),
                                       res_tune_error(noise->time, finalist->time_count));
        const double memory_most = hypot(res_tune_error(noise->memory, variant->memory_count),
                                         res_tune_error(noise->memory, finalist->memory_count));
        if (variant->time_count > 0 && variant->state != RES_TUNE_FAILED &&
            res_tune_time_of(variant) - res_tune_time_of(finalist) <= time_most &&
            memory_lost(group, i) <= fmax(RES_TUNE_WORTH / 2, memory_most))
            return group->members[i];
    }
    return NULL;
}

struct res_tune_point *res_tune_simplify(struct res_tune_course *course, struct res_tune_point *finalist)
{
    struct res_tune_search *search = course->search;
    struct res_tune_point *kept = finalist;
    while (can_lose(kept) && !res_tune_is_over(course)) {
        struct group group = {.members = {finalist}, .begun = {finalist->time_count}, .count = 1};
        for (size_t i = 0; i < kept->choice_count; i++)
            add_variant(search->space, kept, i, &group);
        bool whole = group.count > 1;
        for (unsigned round = 0; round < RES_TUNE_SIMPLIFY_ROUNDS && whole; round++)
            whole = res_tune_round(course, group.members, group.count, 1);
        struct res_tune_point *best = whole ? best_variant(&group, &search->noise)
                                            : known_variant(&group, &search->noise);
        if (best == NULL)
            break;
        kept = best;
    }
    if (kept != finalist)
        finalist->state = RES_TUNE_SIMPLIFIED;
    return kept;
}
