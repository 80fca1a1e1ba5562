/* advice_options.c - see advice_options.h. */
#include "results/report/notes/advice_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/base/support.h"
#include "results/measure/figures/pareto.h"
#include "results/report/grid/cells.h"
#include "results/report/table/table.h"

#define NEGLIGIBLE 1e-3 /* of the recorded duration; time saved below that is no reason to change anything */

static enum res_verdict verdict_of(const json_t *object, const char *key)
{
    return res_verdict_from(json_string_value(json_object_get(object, key)));
}

/* Ratios are of steady times, and of typical ones where no batches were timed (figures.h). */
static double compared_ns_of(const json_t *time)
{
    const double steady_ns = res_cell_number(time, "steady_ns_per_op");
    return isfinite(steady_ns) ? steady_ns : res_cell_number(time, "typical_ns_per_op");
}

static void add_savings(struct res_advice_options *options, const json_t *workload)
{
    const double ops = json_number_value(json_object_get(workload, "ops")) -
                       json_number_value(json_object_get(workload, "inherited_ops"));
    const double duration_ns = json_number_value(json_object_get(workload, "duration_ns"));
    for (size_t i = 0; i < options->count; i++) {
        struct res_advice_option *option = &options->items[i];
        option->saved_ns = options->baseline != NULL
                               ? options->baseline->compared_ns * (1 - option->time_ratio) * ops
                               : NAN;
        option->is_negligible = option->saved_ns > 0 && option->saved_ns < NEGLIGIBLE * duration_ns;
    }
}

struct res_advice_options res_advice_options_of(const char *baseline, const json_t *workload)
{
    const json_t *candidates = json_object_get(workload, "candidates");
    struct res_advice_options options = {
        .items = res_calloc(json_array_size(candidates), sizeof *options.items)};
    size_t index;
    json_t *candidate;
    options.memory_known = res_live_words(workload) == NULL;
    json_array_foreach(candidates, index, candidate)
    {
        const json_t *time = json_object_get(candidate, "time");
        const json_t *resident = json_object_get(candidate, "resident");
        const char *name = json_string_value(json_object_get(candidate, "name"));
        struct res_advice_option *option = &options.items[options.count];
        if (json_is_string(json_object_get(candidate, "failed")) ||
            isnan(res_cell_number(time, "typical_ns_per_op")))
            continue;
        *option = (struct res_advice_option){
            .name = name,
            .place = index,
            .time = verdict_of(time, "verdict"),
            .peak = options.memory_known ? verdict_of(resident, "peak_verdict") : RES_UNDECIDED,
            .time_ratio = res_cell_number(time, "ratio"),
            .time_low = res_cell_number(time, "ratio_low"),
            .time_high = res_cell_number(time, "ratio_high"),
            .compared_ns = compared_ns_of(time),
            .peak_ratio = res_cell_number(resident, "peak_ratio"),
            .peak_low = res_cell_number(resident, "peak_ratio_low"),
            .peak_high = res_cell_number(resident, "peak_ratio_high"),
            .peak_held = {res_cell_number(resident, "peak_bytes"), res_cell_number(resident, "start_bytes")},
        };
        if (strcmp(name, baseline) == 0)
            options.baseline = option;
        options.count++;
    }
    add_savings(&options, workload);
    return options;
}

bool res_advice_option_is_faster(const struct res_advice_option *option,
                                 const struct res_advice_options *options)
{
    return option != options->baseline && option->time == RES_FASTER && !option->is_negligible;
}

static bool is_smaller(const struct res_advice_option *option, const struct res_advice_options *options)
{
    return option != options->baseline && option->peak == RES_FASTER &&
           !(options->baseline != NULL &&
             res_held_outweighed(option->peak_held, options->baseline->peak_held));
}

const struct res_advice_option *res_advice_options_fastest(const struct res_advice_options *options)
{
    const struct res_advice_option *best = NULL;
    for (size_t i = 0; i < options->count; i++) {
        if (res_advice_option_is_faster(&options->items[i], options) &&
            (best == NULL || options->items[i].time_ratio < best->time_ratio))
            best = &options->items[i];
    }
    return best;
}

