/* confirm_screen.c - a confirmation: what ran, and a row for each candidate. */
#include "results/report/table/table.h"

#include <math.h>
#include <stdlib.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/grid/grid.h"

/* ---- what ran -------------------------------------------------------------------------------- */

/* Of a service what starts it. The caller's to free. */
char *res_confirm_ran(const struct res_confirmation *about)
{
    struct res_text line = {0};
    if (about->start != NULL)
        return res_printf("a service: %s", about->start);
    for (size_t i = 0; i < about->command.count; i++)
        res_shell_word(&line, about->command.items[i]);
    return line.text != NULL ? line.text : res_strdup("a program");
}

const char *res_confirm_counts(const struct res_confirmation *about)
{
    return about->start != NULL ? "time is processor time of all its processes, peak that of all together"
                                : "time is processor time of all its processes, peak that of the largest";
}

static void add_head(struct res_text *text, const struct res_confirmation *about)
{
    char *ran = res_confirm_ran(about), *plain = res_text_plain(ran);
    res_lines_wrap(text, plain, 0);
    res_text_printf(text, "%s\n\n", res_confirm_counts(about));
    free(plain);
    free(ran);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* "-12.3% [-15.0 -9.1]", "not shown [-4.0 +7.1]". */
static void add_change(struct res_grid *grid, const struct res_confirmed_figure *figure,
                       enum res_verdict verdict, const char *const *words)
{
    const struct res_interval interval = figure->interval;
    const bool shown = verdict == RES_LESS || verdict == RES_MORE;
    const char *range = RES_INTERVAL(interval.low, interval.high);
    if (!isfinite(figure->ratio)) {
        res_grid_add(grid, "not measured");
        return;
    }
    res_grid_own(grid, res_printf("%s%s%s",
                                  shown ? RES_PERCENT(figure->ratio)
                                        : res_verdict_shown(verdict, interval.low, interval.high),
                                  *range != '\0' ? " " : "", range));
    if (shown)
        res_grid_role(grid, res_cell_role_large(words[verdict], figure->ratio));
}

static double own_median(const struct res_confirmed_figure *figure)
{
    return figure->own_count > 0 ? res_median(figure->own, figure->own_count) : NAN;
}

/* peak_bytes: of the baseline, of which runs for memory have no control. */
static void add_entry(struct res_grid *grid, const struct res_confirmed *one, double peak_bytes,
                      struct res_bytes_unit unit)
{
    const double own_ns = one->is_control ? one->time.baseline_median : own_median(&one->time);
    const char *instead = one->failed != NULL ? "failed" : one->is_control ? "baseline" : NULL;
    res_grid_add(grid, one->candidate);
    res_grid_add(grid, isfinite(own_ns) ? RES_DURATION(own_ns) : "-");
    if (instead != NULL)
        res_grid_add(grid, instead);
    else
        add_change(grid, &one->time, one->time_verdict, RES_TIME_VERDICTS);
    res_grid_add(grid, FP_GROUPED(one->runs));
    res_grid_add(grid, RES_IN_UNIT(one->is_control ? peak_bytes : one->peak_bytes, unit));
    if (instead != NULL)
        res_grid_add(grid, "");
    else
        add_change(grid, &one->peak, one->peak_verdict, RES_MEMORY_VERDICTS);
}

/* The baseline, which the control is, stands first. */
void res_confirm_grid(struct res_grid *grid, const struct res_result *result)
{
    const double baseline = res_confirmed_baseline_bytes(result->confirmed, result->confirmed_count);
    double largest = 0;
    for (size_t i = 0; i < result->confirmed_count; i++)
        largest = fmax(largest,
                       fmax(result->confirmed[i].peak_bytes, result->confirmed[i].peak.baseline_median));
    const struct res_bytes_unit unit = res_bytes_unit_of(largest);
    char *peak = res_printf("peak, %s", unit.name), *against = res_printf("against %s", result->baseline);
    const struct res_column columns[] = {
        {.heading = ""},
        {.heading = "time", .right = true, .gap = 2},
        {.heading = against, .gap = 2},
        {.heading = "pairs", .right = true, .gap = 2},
        {.heading = peak, .right = true, .gap = 2},
        {.heading = against, .gap = 2},
    };
    res_grid_begin(grid, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < result->confirmed_count; i++)
        if (result->confirmed[i].is_control)
            add_entry(grid, &result->confirmed[i], baseline, unit);
    for (size_t i = 0; i < result->confirmed_count; i++)
        if (!result->confirmed[i].is_control)
            add_entry(grid, &result->confirmed[i], baseline, unit);
    free(peak);
    free(against);
}

void res_confirm_screen(struct res_text *text, const struct res_result *result, const struct res_style *style)
{
    struct res_grid grid;
    add_head(text, result->confirmation);
    res_confirm_grid(&grid, result);
    res_grid_screen(&grid, style, text);
}

void res_confirm_markdown(struct res_text *text, const struct res_result *result)
{
    struct res_grid grid;
    char *ran = res_confirm_ran(result->confirmation);
    res_text_printf(text, "### ");
    res_markdown_add(text, ran);
    res_text_printf(text, "\n\n");
    res_confirm_grid(&grid, result);
    res_grid_markdown(&grid, text);
    res_grid_release(&grid);
    free(ran);
}
