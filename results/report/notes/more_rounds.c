/* more_rounds.c - how many more rounds would decide. */
#include "results/report/notes/more_rounds.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/experiment/until.h"

/* Widths worth asking for, the first one first: 2 % shows what people act on; the others where that is reached or out of
 * reach. */
static const double WIDTHS[] = {0.02, 0.01, 0.05, 0.1};
/* So many rounds are worth asking for however long they take; within LONG_NS as many as RES_UNTIL_ROUNDS_MAX. */
#define ROUNDS_LONG 200u
#define LONG_NS     (5 * 60e9)
#define MINUTE_NS   60e9
#define NARROWER    1.25 /* by so much at least, or the rounds of before did as well */

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
    more.short_enough = cost.each_ns > 0 && cost.once_ns + RES_UNTIL_ROUNDS_MAX * cost.each_ns <= LONG_NS;
    for (size_t i = 0; i < sizeof WIDTHS / sizeof WIDTHS[0] && more.until == 0; i++) {
        const double exact = (double)workload->rounds * pow(more.width / WIDTHS[i], 2);
        /* In tens: it is no more exact than that. */
        const double needed = fmax(10 * ceil(exact / 10 - 1e-6), RES_UNTIL_ROUNDS_LEAST);
        const double elapsed_ns = cost.each_ns > 0 ? cost.once_ns + needed * cost.each_ns : NAN;
        const bool within = needed <= ROUNDS_LONG ||
                            (needed <= RES_UNTIL_ROUNDS_MAX && elapsed_ns <= LONG_NS);
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
        return res_strdup("--resolve 2%");
    if (more->until == 0)
        return res_printf("'mallab doctor' says what disturbs it; %u rounds would hardly do",
                          more->short_enough ? RES_UNTIL_ROUNDS_MAX : ROUNDS_LONG);
    res_text_printf(&words, "--resolve %.0f%%", more->until * 100);
    if (more->elapsed_ns > MINUTE_NS / 2) /* which --resolve alone has */
        res_text_printf(&words, " --time-budget %.0fm", ceil(2 * more->elapsed_ns / MINUTE_NS));
    res_text_printf(&words, " (some %zu rounds", more->rounds);
    if (more->elapsed_ns > 0)
        res_text_printf(&words, ", %s", RES_DURATION(more->elapsed_ns));
    res_text_printf(&words, ")");
    return words.text;
}
