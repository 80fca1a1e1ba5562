/* advice_rounds.c - from the intervals and times of a result to the next experiment. */
#include "results/report/notes/advice_rounds.h"

#include <math.h>

#include "results/measure/base/support.h"
#include "results/measure/experiment/until.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/grid/cells.h"

/* Widths worth asking for, the first one first: 2 % shows what people act on; the others where that is reached or out of reach. */
static const double WIDTHS[] = {0.02, 0.01, 0.05, 0.1};
#define NARROWER 1.25 /* by so much at least, or the rounds of before did as well */

static double width_of(const json_t *entry)
{
    const json_t *time = json_object_get(entry, "time");
    const double width = (res_cell_number(time, "ratio_high") - res_cell_number(time, "ratio_low")) /
                         res_cell_number(time, "ratio");
    return json_is_string(json_object_get(entry, "failed")) || !(width >= 0) ? NAN : width;
}

static double elapsed_of(const json_t *runs)
{
    double sum = 0;
    size_t index;
    json_t *run;
    json_array_foreach(runs, index, run) sum += res_cell_number(run, "elapsed_ns");
    return sum;
}

/* What an experiment takes: `once` whatever its rounds, and `each` for every round. */
struct cost {
    double once_ns, each_ns;
};

static void add_cost(const json_t *entry, struct cost *cost)
{
    const json_t *runs = json_object_get(entry, "runs");
    if (json_array_size(runs) == 0)
        return;
    cost->each_ns += elapsed_of(runs) / (double)json_array_size(runs);
    cost->once_ns += res_cell_number(entry, "warmup_ns") + elapsed_of(json_object_get(entry, "memory_runs"));
}

struct res_more_rounds res_more_rounds(const json_t *workload)
{
    const double rounds = res_cell_number(workload, "rounds");
    struct res_more_rounds more = {.width = width_of(json_object_get(workload, "control")),
                                   .elapsed_ns = NAN};
    struct cost cost = {0, 0};
    size_t index;
    json_t *candidate;
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        add_cost(candidate, &cost);
        if (index > 0) /* the baseline has none */
            more.width = fmax(more.width, width_of(candidate));
    }
    add_cost(json_object_get(workload, "control"), &cost);
    add_cost(json_object_get(workload, "floor"), &cost);
    more.short_enough = cost.once_ns + RES_UNTIL_ROUNDS_MAX * cost.each_ns <= (double)RES_UNTIL_LONG_NS;
    for (size_t i = 0; i < sizeof WIDTHS / sizeof WIDTHS[0] && more.until == 0; i++) {
        const double exact = rounds * pow(more.width / WIDTHS[i], 2);
        /* In tens: it is no more exact than that. */
        const double needed = fmax(10 * ceil(exact / 10 - 1e-6), RES_UNTIL_ROUNDS_LEAST);
        const double elapsed_ns = cost.once_ns + needed * cost.each_ns;
        const bool within = needed <= RES_UNTIL_ROUNDS_LONG ||
                            (needed <= RES_UNTIL_ROUNDS_MAX && elapsed_ns > 0 &&
                             elapsed_ns <= (double)RES_UNTIL_LONG_NS);
        if (!(more.width >= NARROWER * WIDTHS[i]) || !within)
            continue;
        more.until = WIDTHS[i];
        more.rounds = (size_t)needed;
        more.elapsed_ns = elapsed_ns;
    }
    return more;
}

char *res_more_rounds_words(const json_t *workload)
{
    const struct res_more_rounds more = res_more_rounds(workload);
    struct res_text words = {0};
    char duration[32];
    if (isnan(more.width))
        return res_strdup("--until 2%");
    if (more.until == 0)
        return res_printf("'mallab doctor' says what disturbs it; %u rounds would hardly do",
                          more.short_enough ? RES_UNTIL_ROUNDS_MAX : RES_UNTIL_ROUNDS_LONG);
    res_text_printf(&words, "--until %.0f%% (some %zu rounds", more.until * 100, more.rounds);
    if (more.elapsed_ns > 0)
        res_text_printf(&words, ", %s", res_text_duration(more.elapsed_ns, duration));
    res_text_printf(&words, ")");
    return words.text;
}