bool res_advice_option_is_apart(const struct res_advice_option *option,
                                const struct res_advice_option *fastest)
{
    return option->time_low > fastest->time_high;
}

struct weight {
    double bytes, low, high; /* at the peak, and what its interval allows; INFINITY: not known */
};

/* What is held before the first call weighs too, as far as it is more than the baseline's: the harness' own is in both. */
static struct weight weight_of(const struct res_advice_option *option,
                               const struct res_advice_options *options)
{
    const double bytes = option->peak_held.bytes;
    const struct res_advice_option *baseline = options->baseline;
    const double more = option->peak_held.start_bytes -
                        (baseline != NULL ? baseline->peak_held.start_bytes : NAN);
    const double besides = isfinite(more) ? more : 0;
    if (option->peak == RES_UNDECIDED || !isfinite(bytes))
        return (struct weight){INFINITY, INFINITY, INFINITY};
    return (struct weight){.bytes = bytes + besides,
                           .low = bytes * option->peak_low / option->peak_ratio + besides,
                           .high = bytes * option->peak_high / option->peak_ratio + besides};
}

static bool is_as_small(struct weight own, struct weight least)
{
    return own.bytes <= (1 + RES_PARETO_MARGIN) * least.bytes || own.low <= least.high;
}

static bool is_beaten(const struct res_advice_option *option, const bool *equal,
                      const struct res_advice_options *options, const json_t *pareto)
{
    size_t index;
    json_t *name;
    json_array_foreach(json_array_get(pareto, option->place), index, name)
    {
        for (size_t i = 0; i < options->count; i++) {
            if (equal[i] && strcmp(options->items[i].name, json_string_value(name)) == 0)
                return true;
        }
    }
    return false;
}

/* Leaves out whom another equal beats, unless each is: within the margin that may go round in a circle. */
static void keep_unbeaten(bool *equal, const struct res_advice_options *options, const json_t *workload)
{
    json_t *pareto = res_pareto(workload);
    bool *kept = res_calloc(options->count, sizeof *kept);
    bool any = false;
    for (size_t i = 0; i < options->count; i++) {
        kept[i] = equal[i] && !is_beaten(&options->items[i], equal, options, pareto);
        any = any || kept[i];
    }
    if (any)
        memcpy(equal, kept, options->count * sizeof *kept);
    free(kept);
    json_decref(pareto);
}

const struct res_advice_option *res_advice_options_best(const struct res_advice_options *options,
                                                        const json_t *workload)
{
    const struct res_advice_option *fastest = res_advice_options_fastest(options), *best = NULL;
    struct weight least = {INFINITY, INFINITY, INFINITY};
    if (fastest == NULL)
        return NULL;
    bool *equal = res_calloc(options->count, sizeof *equal);
    for (size_t i = 0; i < options->count; i++)
        equal[i] = res_advice_option_is_faster(&options->items[i], options) &&
                   !res_advice_option_is_apart(&options->items[i], fastest);
    keep_unbeaten(equal, options, workload);
    for (size_t i = 0; i < options->count; i++) {
        const struct weight weight = weight_of(&options->items[i], options);
        if (equal[i] && weight.bytes < least.bytes)
            least = weight;
    }
    for (size_t i = 0; i < options->count; i++) {
        const struct res_advice_option *option = &options->items[i];
        if (equal[i] && is_as_small(weight_of(option, options), least) &&
            (best == NULL || option->time_ratio < best->time_ratio))
            best = option;
    }
    free(equal);
    return best;
}

const struct res_advice_option *res_advice_options_smallest(const struct res_advice_options *options)
{
    const struct res_advice_option *best = NULL;
    for (size_t i = 0; i < options->count; i++) {
        if (is_smaller(&options->items[i], options) &&
            (best == NULL || options->items[i].peak_ratio < best->peak_ratio))
            best = &options->items[i];
    }
    return best;
}

void res_advice_options_release(struct res_advice_options *options)
{
    free(options->items);
    *options = (struct res_advice_options){0};
}
