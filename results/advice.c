/* advice.c - one sentence that says what to do, and claims nothing that the verdicts do not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/statistics.h"
#include "results/support.h"
#include "results/table.h"

#define LARGE_NOISE 0.1 /* of a ratio; differences between allocators are mostly of that size */

struct option {
    const char *name;
    const char *time, *peak; /* verdicts */
    double time_ratio, time_low, time_high, quiet_ns;
    double peak_ratio;
};

struct options {
    struct option *items;
    size_t count;
    const struct option *baseline; /* NULL when it failed */
};

static double ratio_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *verdict_of(const json_t *object, const char *key)
{
    const char *verdict = json_string_value(json_object_get(object, key));
    return verdict != NULL ? verdict : res_verdict_name(RES_UNDECIDED);
}

static bool is(const char *verdict, enum res_verdict wanted)
{
    return strcmp(verdict, res_verdict_name(wanted)) == 0;
}

static struct options options_of(const char *baseline, const json_t *workload)
{
    const json_t *candidates = json_object_get(workload, "candidates");
    struct options options = {.items = res_calloc(json_array_size(candidates), sizeof *options.items)};
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        const json_t *time = json_object_get(candidate, "time");
        const json_t *resident = json_object_get(candidate, "resident");
        const char *name = json_string_value(json_object_get(candidate, "name"));
        struct option *option = &options.items[options.count];
        if (json_is_string(json_object_get(candidate, "failed")) ||
            isnan(ratio_of(time, "typical_ns_per_op")))
            continue;
        *option = (struct option){
            .name = name,
            .time = verdict_of(time, "verdict"),
            .peak = verdict_of(resident, "peak_verdict"),
            .time_ratio = ratio_of(time, "ratio"),
            .time_low = ratio_of(time, "ratio_low"),
            .time_high = ratio_of(time, "ratio_high"),
            .quiet_ns = ratio_of(time, "quiet_ns_per_op"),
            .peak_ratio = ratio_of(resident, "peak_ratio"),
        };
        if (strcmp(name, baseline) == 0)
            options.baseline = option;
        options.count++;
    }
    return options;
}

static bool is_faster(const struct option *option, const struct options *options)
{
    return option != options->baseline && is(option->time, RES_FASTER);
}

static bool is_smaller(const struct option *option, const struct options *options)
{
    return option != options->baseline && is(option->peak, RES_FASTER);
}

static const struct option *fastest_of(const struct options *options)
{
    const struct option *best = NULL;
    for (size_t i = 0; i < options->count; i++) {
        if (is_faster(&options->items[i], options) &&
            (best == NULL || options->items[i].time_ratio < best->time_ratio))
            best = &options->items[i];
    }
    return best;
}

/* Of those that the intervals do not tell apart from the fastest by time, the one with the least memory. */
static const struct option *best_of(const struct options *options, const struct option *fastest)
{
    const struct option *best = fastest;
    for (size_t i = 0; fastest != NULL && i < options->count; i++) {
        const struct option *option = &options->items[i];
        if (is_faster(option, options) && option->time_low <= fastest->time_high &&
            is_smaller(option, options) &&
            (!is_smaller(best, options) || option->peak_ratio < best->peak_ratio))
            best = option;
    }
    return best;
}

static const struct option *smallest_of(const struct options *options)
{
    const struct option *best = NULL;
    for (size_t i = 0; i < options->count; i++) {
        if (is_smaller(&options->items[i], options) &&
            (best == NULL || options->items[i].peak_ratio < best->peak_ratio))
            best = &options->items[i];
    }
    return best;
}

/* The other ones that the intervals do not tell apart from the fastest. */
static char *equals_of(const struct options *options, const struct option *fastest, const struct option *best)
{
    struct res_text names = {0};
    for (size_t i = 0; i < options->count; i++) {
        const struct option *option = &options->items[i];
        if (option != best && is_faster(option, options) && option->time_low <= fastest->time_high)
            res_text_printf(&names, "%s%s", names.text != NULL ? ", " : "", option->name);
    }
    return names.text;
}

static char *undecided_of(const struct options *options)
{
    struct res_text names = {0};
    for (size_t i = 0; i < options->count; i++) {
        const struct option *option = &options->items[i];
        if (option != options->baseline && is(option->time, RES_UNDECIDED))
            res_text_printf(&names, "%s%s", names.text != NULL ? ", " : "", option->name);
    }
    return names.text;
}

static double percent(double ratio)
{
    return fabs(ratio - 1) * 100;
}

static void add_percent(struct res_text *text, double ratio)
{
    res_text_printf(text, percent(ratio) < 9.95 ? "%.1f %%" : "%.0f %%", percent(ratio));
}

static void add_saving(struct res_text *text, const struct options *options, const struct option *option,
                       const json_t *workload)
{
    const double ops = json_number_value(json_object_get(workload, "ops"));
    const double duration_ns = json_number_value(json_object_get(workload, "duration_ns"));
    const double saved_ns = (options->baseline->quiet_ns - option->quiet_ns) * ops;
    char saved[32], duration[32];
    if (!(saved_ns > 0) || !(duration_ns > 0))
        return;
    /* Threads save side by side: their sum is no part of the duration. The quiet figures: a disturbed machine would
     * promise more than a calm one keeps. */
    const bool alone = json_integer_value(json_object_get(workload, "threads")) == 1;
    res_text_printf(text, " (%s saved%s in a run recorded over %s)", res_text_duration(saved_ns, saved),
                    alone ? "" : ", all threads added,", res_text_duration(duration_ns, duration));
}

