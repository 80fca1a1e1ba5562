/* advice.c - one sentence that says what to do, and claims nothing that the verdicts do not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/support.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/grid/cells.h"
#include "results/report/notes/advice_idle.h"
#include "results/report/notes/advice_limit.h"
#include "results/report/notes/advice_noise.h"
#include "results/report/notes/advice_options.h"
#include "results/report/notes/advice_rounds.h"
#include "results/report/notes/notes.h"
#include "results/report/table/table.h"

#define WIDE 0.03 /* of an interval; then it is said what would not have been seen */

static double percent(double ratio)
{
    return fabs(ratio - 1) * 100;
}

static void add_percent(struct res_text *text, double ratio)
{
    res_text_printf(text, percent(ratio) < 9.95 ? "%.1f %%" : "%.0f %%", percent(ratio));
}

static int compare_by_time(const void *left, const void *right)
{
    const struct res_advice_option *const *a = left, *const *b = right;
    return ((*a)->time_ratio > (*b)->time_ratio) - ((*a)->time_ratio < (*b)->time_ratio);
}

/* The other ones that the intervals do not tell apart from the fastest, the best first. */
static char *equals_of(const struct res_advice_options *options, const struct res_advice_option *fastest,
                       const struct res_advice_option *best)
{
    struct res_text names = {0};
    const struct res_advice_option **equals = res_calloc(options->count, sizeof *equals);
    size_t count = 0;
    for (size_t i = 0; i < options->count; i++) {
        const struct res_advice_option *option = &options->items[i];
        if (option != best && res_advice_option_is_faster(option, options) &&
            !res_advice_option_is_apart(option, fastest))
            equals[count++] = option;
    }
    qsort(equals, count, sizeof *equals, compare_by_time);
    for (size_t i = 0; i < count; i++) {
        res_text_printf(&names, "%s%s (", i > 0 ? ", " : "", equals[i]->name);
        add_percent(&names, equals[i]->time_ratio);
        res_text_printf(&names, ")");
    }
    free(equals);
    return names.text;
}

static char *undecided_of(const struct res_advice_options *options)
{
    struct res_text names = {0};
    for (size_t i = 0; i < options->count; i++) {
        const struct res_advice_option *option = &options->items[i];
        if (option != options->baseline && option->time == RES_UNDECIDED)
            res_text_printf(&names, "%s%s", names.text != NULL ? ", " : "", option->name);
    }
    return names.text;
}

static void add_saving(struct res_text *text, const struct res_advice_option *option, const json_t *workload)
{
    const double duration_ns = json_number_value(json_object_get(workload, "duration_ns"));
    char saved[32], duration[32];
    if (!(option->saved_ns > 0) || !(duration_ns > 0))
        return;
    /* Threads save side by side: their sum is no part of the duration. */
    const bool alone = json_integer_value(json_object_get(workload, "threads")) == 1;
    res_text_printf(text, "%s saved%s in a run recorded over %s", res_text_duration(option->saved_ns, saved),
                    alone ? "" : ", all threads added,", res_text_duration(duration_ns, duration));
}

/* The fastest of those that are faster by too little to matter; NULL: there is none. */
static const struct res_advice_option *fastest_negligible_of(const struct res_advice_options *options)
{
    const struct res_advice_option *best = NULL;
    for (size_t i = 0; i < options->count; i++) {
        const struct res_advice_option *option = &options->items[i];
        if (option != options->baseline && option->time == RES_FASTER && option->is_negligible &&
            (best == NULL || option->time_ratio < best->time_ratio))
            best = option;
    }
    return best;
}

/* told: what the sentence is about already. */
static void add_negligible(struct res_text *text, const struct res_advice_options *options,
                           const struct res_advice_option *told, const json_t *workload)
{
    const struct res_advice_option *option = fastest_negligible_of(options);
    if (option == NULL)
        return;
    if (option != told) {
        res_text_printf(text, "; %s takes ", option->name);
        add_percent(text, option->time_ratio);
        res_text_printf(text, " less time in allocator calls");
    }
    res_text_printf(text, ", which is negligible: ");
    add_saving(text, option, workload);
}

