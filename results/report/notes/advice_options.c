/* advice_options.c - see advice_options.h. */
#include "results/report/notes/advice_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/experiment/until.h"
#include "results/measure/figures/pareto.h"
#include "results/measure/result/result.h"
#include "results/report/notes/noting.h"

#define NEGLIGIBLE 1e-3 /* of the recorded duration; time saved below that is no reason to change anything */

/* Ratios are of steady times, and of typical ones where no batches were timed (figures.h). */
static double compared_ns_of(const struct res_figures *figures)
{
    return isfinite(figures->steady_ns_per_op) ? figures->steady_ns_per_op : figures->typical_ns_per_op;
}

static void add_savings(struct res_advice_options *options, const struct res_result_workload *workload)
{
    const double ops = (double)workload->ops - (double)workload->inherited_ops;
    for (size_t i = 0; i < options->count; i++) {
        struct res_advice_option *option = &options->items[i];
        option->saved_ns = options->baseline != NULL ? compared_ns_of(&options->baseline->entry->figures) *
                                                           (1 - option->time->ratio) * ops
                                                     : NAN;
        option->is_negligible = option->saved_ns > 0 &&
                                option->saved_ns < NEGLIGIBLE * (double)workload->duration_ns;
    }
}

static bool is_faster(const struct res_advice_option *option, const struct res_advice_options *options)
{
    return option != options->baseline && option->time->verdict == RES_LESS && !option->is_negligible;
}

static struct res_held held_by(const struct res_advice_option *option)
{
    return (struct res_held){option->entry->figures.peak_bytes, option->entry->figures.start_bytes};
}

static bool is_smaller(const struct res_advice_option *option, const struct res_advice_options *options)
{
    return option != options->baseline && option->peak_verdict == RES_LESS &&
           !(options->baseline != NULL && res_held_outweighed(held_by(option), held_by(options->baseline)));
}

bool res_advice_is_equal(const struct res_advice_option *option, const struct res_advice_options *options)
{
    return is_faster(option, options) && option->time->interval.low <= options->fastest->time->interval.high;
}

struct weight {
    double bytes, low, high; /* at the peak, and what its interval allows; INFINITY: not known */
};

/* What is held before the first call weighs too, as far as it is more than the baseline's: the harness' own is in both. */
static struct weight weight_of(const struct res_advice_option *option,
                               const struct res_advice_options *options)
{
    const struct res_held held = held_by(option);
    const double more = options->baseline != NULL ? held.start_bytes - held_by(options->baseline).start_bytes
                                                  : NAN;
    const double besides = isfinite(more) ? more : 0;
    if (option->peak_verdict == RES_UNDECIDED || !isfinite(held.bytes))
        return (struct weight){INFINITY, INFINITY, INFINITY};
    return (struct weight){
        .bytes = held.bytes + besides,
        .low = held.bytes * option->peak->interval.low / option->peak->ratio + besides,
        .high = held.bytes * option->peak->interval.high / option->peak->ratio + besides,
    };
}

static bool is_as_small(struct weight own, struct weight least)
{
    return own.bytes <= (1 + RES_PARETO_MARGIN) * least.bytes || own.low <= least.high;
}

static bool is_beaten(const struct res_advice_option *option, const bool *equal,
                      const struct res_advice_options *options)
{
    const struct res_texts *names = &option->entry->beaten_by;
    for (size_t i = 0; i < options->count; i++)
        for (size_t k = 0; equal[i] && k < names->count; k++)
            if (strcmp(options->items[i].entry->name, names->items[k]) == 0)
                return true;
    return false;
}

/* Leaves out whom another equal beats, unless each is: within the margin that may go round in a circle. */
static void keep_unbeaten(bool *equal, const struct res_advice_options *options)
{
    bool *kept = res_calloc(options->count, sizeof *kept);
    bool any = false;
    for (size_t i = 0; i < options->count; i++) {
        kept[i] = equal[i] && !is_beaten(&options->items[i], equal, options);
        any = any || kept[i];
    }
    if (any)
        memcpy(equal, kept, options->count * sizeof *kept);
    free(kept);
}

static const struct res_advice_option *best_of(const struct res_advice_options *options)
{
    const struct res_advice_option *best = NULL;
    struct weight least = {INFINITY, INFINITY, INFINITY};
    bool *equal = res_calloc(options->count, sizeof *equal);
    for (size_t i = 0; i < options->count; i++)
        equal[i] = res_advice_is_equal(&options->items[i], options);
    keep_unbeaten(equal, options);
    for (size_t i = 0; i < options->count; i++) {
        const struct weight weight = weight_of(&options->items[i], options);
        if (equal[i] && weight.bytes < least.bytes)
            least = weight;
    }
    for (size_t i = 0; i < options->count; i++) {
        const struct res_advice_option *option = &options->items[i];
        if (equal[i] && is_as_small(weight_of(option, options), least) &&
            (best == NULL || option->time->ratio < best->time->ratio))
            best = option;
    }
    free(equal);
    return best;
}

