/* removal_screen.c - of one choice of sites a row a candidate: memory, then time; of several, rows of time for each. */
#include "results/report/table/removal_screen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
        {.heading = "ns each", .right = true, .gap = 2},
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
    res_grid_own(grid, is_shown ? signed_words(removed->ns_per_allocation) : res_strdup(""));
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
    if (removed->peak_shown || isnan(removed->saved_bytes))
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
        if (removed->failed == NULL && (time ? isfinite(removed->saved_ns) && !removed->time_shown
                                             : isfinite(removed->saved_bytes) && !removed->peak_shown))
            return true;
    }
    return false;
}

static void add_time_line(struct res_text *text, const struct res_result_workload *workload,
                          const struct res_removal *removal, const char *words)
{
    if (removal->time_unavailable != NULL)
        res_lines_printf(text, "time", "not measured: %s", removal->time_unavailable);
    else if (workload->rounds < RES_ROUNDS_FOR_INTERVAL)
        res_lines_printf(text, "time",
                         "not shown: of %s rounds, and %u are the fewest that tell what is noise",
                         FP_GROUPED(workload->rounds), RES_ROUNDS_FOR_INTERVAL);
    else
        res_lines_printf(text, "time",
                         "%s%s rounds of all in turn, each less what replaying itself takes; ns each: of an "
                         "allocation of theirs, with its free",
                         words, FP_GROUPED(workload->rounds));
    if (removal->held_unavailable != NULL)
        res_lines_printf(text, "held", "not measured: %s", removal->held_unavailable);
}

static void add_lines(struct res_text *text, const struct res_result_workload *workload)
{
    const struct res_removal *removal = workload->removals;
    if (isfinite(removal->live_peak_bytes))
        res_lines_printf(text, "asked for",
                         "%s live at the peak with them, %s without; %s of %s calls are theirs",
                         FP_BYTES((double)workload->live_peak_bytes), FP_BYTES(removal->live_peak_bytes),
                         FP_GROUPED(removal->ops), FP_GROUPED(workload->ops));
    if (removal->candidate_count > 0 && isfinite(removal->candidates[0].with_bytes))
        res_lines_printf(
            text, "memory",
            "%smemory of earlier phases that the sites only used again stays: it is held, not saved",
            hides(removal, false)
                ? "not shown: no more than the spread, by which replays of the same differ; "
                : "");
    add_time_line(
        text, workload, removal,
        hides(removal, true) ? "not shown: the range holds 0, or leaving out nothing saves as much; " : "");
}

static void add_one(struct res_text *text, const struct res_result_workload *workload,
                    const struct res_style *style)
{
    const struct res_removal *removal = workload->removals;
    const struct res_bytes_unit unit = unit_of(removal);
    char *memory = res_printf("resident at the peak, %s", unit.name);
    struct res_grid grid;
    begin(&grid, memory);
    for (size_t i = 0; i < removal->candidate_count; i++)
        add_row(&grid, &removal->candidates[i], unit);
    res_grid_text(&grid, style, text);
    res_grid_release(&grid);
    res_text_printf(text, "\n");
    add_lines(text, workload);
    free(memory);
}

/* ---- several ----------------------------------------------------------------------------------- */

static void begin_costs(struct res_grid *grid, const char *held, bool site_first)
{
    const struct res_column site = {.heading = "site", .open = true, .gap = site_first ? 0 : 2, .least = 20};
    const struct res_column figures[] = {
        {.heading = "calls", .right = true},
        {.heading = "allocator", .gap = 2},
        {.heading = "ns each", .right = true, .gap = 2},
        {.heading = "saved, ms", .right = true, .gap = 2, .expendable = 2},
        {.heading = "of calls", .right = true, .gap = 2, .expendable = 3},
        {.heading = held, .right = true, .gap = 2, .expendable = 1},
    };
    const size_t count = sizeof figures / sizeof figures[0];
    struct res_column columns[sizeof figures / sizeof figures[0] + 1];
    memcpy(columns + site_first, figures, sizeof figures);
    columns[site_first ? 0 : count] = site;
    res_grid_begin(grid, columns, count + 1);
}

/* "54.2 +-3.1"; of what is no more than noise only that. */
static char *with_reach(double value, double scale, const struct res_removed *removed,
                        const struct res_style *style)
{
    const double reach = (removed->saved_high_ns - removed->saved_low_ns) / 2 * scale;
    const double noise = fmax(fmax(reach, removed->spread_ns * scale), fabs(value)); /* of NAN the other */
    const double told = removed->time_shown ? reach : noise;
    const char *sign = style->utf8 ? "±" : "+-";
    const int digits = told < 1 ? 2 : told < 10 ? 1 : 0;
    if (!isfinite(value) || !isfinite(reach))
        return res_strdup("");
    return removed->time_shown ? res_printf("%.*f %s%.*f", digits, value, sign, digits, told)
                               : res_printf("within %s%.*f", sign, digits, told);
}

