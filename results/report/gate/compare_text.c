/* compare_text.c - a comparison (compare_results.h) as text, Markdown and CSV. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/report/gate/compare_results.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"

static const struct res_column COLUMNS[] = {
    {.heading = "candidate", .own_line = true, .gap = 2}, {.heading = "metric", .gap = 2},
    {.heading = "then", .right = true, .gap = 2},         {.heading = "now", .right = true, .gap = 2},
    {.heading = "machine", .right = true, .gap = 2},      {.heading = "change (95 %)", .gap = 2},
    {.heading = "resolves", .right = true, .gap = 2},     {.heading = "verdict", .gap = 2},
};

static char *change_of(const struct res_compared_metric *metric)
{
    const char *interval = RES_INTERVAL(metric->interval.low, metric->interval.high);
    if (*interval == '\0' && isfinite(metric->ratio))
        interval = "?";
    return res_printf("%s%s%s", RES_PERCENT(metric->ratio), *interval != '\0' ? " " : "", interval);
}

static void add_row(struct res_grid *grid, const char *candidate, const struct res_compared_metric *metric)
{
    const bool is_yardstick = metric->is_yardstick;
    res_grid_add(grid, candidate);
    res_grid_add(grid, metric->metric);
    res_grid_add(grid, RES_METRIC(metric->which, metric->old));
    res_grid_add(grid, RES_METRIC(metric->which, metric->new));
    res_grid_add(grid, RES_PERCENT(is_yardstick ? metric->plain_ratio : metric->bridge_ratio));
    res_grid_own(grid, is_yardstick ? res_strdup("-") : change_of(metric));
    res_grid_own(grid,
                 isnan(metric->resolves) ? res_strdup("-") : res_printf("%.1f%%", 100 * metric->resolves));
    res_grid_add(grid, is_yardstick ? "yardstick" : metric->verdict);
}

static void add_rows(struct res_grid *grid, const struct res_compared_workload *workload)
{
    for (size_t i = 0; i < workload->candidate_count; i++) {
        const struct res_compared_candidate *candidate = &workload->candidates[i];
        for (size_t k = 0; k < candidate->metric_count; k++)
            add_row(grid, candidate->name, &candidate->metrics[k]);
    }
}

/* ---- what is told beside the figures -------------------------------------------------------- */

/* A line of a note; Markdown makes a list of them. */
static void add_note(struct res_text *text, bool markdown, char *words)
{
    if (!markdown) {
        res_text_printf(text, "%s\n", words);
    } else {
        res_text_printf(text, "- ");
        res_markdown_add(text, words);
        res_text_printf(text, "\n");
    }
    free(words);
}

static void add_names(struct res_text *text, bool markdown, const char *what, const struct res_texts *names)
{
    for (size_t i = 0; i < names->count; i++)
        add_note(text, markdown, res_printf("%s: %s", what, names->items[i]));
}

static void add_candidate_notes(struct res_text *text, bool markdown,
                                const struct res_compared_candidate *candidate)
{
    const char *name = candidate->name;
    if (candidate->settings_differ)
        add_note(text, markdown, res_printf("%s: its settings (environment) differ", name));
    if (candidate->failed_old != NULL)
        add_note(text, markdown, res_printf("%s: failed then: %s", name, candidate->failed_old));
    if (candidate->failed_new != NULL)
        add_note(text, markdown, res_printf("%s: failed now: %s", name, candidate->failed_new));
}

static void add_workload_notes(struct res_text *text, bool markdown,
                               const struct res_compared_workload *workload)
{
    if (!workload->same_workload)
        add_note(text, markdown, res_strdup("these are DIFFERENT workloads: the change is also theirs"));
    for (size_t i = 0; i < workload->candidate_count; i++)
        add_candidate_notes(text, markdown, &workload->candidates[i]);
    add_names(text, markdown, "only then", &workload->only_old);
    add_names(text, markdown, "only now", &workload->only_new);
}

static bool any_bridge(const struct res_compare *comparison, enum res_bridge bridge)
{
    for (size_t i = 0; i < comparison->workload_count; i++) {
        const struct res_compared_workload *workload = &comparison->workloads[i];
        for (size_t k = 0; k < workload->candidate_count; k++) {
            const struct res_compared_candidate *candidate = &workload->candidates[k];
            for (size_t m = 0; m < candidate->metric_count; m++)
                if (candidate->metrics[m].bridge == (int)bridge)
                    return true;
        }
    }
    return false;
}

