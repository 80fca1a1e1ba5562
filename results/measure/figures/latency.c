/* latency.c - of single calls, over the latency passes. */
#include "results/measure/figures/latency.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/result/result.h"
#include "results/measure/statistics/statistics.h"

/* ---- passes ---------------------------------------------------------------------------------- */

/* Passes as the rows read them: a pass has the same keys as the figures. */
struct passes {
    struct res_latency_figures *items;
    size_t count;
};

static struct passes passes_of(const json_t *array)
{
    struct passes passes = {.items = res_calloc(json_array_size(array) + 1, sizeof *passes.items)};
    size_t index;
    json_t *pass;
    json_array_foreach(array, index, pass)
    {
        char *problem = NULL;
        if (res_described_read(&RES_LATENCY, pass, &passes.items[passes.count], &problem))
            passes.count++;
        free(problem);
    }
    return passes;
}

static void passes_release(struct passes *passes)
{
    for (size_t i = 0; i < passes->count; i++)
        res_described_release(&RES_LATENCY, &passes->items[i]);
    free(passes->items);
}

/* ---- groups of calls ------------------------------------------------------------------------- */

enum list { OF_ALL, BY_CALL, BY_SIZE, BY_BOTH };

struct calls {
    struct res_call_figures **items;
    size_t *count;
};

static struct calls calls_of(struct res_latency_figures *figures, enum list list)
{
    return list == BY_CALL   ? (struct calls){&figures->by_call, &figures->by_call_count}
           : list == BY_SIZE ? (struct calls){&figures->by_size, &figures->by_size_count}
                             : (struct calls){&figures->by_both, &figures->by_both_count};
}

static bool is_same_group(const struct res_call_figures *one, const struct res_call_figures *other)
{
    const bool same_call = one->call == NULL || other->call == NULL ? one->call == other->call
                                                                    : strcmp(one->call, other->call) == 0;
    return same_call && (one->size_max_bytes == other->size_max_bytes ||
                         (isnan(one->size_max_bytes) && isnan(other->size_max_bytes)));
}

/* The group of a pass that is like one of another; NULL: the pass lacks it. */
static const struct res_call_figures *find(struct res_latency_figures *pass, enum list list,
                                           const struct res_call_figures *like)
{
    if (list == OF_ALL)
        return &pass->all;
    const struct calls calls = calls_of(pass, list);
    const struct res_call_figures *items = *calls.items;
    for (size_t i = 0; i < *calls.count; i++)
        if (is_same_group(&items[i], like))
            return &items[i];
    return NULL;
}

enum of_passes { MEDIAN, LARGEST };

/* Over the passes that have the figure at this offset. */
static double over(const struct passes *passes, enum list list, const struct res_call_figures *like,
                   size_t offset, enum of_passes what)
{
    double *values = res_calloc(passes->count + 1, sizeof *values);
    size_t count = 0;
    for (size_t i = 0; i < passes->count; i++) {
        const struct res_call_figures *group = find(&passes->items[i], list, like);
        const double value = group != NULL ? *(const double *)(const void *)((const char *)group + offset)
                                           : NAN;
        if (isfinite(value))
            values[count++] = value;
    }
    double found = count > 0 ? what == MEDIAN ? res_median(values, count) : values[0] : NAN;
    for (size_t i = 1; i < count && what != MEDIAN; i++)
        found = what == LARGEST ? fmax(found, values[i]) : fmin(found, values[i]);
    free(values);
    return found;
}

/* What is left above the floor's; all of it where the floor has none. */
static double net(double value, double floor)
{
    return isfinite(floor) ? fmax(value - floor, 0) : value;
}

#define AT(member) offsetof(struct res_call_figures, member)

static void fill(const struct passes *passes, const struct passes *floors, enum list list,
                 const struct res_call_figures *like, struct res_call_figures *ret_figures)
{
    static const size_t MEDIANS[] = {AT(count),  AT(mean_ns), AT(p50_ns),
                                     AT(p90_ns), AT(p99_ns),  AT(p99_9_ns)};
    for (size_t i = 0; i < sizeof MEDIANS / sizeof MEDIANS[0]; i++)
        *(double *)(void *)((char *)ret_figures + MEDIANS[i]) = over(passes, list, like, MEDIANS[i], MEDIAN);
    ret_figures->max_ns = over(passes, list, like, AT(max_ns), LARGEST);
    ret_figures->typical_ns = net(ret_figures->mean_ns, over(floors, list, like, AT(mean_ns), MEDIAN));
}

/* The groups of the first pass: the ops of all passes are the same. */
static void fill_list(const struct passes *passes, const struct passes *floors, enum list list,
                      struct res_latency_figures *ret_figures)
{
    const struct calls first = calls_of(&passes->items[0], list), made = calls_of(ret_figures, list);
    *made.items = res_calloc(*first.count + 1, sizeof **made.items);
    *made.count = *first.count;
    for (size_t i = 0; i < *first.count; i++) {
        const struct res_call_figures *like = &(*first.items)[i];
        (*made.items)[i] = (struct res_call_figures){
            .call = res_strdup(like->call),
            .size_max_bytes = like->size_max_bytes,
        };
        fill(passes, floors, list, like, &(*made.items)[i]);
    }
}

struct res_latency_figures *res_latency_read(const json_t *array, const char *failed)
{
    if (array == NULL)
        return NULL;
    struct res_latency_figures *figures = res_calloc(1, sizeof *figures);
    json_t *runs = failed == NULL ? json_pack("{s:O}", "runs", array) : json_object();
    char *problem = NULL;
    if (!res_described_read(&RES_LATENCY, runs, figures, &problem))
        res_described_init(&RES_LATENCY, figures);
    json_decref(runs);
    free(problem);
    figures->unavailable = failed != NULL ? res_text_plain(failed) : NULL;
    return figures;
}

/* A new reference; NULL: none. */
static json_t *passes_json(const struct res_result_entry *entry)
{
    const struct res_latency_figures *latency = entry != NULL ? entry->latency : NULL;
    if (latency == NULL || latency->unavailable != NULL || latency->run_count == 0)
        return NULL;
    json_t *array = json_array();
    for (size_t i = 0; i < latency->run_count; i++)
        json_array_append(array, latency->runs[i].json);
    return array;
}

void res_latency_measure(struct res_result_entry *entry, const struct res_result_entry *floor)
{
    json_t *array = passes_json(entry), *harness = passes_json(floor != entry ? floor : NULL);
    struct res_latency_figures *figures = res_latency_read(array, NULL);
    if (figures != NULL) {
        struct passes passes = passes_of(array), floors = passes_of(harness);
        figures->passes = passes.count;
        figures->floor_subtracted = floors.count > 0;
        fill(&passes, &floors, OF_ALL, NULL, &figures->all);
        for (enum list list = BY_CALL; list <= BY_BOTH && passes.count > 0; list++)
            fill_list(&passes, &floors, list, figures);
        passes_release(&passes);
        passes_release(&floors);
        res_described_release(&RES_LATENCY, entry->latency);
        free(entry->latency);
        entry->latency = figures;
    }
    json_decref(array);
    json_decref(harness);
}
