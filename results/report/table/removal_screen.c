/* removal_screen.c - a row a candidate: memory, then time. */
#include "results/report/table/removal_screen.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/grid/grid.h"

#define NS_PER_MS 1e6

/* ---- the table ------------------------------------------------------------------------------- */

static void begin(struct res_grid *grid, const char *memory)
{
    const char *time = "CPU time in calls, ms";
    const struct res_column columns[] = {
        {.heading = "allocator"},
        {.heading = "with", .group = memory, .right = true, .gap = 2},
        {.heading = "without", .group = memory, .right = true, .gap = 2},
        {.heading = "saved", .group = memory, .right = true, .gap = 2},
        {.heading = "spread", .group = memory, .right = true, .gap = 2, .expendable = 1},
        {.heading = "held", .group = memory, .right = true, .gap = 2},
        {.heading = "with", .group = time, .right = true, .gap = 3},
        {.heading = "saved", .group = time, .right = true, .gap = 2},
        {.heading = "95 %", .group = time, .gap = 1},
        {.heading = "ns/op", .right = true, .gap = 2},
        {.heading = "calls", .group = "saved of", .right = true, .gap = 2},
        {.heading = "process", .group = "saved of", .right = true, .gap = 2},
    };
    res_grid_begin(grid, columns, sizeof columns / sizeof columns[0]);
}

static void add_bytes(struct res_grid *grid, double bytes, struct res_bytes_unit unit)
{
    res_grid_own(grid, isfinite(bytes)
                           ? res_printf("%s%s", bytes < 0 ? "-" : "", RES_IN_UNIT(fabs(bytes), unit))
                           : res_strdup(""));
}

/* Below 0 too: without the sites it may take more. */
static char *signed_words(double number)
{
    return isfinite(number) ? res_printf("%s%s", number < 0 ? "-" : "", RES_NS(fabs(number)))
                            : res_strdup("");
}

static void add_share(struct res_grid *grid, double share)
{
    res_grid_own(grid, isfinite(share) ? res_printf("%s%s", share < 0 ? "-" : "", RES_SHARE(fabs(share)))
                                       : res_strdup(""));
}

static void add_time(struct res_grid *grid, const struct res_removed *removed)
{
    char *low = signed_words(removed->saved_low_ns / NS_PER_MS),
         *high = signed_words(removed->saved_high_ns / NS_PER_MS);
    const bool is_shown = removed->time_shown;
    res_grid_own(grid, signed_words(removed->with_ns / NS_PER_MS));
    if (is_shown || isnan(removed->saved_ns))
        res_grid_own(grid, signed_words(removed->saved_ns / NS_PER_MS));
    else
        res_grid_add(grid, "not shown");
    res_grid_own(grid, low[0] != '\0' ? res_printf("[%s %s]", low, high) : res_strdup(""));
    res_grid_own(grid, is_shown ? signed_words(removed->ns_per_op) : res_strdup(""));
    add_share(grid, is_shown ? removed->of_calls : NAN);
    add_share(grid, is_shown ? removed->of_process : NAN);
    free(low);
    free(high);
}

static void add_row(struct res_grid *grid, const struct res_removed *removed, struct res_bytes_unit unit)
{
    res_grid_add(grid, removed->name);
    if (removed->failed != NULL) {
        res_grid_add(grid, "failed");
        for (unsigned i = 2; i < grid->column_count; i++)
            res_grid_add(grid, "");
        return;
    }
    add_bytes(grid, removed->with_bytes, unit);
    add_bytes(grid, removed->without_bytes, unit);
    if (removed->peak_shown)
        add_bytes(grid, removed->saved_bytes, unit);
    else
        res_grid_add(grid, "not shown");
    add_bytes(grid, removed->spread_bytes, unit);
    add_bytes(grid, removed->held_bytes, unit);
    add_time(grid, removed);
}

static struct res_bytes_unit unit_of(const struct res_removal *removal)
{
    double most = 0;
    for (size_t i = 0; i < removal->candidate_count; i++)
        most = fmax(most, fmax(removal->candidates[i].with_bytes, removal->candidates[i].without_bytes));
    return res_bytes_unit_of(most);
}