struct res_advice_options res_advice_options_of(const char *baseline,
                                                const struct res_result_workload *workload)
{
    struct res_advice_options options = {
        .memory_known = workload->live == RES_LIVE_KNOWN,
        .items = res_calloc(workload->candidate_count + 1, sizeof *options.items)};
    RES_EACH_CANDIDATE(entry, workload)
    {
        const struct res_figures *figures = &entry->figures;
        struct res_advice_option *option = &options.items[options.count];
        if (entry->failed != NULL || isnan(figures->typical_ns_per_op))
            continue;
        *option = (struct res_advice_option){
            .entry = entry,
            .time = &figures->time,
            .peak = &figures->peak,
            .peak_verdict = options.memory_known ? figures->peak.verdict : RES_UNDECIDED,
        };
        if (strcmp(entry->name, baseline) == 0)
            options.baseline = option;
        options.count++;
    }
    add_savings(&options, workload);
    for (size_t i = 0; i < options.count; i++) {
        const struct res_advice_option *option = &options.items[i];
        if (is_faster(option, &options) &&
            (options.fastest == NULL || option->time->ratio < options.fastest->time->ratio))
            options.fastest = option;
        if (is_smaller(option, &options) &&
            (options.smallest == NULL || option->peak->ratio < options.smallest->peak->ratio))
            options.smallest = option;
    }
    if (options.fastest != NULL)
        options.best = best_of(&options);
    return options;
}

void res_advice_options_release(struct res_advice_options *options)
{
    free(options->items);
    *options = (struct res_advice_options){0};
}

/* ---- more rounds ----------------------------------------------------------------------------- */

/* Widths worth asking for, the first one first: 2 % shows what people act on; the others where that is reached or out of
 * reach. */
static const double WIDTHS[] = {0.02, 0.01, 0.05, 0.1};
#define NARROWER 1.25 /* by so much at least, or the rounds of before did as well */

static double width_of(const struct res_result_entry *entry)
{
    const struct res_difference *time = &entry->figures.time;
    const double width = (time->interval.high - time->interval.low) / time->ratio;
    return entry->failed != NULL || !(width >= 0) ? NAN : width;
}

static double elapsed_of(const struct res_run *runs, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)runs[i].elapsed_ns;
    return sum;
}

/* What an experiment takes: `once` whatever its rounds, and `each` for every round. */
struct cost {
    double once_ns, each_ns;
};

static void add_cost(const struct res_result_entry *entry, struct cost *cost)
{
    if (entry == NULL || entry->run_count == 0)
        return;
    cost->each_ns += elapsed_of(entry->runs, entry->run_count) / (double)entry->run_count;
    cost->once_ns += (double)entry->warmup_ns + elapsed_of(entry->memory_runs, entry->memory_count);
}

struct res_more_rounds res_more_rounds(const struct res_result_workload *workload)
{
    struct res_more_rounds more = {.width = width_of(&workload->control), .elapsed_ns = NAN};
    struct cost cost = {0, 0};
    for (size_t i = 0; i < workload->candidate_count; i++) {
        add_cost(&workload->candidates[i], &cost);
        if (i > 0) /* the baseline has none */
            more.width = fmax(more.width, width_of(&workload->candidates[i]));
    }
    add_cost(&workload->control, &cost);
    add_cost(workload->floor, &cost);
    more.short_enough = cost.each_ns > 0 &&
                        cost.once_ns + RES_UNTIL_ROUNDS_MAX * cost.each_ns <= (double)RES_UNTIL_LONG_NS;
    for (size_t i = 0; i < sizeof WIDTHS / sizeof WIDTHS[0] && more.until == 0; i++) {
        const double exact = (double)workload->rounds * pow(more.width / WIDTHS[i], 2);
        /* In tens: it is no more exact than that. */
        const double needed = fmax(10 * ceil(exact / 10 - 1e-6), RES_UNTIL_ROUNDS_LEAST);
        const double elapsed_ns = cost.each_ns > 0 ? cost.once_ns + needed * cost.each_ns : NAN;
        const bool within = needed <= RES_UNTIL_ROUNDS_LONG ||
                            (needed <= RES_UNTIL_ROUNDS_MAX && elapsed_ns <= (double)RES_UNTIL_LONG_NS);
        if (!(more.width >= NARROWER * WIDTHS[i]) || !within)
            continue;
        more.until = WIDTHS[i];
        more.rounds = (size_t)needed;
        more.elapsed_ns = elapsed_ns;
    }
    return more;
}

char *res_more_rounds_words(const struct res_more_rounds *more)
{
    struct res_text words = {0};
    if (isnan(more->width))
        return res_strdup("--until 2%");
    if (more->until == 0)
        return res_printf("'mallab doctor' says what disturbs it; %u rounds would hardly do",
                          more->short_enough ? RES_UNTIL_ROUNDS_MAX : RES_UNTIL_ROUNDS_LONG);
    res_text_printf(&words, "--until %.0f%% (some %zu rounds", more->until * 100, more->rounds);
    if (more->elapsed_ns > 0)
        res_text_printf(&words, ", %s", RES_DURATION(more->elapsed_ns));
    res_text_printf(&words, ")");
    return words.text;
}