static void add_cost(struct res_grid *grid, const struct res_removal *removal, size_t candidate,
                     struct res_bytes_unit unit, const struct res_style *style, bool site_first)
{
    const struct res_removed *removed = &removal->candidates[candidate];
    const bool is_first = candidate == 0, is_shown = removed->time_shown;
    const char *words = removal->words != NULL ? removal->words : "";
    if (site_first)
        res_grid_add(grid, words);
    res_grid_add(grid, is_first || site_first ? FP_GROUPED(removal->allocations) : "");
    res_grid_add(grid, removed->name);
    if (removed->failed != NULL) {
        res_grid_add(grid, "failed");
        for (unsigned i = 0; i < 3; i++)
            res_grid_add(grid, "");
    } else {
        res_grid_own(
            grid, with_reach(removed->ns_per_allocation, 1 / (double)removal->allocations, removed, style));
        res_grid_own(grid, is_shown ? with_reach(removed->saved_ns / NS_PER_MS, 1 / NS_PER_MS, removed, style)
                                    : res_strdup(""));
        add_share(grid, is_shown ? removed->of_calls : NAN);
        add_bytes(grid, removed->held_bytes, unit);
    }
    if (!site_first)
        res_grid_add(grid, is_first ? words : "");
}

static void fill_costs(struct res_grid *grid, const struct res_result_workload *workload,
                       const struct res_style *style, bool site_first)
{
    double most = 0;
    for (size_t i = 0; i < workload->removal_count; i++)
        for (size_t k = 0; k < workload->removals[i].candidate_count; k++)
            most = fmax(most, workload->removals[i].candidates[k].held_bytes); /* of NAN the other */
    const struct res_bytes_unit unit = res_bytes_unit_of(most);
    char *held = res_printf("held, %s", unit.name);
    begin_costs(grid, held, site_first);
    for (size_t i = 0; i < workload->removal_count; i++)
        for (size_t k = 0; k < workload->removals[i].candidate_count; k++)
            add_cost(grid, &workload->removals[i], k, unit, style, site_first);
    free(held);
}

static void add_several(struct res_text *text, const struct res_result_workload *workload,
                        const struct res_style *style)
{
    struct res_grid grid;
    fill_costs(&grid, workload, style, false);
    res_grid_text(&grid, style, text);
    res_grid_release(&grid);
    res_text_printf(text, "\n");
    res_lines_add(
        text, "saved",
        "of the time in all calls, as replayed, where that site alone is left out: one may do what another "
        "left, so "
        "they do not add up. Programs that really did without a line saved 0.6 to 1.8 times as much");
    add_time_line(text, workload, workload->removals, "");
}

json_t *res_removals_json(const struct res_result_workload *workload)
{
    const struct res_style style = {.utf8 = true};
    struct res_grid grid;
    if (workload->removal_count == 0)
        return json_null();
    fill_costs(&grid, workload, &style, true);
    json_t *object = res_grid_json(&grid);
    res_grid_release(&grid);
    return object;
}

void res_removals_screen(struct res_text *text, const struct res_result_workload *workload,
                         const struct res_style *style)
{
    const char *program = workload->program != NULL ? workload->program : "process";
    if (workload->removal_count == 1) {
        const char *words = workload->removals[0].words;
        res_text_printf(text, "%s: with and without call sites of '%s'\n\n", program,
                        words != NULL ? words : "");
        add_one(text, workload, style);
    } else if (workload->removal_count > 1) {
        res_text_printf(text, "%s: what its replay saves where one call site is left out\n\n", program);
        add_several(text, workload, style);
    }
}

/* ---- CSV --------------------------------------------------------------------------------------- */

static void add_csv_row(struct res_grid *grid, const struct res_removal *removal, size_t candidate)
{
    const struct res_described *rows = &RES_REMOVED;
    res_grid_add(grid, removal->words);
    res_grid_number(grid, (double)removal->allocations);
    for (size_t k = 0; k < rows->field_count; k++) {
        const struct res_field *field = &rows->fields[k];
        const char *at = (const char *)&removal->candidates[candidate] + field->offset;
        if (field->shown.csv == NULL)
            continue;
        if (field->kind == RES_FIELD_TEXT)
            res_grid_add(grid, *(char *const *)(const void *)at);
        else
            res_grid_number(grid, *(const double *)(const void *)at);
    }
}

void res_removals_csv(struct res_text *text, const struct res_result_workload *workload)
{
    const struct res_described *rows = &RES_REMOVED;
    struct res_column *columns = res_calloc(rows->field_count + 2, sizeof *columns);
    struct res_grid grid;
    size_t count = 0;
    columns[count++].heading = "site";
    columns[count++].heading = "allocations";
    for (size_t k = 0; k < rows->field_count; k++)
        if (rows->fields[k].shown.csv != NULL)
            columns[count++].heading = rows->fields[k].shown.csv;
    res_grid_begin(&grid, columns, count);
    for (size_t i = 0; i < workload->removal_count; i++)
        for (size_t k = 0; k < workload->removals[i].candidate_count; k++)
            add_csv_row(&grid, &workload->removals[i], k);
    res_grid_csv(&grid, text);
    res_grid_release(&grid);
    free(columns);
}