/* ---- below it ---------------------------------------------------------------------------------- */

static bool hides(const struct res_removal *removal, bool time)
{
    for (size_t i = 0; i < removal->candidate_count; i++) {
        const struct res_removed *removed = &removal->candidates[i];
        if (removed->failed == NULL &&
            (time ? isfinite(removed->saved_ns) && !removed->time_shown : !removed->peak_shown))
            return true;
    }
    return false;
}

static void add_lines(struct res_text *text, const struct res_result *result)
{
    const struct res_removal *removal = result->removal;
    const struct res_result_workload *with = &result->workloads[0], *without = &result->workloads[1];
    res_lines_printf(text, "asked for",
                     "%s live at the peak with them, %s without; %s of %s calls are theirs",
                     FP_BYTES((double)with->live_peak_bytes), FP_BYTES((double)without->live_peak_bytes),
                     FP_GROUPED(removal->ops), FP_GROUPED(with->ops));
    res_lines_printf(text, "memory",
                     "%smemory of earlier phases that the sites only used again stays: it is held, not saved",
                     hides(removal, false)
                         ? "not shown: no more than the spread, by which replays of the same differ; "
                         : "");
    if (removal->held_unavailable != NULL)
        res_lines_printf(text, "held", "not measured: %s", removal->held_unavailable);
    if (removal->time_unavailable != NULL)
        res_lines_printf(text, "time", "not measured: %s", removal->time_unavailable);
    else if (with->rounds < RES_ROUNDS_FOR_INTERVAL)
        res_lines_printf(text, "time",
                         "not shown: of %s rounds, and %u are the fewest that tell what is noise",
                         FP_GROUPED(with->rounds), RES_ROUNDS_FOR_INTERVAL);
    else
        res_lines_printf(text, "time",
                         "%s%s rounds of both in turn, each less what replaying itself takes; ns/op: of the "
                         "calls left out",
                         hides(removal, true) ? "not shown: the range holds 0, or two runs of the baseline "
                                                "differ by as much; "
                                              : "",
                         FP_GROUPED(with->rounds));
}

void res_removal_screen(struct res_text *text, const struct res_result *result, const struct res_style *style)
{
    const struct res_removal *removal = result->removal;
    if (result->workload_count != 2)
        return; /* a file may say anything */
    const char *program = result->workloads[0].program;
    const struct res_bytes_unit unit = unit_of(removal);
    char *memory = res_printf("resident at the peak, %s", unit.name);
    struct res_grid grid;
    res_text_printf(text, "%s: with and without call sites of '%s'\n\n",
                    program != NULL ? program : "process", removal->words != NULL ? removal->words : "");
    begin(&grid, memory);
    for (size_t i = 0; i < removal->candidate_count; i++)
        add_row(&grid, &removal->candidates[i], unit);
    res_grid_text(&grid, style, text);
    res_grid_release(&grid);
    res_text_printf(text, "\n");
    add_lines(text, result);
    free(memory);
}

/* ---- CSV --------------------------------------------------------------------------------------- */

void res_removal_csv(struct res_text *text, const struct res_result *result)
{
    const struct res_removal *removal = result->removal;
    const struct res_described *rows = &RES_REMOVED;
    struct res_column *columns = res_calloc(rows->field_count, sizeof *columns);
    struct res_grid grid;
    size_t count = 0;
    for (size_t k = 0; k < rows->field_count; k++)
        if (rows->fields[k].shown.csv != NULL)
            columns[count++].heading = rows->fields[k].shown.csv;
    res_grid_begin(&grid, columns, count);
    for (size_t i = 0; i < removal->candidate_count; i++)
        for (size_t k = 0; k < rows->field_count; k++) {
            const struct res_field *field = &rows->fields[k];
            const char *at = (const char *)&removal->candidates[i] + field->offset;
            if (field->shown.csv == NULL)
                continue;
            if (field->kind == RES_FIELD_TEXT)
                res_grid_add(&grid, *(char *const *)(const void *)at);
            else
                res_grid_number(&grid, *(const double *)(const void *)at);
        }
    res_grid_csv(&grid, text);
    res_grid_release(&grid);
    free(columns);
}