static void add_memory(struct res_text *text, const struct option *option)
{
    const bool less = is(option->peak, RES_FASTER);
    if (is(option->peak, RES_SAME)) {
        res_text_printf(text, ", with the same peak of memory");
    } else if (!is(option->peak, RES_UNDECIDED)) {
        res_text_printf(text, less ? " and " : ", but ");
        add_percent(text, option->peak_ratio);
        res_text_printf(text, " %s memory at the peak", less ? "less" : "more");
    }
}

static void add_time(struct res_text *text, const struct option *option)
{
    if (is(option->time, RES_SAME)) {
        res_text_printf(text, " at the same speed");
    } else if (is(option->time, RES_UNDECIDED)) {
        res_text_printf(text, ", its speed undecided");
    } else {
        const bool faster = is(option->time, RES_FASTER);
        res_text_printf(text, faster ? ", and " : ", but ");
        add_percent(text, option->time_ratio);
        res_text_printf(text, " %s time in allocator calls", faster ? "less" : "more");
    }
}

static void add_best(struct res_text *text, const struct options *options, const struct option *best,
                     const json_t *workload)
{
    char *equals = equals_of(options, fastest_of(options), best);
    res_text_printf(text, "Try %s: ", best->name);
    add_percent(text, best->time_ratio);
    res_text_printf(text, " less time in allocator calls than %s", options->baseline->name);
    add_saving(text, options, best, workload);
    add_memory(text, best);
    if (equals != NULL)
        res_text_printf(text, "; by time not told apart from it: %s", equals);
    free(equals);
}

static void add_smallest(struct res_text *text, const struct options *options, const struct option *smallest,
                         const struct option *best)
{
    res_text_printf(text,
                    best != NULL ? "; the smallest is %s: " : "Try %s for its memory: ", smallest->name);
    add_percent(text, smallest->peak_ratio);
    res_text_printf(text, " less at the peak than %s", options->baseline->name);
    add_time(text, smallest);
}

static size_t count_of(const struct options *options, enum res_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < options->count; i++)
        count += &options->items[i] != options->baseline && is(options->items[i].time, verdict);
    return count;
}

/* What to do where the noise may have hidden a difference. */
static void add_noise(struct res_text *text, const json_t *workload, const char *undecided, int rounds)
{
    const json_t *time = json_object_get(json_object_get(workload, "control"), "time");
    const double low = ratio_of(time, "ratio_low");
    const double high = ratio_of(time, "ratio_high");
    if (high - 1 > LARGE_NOISE || 1 - low > LARGE_NOISE)
        res_text_printf(
            text, "; the noise is large (%+.0f to %+.0f %%): repeat it on a quieter machine, or with -n %d",
            (low - 1) * 100, (high - 1) * 100, rounds * 3);
    else if (undecided != NULL)
        res_text_printf(text, "; more rounds (-n %d) may decide on %s", rounds * 3, undecided);
}

char *res_advice(const json_t *result, const json_t *workload)
{
    const char *baseline = json_string_value(json_object_get(result, "baseline"));
    const json_int_t rounds = json_integer_value(json_object_get(workload, "rounds"));
    struct res_text text = {0};
    struct options options = options_of(baseline, workload);
    const struct option *best = best_of(&options, fastest_of(&options));
    const struct option *smallest = smallest_of(&options);
    char *undecided = undecided_of(&options);
    bool claims = false;
    if (options.baseline == NULL)
        res_text_printf(&text, "No advice: the baseline %s has no figures", baseline);
    else if (options.count < 2)
        res_text_printf(&text, "No advice: there is nothing to compare %s with", baseline);
    else if (rounds < (json_int_t)RES_ROUNDS_FOR_VERDICT)
        res_text_printf(&text, "No advice from %d round%s: a verdict takes at least %u (-n 10)", (int)rounds,
                        rounds == 1 ? "" : "s", RES_ROUNDS_FOR_VERDICT);
    else if (best == NULL && smallest == NULL && count_of(&options, RES_SLOWER) + 1 == options.count)
        res_text_printf(&text, "Stay with %s: every other candidate is slower, and none is smaller",
                        baseline);
    else if (best == NULL && smallest == NULL)
        res_text_printf(&text, "Stay with %s: no candidate is faster or smaller beyond the noise", baseline);
    else
        claims = true;
    if (claims && best != NULL)
        add_best(&text, &options, best, workload);
    if (claims && smallest != NULL && smallest != best)
        add_smallest(&text, &options, smallest, best);
    if (best == NULL && options.baseline != NULL && count_of(&options, RES_SLOWER) + 1 < options.count &&
        rounds >= (json_int_t)RES_ROUNDS_FOR_VERDICT)
        add_noise(&text, workload, undecided, (int)rounds);
    res_text_printf(&text, ".");
    free(undecided);
    free(options.items);
    return text.text;
}
