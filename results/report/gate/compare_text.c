/* compare_text.c - a comparison (compare_results.h) as a document. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/report/gate/compare_results.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/document.h"

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

static void add_candidate_notes(struct res_document *document, const struct res_compared_candidate *candidate)
{
    if (candidate->settings_differ)
        res_document_line(document, "%s: its settings (environment) differ", candidate->name);
    if (candidate->failed_old != NULL)
        res_document_line(document, "%s: failed then: %s", candidate->name, candidate->failed_old);
    if (candidate->failed_new != NULL)
        res_document_line(document, "%s: failed now: %s", candidate->name, candidate->failed_new);
}

/* ret_bridges: whether times have one of that kind. */
static void add_workload(struct res_document *document, const struct res_compared_workload *workload,
                         bool ret_bridges[3])
{
    struct res_grid grid;
    res_grid_begin(&grid, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    for (size_t i = 0; i < workload->candidate_count; i++) {
        const struct res_compared_candidate *candidate = &workload->candidates[i];
        for (size_t k = 0; k < candidate->metric_count; k++) {
            add_row(&grid, candidate->name, &candidate->metrics[k]);
            ret_bridges[candidate->metrics[k].bridge] = true;
        }
    }
    res_document_heading(document, 3, "%s", workload->name);
    res_document_table(document, &grid);
    res_grid_release(&grid);
    if (!workload->same_workload)
        res_document_line(document, "these are DIFFERENT workloads: the change is also theirs");
    for (size_t i = 0; i < workload->candidate_count; i++)
        add_candidate_notes(document, &workload->candidates[i]);
    res_document_names(document, "only then", &workload->only_old, 0);
    res_document_names(document, "only now", &workload->only_new, 0);
    res_document_gap(document);
}

/* A value of a difference is JSON: an older mallab wrote none. */
static const char *recorded(const char *value)
{
    return strcmp(value, "null") != 0 ? value : "not recorded";
}

/* What was taken out of the change of times, and what could have been seen. */
static void add_bridge_note(struct res_document *document, const struct res_compare *comparison,
                            const bool bridges[3])
{
    if (bridges[RES_BRIDGE_BASELINE])
        res_document_line(document,
                          "Times: %s is the same in both, so what it moved by is the machine's (yardstick), and is "
                          "taken out of the others' change.",
                          comparison->baseline);
    else if (bridges[RES_BRIDGE_HARNESS])
        res_document_line(document,
                          "Times: what the harness moved by is the machine's, and is taken out of the change; no "
                          "other allocator is the same in both.");
    res_document_line(document,
                      "Resolves: the least change that would have been shown, by the interval's width, the A/A "
                      "controls and what the machine moved by unevenly.");
}

char *res_compare_document(const struct res_compare *comparison, const struct res_style *style)
{
    struct res_document document = {.style = style};
    bool bridges[3] = {false};
    for (size_t i = 0; i < comparison->changed_libraries.count; i++)
        res_document_line(&document, "%s", comparison->changed_libraries.items[i]);
    if (comparison->changed_libraries.count > 0)
        res_document_gap(&document);
    for (size_t i = 0; i < comparison->workload_count; i++)
        add_workload(&document, &comparison->workloads[i], bridges);
    for (size_t i = 0; i < comparison->difference_count; i++) {
        const struct res_compared_difference *one = &comparison->differences[i];
        res_document_line(&document, "%s differs: %s was %s, is %s", one->what, one->key, recorded(one->old),
                          recorded(one->new));
    }
    res_document_names(&document, "workload only then", &comparison->workloads_only_old, 0);
    res_document_names(&document, "workload only now", &comparison->workloads_only_new, 0);
    add_bridge_note(&document, comparison, bridges);
    return document.text.text;
}