static void add_memory(struct res_text *text, const struct res_advice_option *option,
                       const struct res_advice_option *baseline)
{
    const bool less = option->peak == RES_FASTER;
    if (option->peak == RES_SAME) {
        res_text_printf(text, ", with the same peak of memory");
    } else if (option->peak != RES_UNDECIDED) {
        res_text_printf(text, less ? " and " : ", but ");
        add_percent(text, option->peak_ratio);
        res_text_printf(text, " %s memory at the peak", less ? "less" : "more");
    }
    const double start_bytes = option->peak_held.start_bytes - baseline->peak_held.start_bytes;
    char bytes[32];
    if (start_bytes >= RES_START_MATTERS * baseline->peak_held.bytes && start_bytes > 0)
        res_text_printf(text, ", besides %s more that it holds before the first call",
                        fp_text_bytes(start_bytes, bytes));
}

static void add_time(struct res_text *text, const struct res_advice_option *option)
{
    if (option->time == RES_SAME) {
        res_text_printf(text, " at the same speed");
    } else if (option->time == RES_UNDECIDED) {
        res_text_printf(text, ", its speed undecided");
    } else {
        const bool faster = option->time == RES_FASTER;
        res_text_printf(text, faster ? ", and " : ", but ");
        add_percent(text, option->time_ratio);
        res_text_printf(text, " %s time in allocator calls", faster ? "less" : "more");
    }
}

static void add_best(struct res_text *text, const struct res_advice_options *options,
                     const struct res_advice_option *best, const json_t *workload)
{
    char *equals = equals_of(options, res_advice_options_fastest(options), best);
    res_text_printf(text, "Try %s: ", best->name);
    add_percent(text, best->time_ratio);
    res_text_printf(text, " less time in allocator calls than %s (%.0f to %.0f %%", options->baseline->name,
                    percent(best->time_high), percent(best->time_low));
    if (best->saved_ns > 0 && json_number_value(json_object_get(workload, "duration_ns")) > 0) {
        res_text_printf(text, "; ");
        add_saving(text, best, workload);
    }
    res_text_printf(text, ")");
    add_memory(text, best, options->baseline);
    if (equals != NULL)
        res_text_printf(text, "; by time not told apart from it: %s", equals);
    free(equals);
}

static void add_smallest(struct res_text *text, const struct res_advice_options *options,
                         const struct res_advice_option *smallest, const struct res_advice_option *best)
{
    res_text_printf(text,
                    best != NULL ? "; the smallest is %s: " : "Try %s for its memory: ", smallest->name);
    add_percent(text, smallest->peak_ratio);
    res_text_printf(text, " less at the peak than %s", options->baseline->name);
    add_time(text, smallest);
}

static size_t count_of(const struct res_advice_options *options, enum res_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < options->count; i++)
        count += &options->items[i] != options->baseline && options->items[i].time == verdict;
    return count;
}

/* The candidates that are shown slower, each by how much, or those of which that is not shown. */
static char *names_of(const struct res_advice_options *options, bool slower)
{
    struct res_text names = {0};
    for (size_t i = 0; i < options->count; i++) {
        const struct res_advice_option *option = &options->items[i];
        if (option == options->baseline || (option->time == RES_SLOWER) != slower)
            continue;
        res_text_printf(&names, "%s%s", names.text != NULL ? ", " : "", option->name);
        if (slower) {
            const bool first = strchr(names.text, '(') == NULL;
            res_text_printf(&names, " (");
            add_percent(&names, option->time_ratio);
            res_text_printf(&names, first ? " more time in allocator calls)" : ")");
        }
    }
    return names.text;
}

/* Who is slower is known under a large noise, too: the table shows it, and a verdict lies beyond the noise. */
static void add_no_verdict(struct res_text *text, const char *baseline,
                           const struct res_advice_options *options)
{
    char *slower = names_of(options, true), *others = names_of(options, false);
    if (slower != NULL)
        res_text_printf(text, "Slower than %s: %s. No verdict on the time of %s", baseline, slower, others);
    else
        res_text_printf(text, "No verdict on time");
    free(slower);
    free(others);
}

/* Nobody is better as far as can be seen: that is a reason to stay only where enough can be seen. */
static void add_nobody(struct res_text *text, const char *baseline, const struct res_advice_options *options,
                       const struct res_advice_noise *noise, const char *undecided, const json_t *workload)
{
    const struct res_more_rounds more = res_more_rounds(workload);
    if (noise->is_large) {
        add_no_verdict(text, baseline, options);
        res_text_printf(text, ": the noise (%+.0f to %+.0f %%) hides what is smaller; ",
                        (noise->low - 1) * 100, (noise->high - 1) * 100);
        res_advice_remedy(text, workload);
        if (options->memory_known)
            res_text_printf(text, "; none is shown to need less memory at the peak than %s", baseline);
        return;
    }
    res_text_printf(text, "Stay with %s: no candidate is faster%s beyond the noise", baseline,
                    options->memory_known ? " or smaller" : "");
    res_advice_noise(text, noise, undecided, workload);
    if (undecided == NULL && more.width > WIDE && more.until > 0) {
        char *words = res_more_rounds_words(workload);
        res_text_printf(text, "; a difference of less than %.2g %% would not have been seen: %s",
                        more.width * 50, words);
        free(words);
    }
}

