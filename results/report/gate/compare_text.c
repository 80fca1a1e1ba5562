/* compare_text.c - a comparison (compare_results.h) as text, Markdown and CSV, made from its JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/base/support.h"
#include "results/report/gate/compare_results.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/escape.h"

static const struct res_column COLUMNS[] = {
    {.heading = "candidate", .own_line = true, .gap = 2},
    {.heading = "metric", .gap = 2},
    {.heading = "then", .right = true, .gap = 2},
    {.heading = "now", .right = true, .gap = 2},
    {.heading = "machine", .right = true, .gap = 2},
    {.heading = "change (95 %)", .gap = 2},
    {.heading = "noise", .gap = 2},
    {.heading = "verdict", .gap = 2},
};

static char *string_of(const json_t *object, const char *key)
{
    return res_cell_plain(object, key, "-");
}

static bool is_steady(const json_t *metric)
{
    const char *figure = json_string_value(json_object_get(metric, "figure"));
    return figure != NULL && strcmp(figure, "steady") == 0;
}

static char *change_of(const json_t *metric)
{
    const double ratio = res_cell_number(metric, "ratio");
    const char *interval = RES_INTERVAL(res_cell_number(metric, "ratio_low"),
                                        res_cell_number(metric, "ratio_high"));
    if (*interval == '\0' && isfinite(ratio))
        interval = "?";
    return res_printf("%s%s%s", RES_PERCENT(ratio), *interval != '\0' ? " " : "", interval);
}

static void add_row(struct res_grid *grid, const json_t *candidate, const json_t *metric)
{
    enum res_metric kind = RES_METRIC_TIME;
    const char *name = json_string_value(json_object_get(metric, "metric"));
    (void)res_metric_from(name, strlen(name), &kind); /* its own names: always known */
    const bool is_yardstick = json_is_true(json_object_get(metric, "is_yardstick"));
    const double machine = res_cell_number(metric, is_yardstick ? "plain_ratio" : "bridge_ratio");
    res_grid_add(grid, res_cell_string(candidate, "name", "-"));
    res_grid_own(grid, res_printf("%s%s", name, is_steady(metric) ? ", steady" : ""));
    res_grid_add(grid, RES_METRIC(kind, res_cell_number(metric, "old")));
    res_grid_add(grid, RES_METRIC(kind, res_cell_number(metric, "new")));
    res_grid_add(grid, RES_PERCENT(machine));
    res_grid_own(grid, is_yardstick ? res_strdup("-") : change_of(metric));
    res_grid_add(grid,
                 RES_INTERVAL(res_cell_number(metric, "noise_low"), res_cell_number(metric, "noise_high")));
    res_grid_add(grid, is_yardstick ? "yardstick" : res_cell_string(metric, "verdict", "-"));
}

static void add_rows(struct res_grid *grid, const json_t *workload)
{
    size_t index, place;
    json_t *candidate, *metric;
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        json_array_foreach(json_object_get(candidate, "metrics"), place, metric)
        {
            add_row(grid, candidate, metric);
        }
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

static void add_names(struct res_text *text, bool markdown, const char *what, const json_t *names)
{
    size_t index;
    json_t *name;
    json_array_foreach(names, index, name)
    {
        add_note(text, markdown, res_printf("%s: %s", what, json_string_value(name)));
    }
}

static void add_candidate_notes(struct res_text *text, bool markdown, const json_t *candidate)
{
    char *name = string_of(candidate, "name");
    char *versions[] = {string_of(candidate, "version_old"), string_of(candidate, "version_new")};
    if (strcmp(versions[0], versions[1]) != 0)
        add_note(text, markdown, res_printf("%s: version %s then, %s now", name, versions[0], versions[1]));
    if (json_is_true(json_object_get(candidate, "settings_differ")))
        add_note(text, markdown, res_printf("%s: its settings (environment) differ", name));
    for (int now = 0; now < 2; now++) {
        const char *key = now ? "failed_new" : "failed_old";
        char *why = string_of(candidate, key);
        if (json_is_string(json_object_get(candidate, key)))
            add_note(text, markdown, res_printf("%s: failed %s: %s", name, now ? "now" : "then", why));
        free(why);
    }
    free(name);
    free(versions[0]);
    free(versions[1]);
}

static void add_workload_notes(struct res_text *text, bool markdown, const json_t *workload)
{
    size_t index;
    json_t *candidate;
    if (!json_is_true(json_object_get(workload, "same_workload")))
        add_note(text, markdown, res_strdup("these are DIFFERENT workloads: the change is also theirs"));
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        add_candidate_notes(text, markdown, candidate);
    }
    add_names(text, markdown, "only then", json_object_get(workload, "only_old"));
    add_names(text, markdown, "only now", json_object_get(workload, "only_new"));
}

