/* latency_figures.c - medians over passes, by call and by size class. */
#include "results/measure/figures/latency_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/base/json_values.h"
#include "results/measure/base/support.h"
#include "results/measure/statistics/statistics.h"

/* Figures of the same group of calls in each pass; a group that a pass lacks is an object without keys. */
struct group {
    const json_t **passes;
    size_t count;
};

static const char *const MEDIANS[] = {"count", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p99_9_ns"};

/* The group of a list ("by_call", ...) whose naming keys equal those of `like`; NULL list: the whole pass. */
static const json_t *find(const json_t *pass, const char *list, const json_t *like)
{
    static const char *const names[] = {"call", "size_max_bytes"};
    size_t index;
    json_t *one;
    if (list == NULL)
        return pass;
    json_array_foreach(json_object_get(pass, list), index, one)
    {
        bool same = true;
        for (size_t i = 0; i < 2 && same; i++) {
            const json_t *left = json_object_get(one, names[i]), *right = json_object_get(like, names[i]);
            same = left == right || json_equal(left, right);
        }
        if (same)
            return one;
    }
    return NULL;
}

static struct group group_of(const json_t *passes, const char *list, const json_t *like)
{
    struct group group = {.passes = res_calloc(json_array_size(passes), sizeof *group.passes),
                          .count = json_array_size(passes)};
    for (size_t i = 0; i < group.count; i++)
        group.passes[i] = find(json_array_get(passes, i), list, like);
    return group;
}

/* The key's finite values over the passes; returns how many. */
static size_t values_of(const struct group *group, const char *key, double *ret_values)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        const json_t *value = json_object_get(group->passes[i], key);
        if (json_is_number(value))
            ret_values[count++] = json_number_value(value);
    }
    return count;
}

static double extreme(const struct group *group, const char *key, bool largest)
{
    double *values = res_calloc(group->count, sizeof *values);
    const size_t count = values_of(group, key, values);
    double found = count > 0 ? values[0] : NAN;
    for (size_t i = 1; i < count; i++)
        found = largest ? fmax(found, values[i]) : fmin(found, values[i]);
    free(values);
    return found;
}

static double median(const struct group *group, const char *key)
{
    double *values = res_calloc(group->count, sizeof *values);
    const size_t count = values_of(group, key, values);
    const double found = count > 0 ? res_median(values, count) : NAN;
    free(values);
    return found;
}

/* What is left above the floor's; all of it where the floor has none. */
static json_t *net(double value, double floor)
{
    return res_json_number(isfinite(floor) ? fmax(value - floor, 0) : value);
}

static void set_figures(json_t *object, const json_t *passes, const json_t *floor, const char *list,
                        const json_t *like)
{
    struct group group = group_of(passes, list, like), floors = group_of(floor, list, like);
    for (size_t i = 0; i < sizeof MEDIANS / sizeof MEDIANS[0]; i++)
        json_object_set_new(object, MEDIANS[i], res_json_number(median(&group, MEDIANS[i])));
    json_object_set_new(object, "max_ns", res_json_number(extreme(&group, "max_ns", true)));
    json_object_set_new(object, "typical_ns", net(median(&group, "mean_ns"), median(&floors, "mean_ns")));
    json_object_set_new(object, "quiet_ns",
                        net(extreme(&group, "mean_ns", false), extreme(&floors, "mean_ns", false)));
    free(group.passes);
    free(floors.passes);
}

/* The groups of the first pass: the ops of all passes are the same. */
static json_t *groups_array(const json_t *passes, const json_t *floor, const char *list)
{
    static const char *const names[] = {"call", "size_max_bytes"};
    json_t *array = json_array();
    size_t index;
    json_t *like;
    json_array_foreach(json_object_get(json_array_get(passes, 0), list), index, like)
    {
        json_t *object = json_object();
        for (size_t i = 0; i < 2; i++)
            if (json_object_get(like, names[i]) != NULL)
                json_object_set(object, names[i], json_object_get(like, names[i]));
        set_figures(object, passes, floor, list, like);
        json_array_append_new(array, object);
    }
    return array;
}

json_t *res_latency_object(const struct res_passes *passes, const struct res_passes *floor)
{
    static const char *const lists[] = {"by_call", "by_size_class", "by_call_and_size_class"};
    const json_t *floors = floor != NULL ? floor->latency : NULL;
    if (passes->latency == NULL)
        return json_null();
    if (passes->latency_failed != NULL)
        return json_pack("{s:s}", "unavailable", passes->latency_failed);
    json_t *object = json_object();
    const json_t *first = json_array_get(passes->latency, 0);
    json_object_set_new(object, "passes", json_integer((json_int_t)json_array_size(passes->latency)));
    json_object_set_new(object, "floor_subtracted", json_boolean(json_array_size(floors) > 0));
    set_figures(object, passes->latency, floors, NULL, first);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        json_object_set_new(object, lists[i], groups_array(passes->latency, floors, lists[i]));
    json_object_set(object, "runs", passes->latency);
    return object;
}
