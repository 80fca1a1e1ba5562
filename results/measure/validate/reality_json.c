/* reality_json.c - the ranges of real runs as JSON. */
#include "results/measure/validate/reality_json.h"

#include <math.h>

#include "results/measure/base/json_values.h"

#define FIGURES 6u

static const char *const NAMES[FIGURES] = {"peak_total", "mean_total", "end_total",
                                           "peak_heap",  "mean_heap",  "end_heap"};

/* In the order of NAMES. */
static void ranges_in_order(const struct res_validation_figures *figures,
                            const struct res_real_range *ret_ranges[FIGURES])
{
    const struct res_real_ranges *parts[] = {&figures->total_range, &figures->heap_range};
    for (size_t i = 0; i < 2; i++) {
        ret_ranges[3 * i] = &parts[i]->peak;
        ret_ranges[3 * i + 1] = &parts[i]->mean;
        ret_ranges[3 * i + 2] = &parts[i]->end;
    }
}

static void beyond_in_order(const struct res_validation_figures *figures, double ret_beyond[FIGURES])
{
    const struct res_real_beyond *parts[] = {&figures->total_beyond, &figures->heap_beyond};
    for (size_t i = 0; i < 2; i++) {
        ret_beyond[3 * i] = parts[i]->peak;
        ret_beyond[3 * i + 1] = parts[i]->mean;
        ret_beyond[3 * i + 2] = parts[i]->end;
    }
}

json_t *res_reality_ranges(const struct res_validation_figures *figures)
{
    const struct res_real_range *ranges[FIGURES];
    json_t *object = json_object();
    ranges_in_order(figures, ranges);
    for (size_t i = 0; i < FIGURES; i++)
        json_object_set_new(object, NAMES[i],
                            json_pack("{s:o, s:o, s:I}", "low_bytes", res_json_whole(ranges[i]->low_bytes),
                                      "high_bytes", res_json_whole(ranges[i]->high_bytes), "runs",
                                      (json_int_t)ranges[i]->runs));
    return object;
}

json_t *res_reality_beyond(const struct res_validation_figures *figures)
{
    double beyond[FIGURES];
    json_t *object = json_object();
    beyond_in_order(figures, beyond);
    for (size_t i = 0; i < FIGURES; i++)
        json_object_set_new(object, NAMES[i], res_json_number(beyond[i]));
    return object;
}

json_t *res_reality_within(const struct res_validation_figures *figures, size_t count)
{
    size_t checked[FIGURES] = {0}, met[FIGURES] = {0};
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) {
        double beyond[FIGURES];
        beyond_in_order(&figures[i], beyond);
        for (size_t k = 0; k < FIGURES; k++) {
            checked[k] += isfinite(beyond[k]);
            met[k] += isfinite(beyond[k]) && !(fabs(beyond[k]) > 0);
        }
    }
    for (size_t k = 0; k < FIGURES; k++)
        json_object_set_new(
            object, NAMES[k],
            json_pack("{s:I, s:I}", "checked", (json_int_t)checked[k], "met", (json_int_t)met[k]));
    return object;
}