static bool any_bridge(const json_t *comparison, const char *name)
{
    size_t index, place, which;
    json_t *workload, *candidate, *metric;
    json_array_foreach(json_object_get(comparison, "workloads"), index, workload)
    {
        json_array_foreach(json_object_get(workload, "candidates"), place, candidate)
        {
            json_array_foreach(json_object_get(candidate, "metrics"), which, metric)
            {
                const char *bridge = json_string_value(json_object_get(metric, "bridge"));
                if (bridge != NULL && strcmp(bridge, name) == 0)
                    return true;
            }
        }
    }
    return false;
}

/* What was taken out of the change of times, and what noise is. */
static void add_bridge_note(struct res_text *text, bool markdown, const json_t *comparison)
{
    char *baseline = string_of(comparison, "baseline");
    if (any_bridge(comparison, "baseline"))
        add_note(
            text, markdown,
            res_printf(
                "Times: %s is the same in both, so what it moved by is the machine's (yardstick), and is "
                "taken out of the others' change.",
                baseline));
    else if (any_bridge(comparison, "harness"))
        add_note(text, markdown,
                 res_strdup(
                     "Times: what the harness moved by is the machine's, and is taken out of the change; no "
                     "other allocator is the same in both."));
    add_note(
        text, markdown,
        res_strdup(
            "Noise is what the A/A controls of both differ by, and what the machine moved by that is not "
            "sure to be alike for all."));
    free(baseline);
}

static void add_notes(struct res_text *text, bool markdown, const json_t *comparison)
{
    size_t index;
    json_t *difference;
    json_array_foreach(json_object_get(comparison, "differences"), index, difference)
    {
        char *words[] = {string_of(difference, "what"), string_of(difference, "key"),
                         string_of(difference, "old"), string_of(difference, "new")};
        add_note(text, markdown,
                 res_printf("%s differs: %s was %s, is %s", words[0], words[1], words[2], words[3]));
        for (size_t i = 0; i < 4; i++)
            free(words[i]);
    }
    add_names(text, markdown, "workload only then", json_object_get(comparison, "workloads_only_old"));
    add_names(text, markdown, "workload only now", json_object_get(comparison, "workloads_only_new"));
    add_bridge_note(text, markdown, comparison);
}

/* ---- the three forms ------------------------------------------------------------------------ */

static char *words_of(const json_t *comparison, bool markdown)
{
    const struct res_style style = {0};
    struct res_text text = {0};
    struct res_grid grid;
    size_t index;
    json_t *workload;
    res_grid_begin(&grid, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    json_array_foreach(json_object_get(comparison, "workloads"), index, workload)
    {
        char *name = string_of(workload, "name");
        add_rows(&grid, workload);
        if (markdown) {
            res_text_printf(&text, "### ");
            res_markdown_add(&text, name);
            res_text_printf(&text, "\n\n");
            res_grid_markdown(&grid, &text);
            res_text_printf(&text, "\n");
        } else {
            res_text_printf(&text, "%s\n", name);
            res_grid_text(&grid, &style, &text);
        }
        add_workload_notes(&text, markdown, workload);
        if (!markdown)
            res_text_printf(&text, "\n");
        free(name);
    }
    add_notes(&text, markdown, comparison);
    res_grid_release(&grid);
    return text.text;
}

char *res_compare_text(const json_t *comparison)
{
    return words_of(comparison, false);
}

char *res_compare_markdown(const json_t *comparison)
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
    {.heading = "bridge"},      {.heading = "bridge_ratio"},
};

char *res_compare_csv(const json_t *comparison)
{
    const size_t count = sizeof CSV / sizeof CSV[0];
    struct res_text text = {0};
    struct res_grid grid;
    size_t index, place, which;
    json_t *workload, *candidate, *metric;
    res_grid_begin(&grid, CSV, count);
    json_array_foreach(json_object_get(comparison, "workloads"), index, workload)
    {
        json_array_foreach(json_object_get(workload, "candidates"), place, candidate)
        {
            json_array_foreach(json_object_get(candidate, "metrics"), which, metric)
            {
                res_cell_value(&grid, json_object_get(workload, "name"));
                res_cell_value(&grid, json_object_get(candidate, "name"));
                res_cell_value(&grid, json_object_get(candidate, "version_old"));
                res_cell_value(&grid, json_object_get(candidate, "version_new"));
                for (size_t k = CSV_OWN; k < count; k++)
                    res_cell_value(&grid, json_object_get(metric, CSV[k].heading));
            }
        }
    }
    res_grid_csv(&grid, &text);
    res_grid_release(&grid);
    return text.text;
}