size_t res_advice_names(const json_t *result, const json_t *workload, const char *ret_names[2])
{
    const int rounds = (int)json_integer_value(json_object_get(workload, "rounds"));
    struct res_advice_options options = res_advice_options_of(
        json_string_value(json_object_get(result, "baseline")), workload);
    size_t count = 0;
    if (options.baseline != NULL && options.count > 1 && rounds >= (int)RES_ROUNDS_FOR_VERDICT) {
        const struct res_advice_option *best = res_advice_options_best(&options, workload);
        const struct res_advice_option *smallest = res_advice_options_smallest(&options);
        if (best != NULL)
            ret_names[count++] = best->name;
        if (smallest != NULL && smallest != best)
            ret_names[count++] = smallest->name;
    }
    res_advice_options_release(&options);
    return count;
}

char *res_advice(const json_t *result, const json_t *workload)
{
    const char *baseline = json_string_value(json_object_get(result, "baseline"));
    const int rounds = (int)json_integer_value(json_object_get(workload, "rounds"));
    const struct res_advice_noise noise = res_advice_noise_of(workload);
    struct res_text text = {0};
    struct res_advice_options options = res_advice_options_of(baseline, workload);
    const struct res_advice_option *best = res_advice_options_best(&options, workload);
    const struct res_advice_option *smallest = res_advice_options_smallest(&options);
    char *undecided = undecided_of(&options);
    char *limited = res_advice_limit(result, workload);
    if (limited != NULL)
        res_text_printf(&text, "%s%s", limited, options.baseline != NULL && options.count > 1 ? ". " : "");
    if (limited != NULL && (options.baseline == NULL || options.count < 2)) {
        if (options.baseline == NULL && options.count > 1)
            res_text_printf(&text, "; to compare those that do: -b %s", options.items[0].name);
    } else if (options.baseline == NULL) {
        res_text_printf(&text, "No advice: the baseline %s has no figures", baseline);
    } else if (options.count < 2) {
        res_text_printf(&text,
                        json_array_size(json_object_get(workload, "candidates")) > 1
                            ? "No advice: none but %s has figures, the others failed"
                            : "No advice: there is nothing to compare %s with",
                        baseline);
    } else if (rounds < (int)RES_ROUNDS_FOR_VERDICT) {
        res_text_printf(&text, "No advice from %d round%s: a verdict takes at least %u (-n 10)", rounds,
                        rounds == 1 ? "" : "s", RES_ROUNDS_FOR_VERDICT);
    } else if (best == NULL && smallest == NULL) {
        if (count_of(&options, RES_SLOWER) + 1 == options.count)
            res_text_printf(&text, "Stay with %s: every other candidate is slower%s", baseline,
                            options.memory_known ? ", and none is smaller" : "");
        else if (fastest_negligible_of(&options) != NULL)
            res_text_printf(&text, "Stay with %s%s", baseline,
                            options.memory_known ? ": none is smaller" : "");
        else
            add_nobody(&text, baseline, &options, &noise, undecided, workload);
        add_negligible(&text, &options, NULL, workload);
    } else {
        if (best != NULL)
            add_best(&text, &options, best, workload);
        if (smallest != NULL && smallest != best)
            add_smallest(&text, &options, smallest, best);
        if (best == NULL)
            add_negligible(&text, &options, smallest, workload);
        if (best == NULL && count_of(&options, RES_SLOWER) + 1 < options.count)
            res_advice_noise(&text, &noise, undecided, workload);
    }
    if (options.baseline != NULL && options.count > 1 && rounds >= (int)RES_ROUNDS_FOR_VERDICT) {
        if (options.memory_known)
            res_advice_idle(&text, workload);
        else
            res_text_printf(&text, "; no verdict on memory: not all that was live is known");
    }
    if (json_is_false(json_object_get(workload, "complete")))
        res_text_printf(&text, "; the recording is not whole");
    res_text_printf(&text, ".");
    free(limited);
    free(undecided);
    res_advice_options_release(&options);
    return text.text;
}