/* What was taken out of the change of times, and what could have been seen. */
static void add_bridge_note(struct res_text *text, bool markdown, const struct res_compare *comparison)
{
    if (any_bridge(comparison, RES_BRIDGE_BASELINE))
        add_note(
            text, markdown,
            res_printf(
                "Times: %s is the same in both, so what it moved by is the machine's (yardstick), and is "
                "taken out of the others' change.",
                comparison->baseline));
    else if (any_bridge(comparison, RES_BRIDGE_HARNESS))
        add_note(text, markdown,
                 res_strdup(
                     "Times: what the harness moved by is the machine's, and is taken out of the change; no "
                     "other allocator is the same in both."));
    add_note(
        text, markdown,
        res_strdup("Resolves: the least change that would have been shown, by the interval's width, the A/A "
                   "controls and what the machine moved by unevenly."));
}

/* A value of a difference is JSON: an older mallab wrote none. */
static const char *recorded(const char *value)
{
    return strcmp(value, "null") != 0 ? value : "not recorded";
}

static void add_notes(struct res_text *text, bool markdown, const struct res_compare *comparison)
{
    for (size_t i = 0; i < comparison->difference_count; i++) {
        const struct res_compared_difference *one = &comparison->differences[i];
        add_note(text, markdown,
                 res_printf("%s differs: %s was %s, is %s", one->what, one->key, recorded(one->old),
                            recorded(one->new)));
    }
    add_names(text, markdown, "workload only then", &comparison->workloads_only_old);
    add_names(text, markdown, "workload only now", &comparison->workloads_only_new);
    add_bridge_note(text, markdown, comparison);
}

/* ---- the three forms ------------------------------------------------------------------------ */

static char *words_of(const struct res_compare *comparison, bool markdown)
{
    const struct res_style style = {0};
    struct res_text text = {0};
    struct res_grid grid;
    res_grid_begin(&grid, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    for (size_t i = 0; i < comparison->changed_libraries.count; i++)
        add_note(&text, markdown, res_strdup(comparison->changed_libraries.items[i]));
    if (comparison->changed_libraries.count > 0)
        res_text_printf(&text, "\n");
    for (size_t i = 0; i < comparison->workload_count; i++) {
        const struct res_compared_workload *workload = &comparison->workloads[i];
        add_rows(&grid, workload);
        if (markdown) {
            res_text_printf(&text, "### ");
            res_markdown_add(&text, workload->name);
            res_text_printf(&text, "\n\n");
            res_grid_markdown(&grid, &text);
            res_text_printf(&text, "\n");
        } else {
            res_text_printf(&text, "%s\n", workload->name);
            res_grid_text(&grid, &style, &text);
        }
        add_workload_notes(&text, markdown, workload);
        if (!markdown)
            res_text_printf(&text, "\n");
    }
    add_notes(&text, markdown, comparison);
    res_grid_release(&grid);
    return text.text;
}

char *res_compare_text(const struct res_compare *comparison)
{
    return words_of(comparison, false);
}

char *res_compare_markdown(const struct res_compare *comparison)
{
    return words_of(comparison, true);
}

/* Behind these four the headings are keys of the metric. */
#define CSV_OWN 4

static const struct res_column CSV[] = {
    {.heading = "workload"},    {.heading = "candidate"},    {.heading = "version_old"},
    {.heading = "version_new"}, {.heading = "metric"},       {.heading = "unit"},
    {.heading = "old"},         {.heading = "new"},          {.heading = "ratio"},
    {.heading = "ratio_low"},   {.heading = "ratio_high"},   {.heading = "noise_low"},
    {.heading = "noise_high"},  {.heading = "rounds_old"},   {.heading = "rounds_new"},
    {.heading = "verdict"},     {.heading = "figure"},       {.heading = "plain_ratio"},
    {.heading = "bridge"},      {.heading = "bridge_ratio"}, {.heading = "resolves"},
};

char *res_compare_csv(const struct res_compare *comparison)
{
    const size_t count = sizeof CSV / sizeof CSV[0];
    struct res_text text = {0};
    struct res_grid grid;
    res_grid_begin(&grid, CSV, count);
    for (size_t i = 0; i < comparison->workload_count; i++) {
        const struct res_compared_workload *workload = &comparison->workloads[i];
        for (size_t k = 0; k < workload->candidate_count; k++) {
            const struct res_compared_candidate *candidate = &workload->candidates[k];
            for (size_t m = 0; m < candidate->metric_count; m++) {
                res_grid_add(&grid, workload->name);
                res_grid_add(&grid, candidate->name);
                res_grid_add(&grid, candidate->version_old);
                res_grid_add(&grid, candidate->version_new);
                for (size_t column = CSV_OWN; column < count; column++)
                    res_grid_field(&grid, &RES_COMPARE_METRIC, &candidate->metrics[m], CSV[column].heading);
            }
        }
    }
    res_grid_csv(&grid, &text);
    res_grid_release(&grid);
    return text.text;
}
