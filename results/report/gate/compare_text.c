/* compare_text.c - a comparison (compare_results.h) as text, Markdown and CSV, made from its JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/base/support.h"
#include "results/report/gate/compare_results.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/csv.h"
#include "results/report/grid/escape.h"

enum {
    CELL_CANDIDATE,
    CELL_METRIC,
    CELL_OLD,
    CELL_NEW,
    CELL_MACHINE,
    CELL_CHANGE,
    CELL_NOISE,
    CELL_VERDICT,
    CELL_COUNT
};

static const char *const HEADS[CELL_COUNT] = {"candidate", "metric",        "then",  "now",
                                              "machine",   "change (95 %)", "noise", "verdict"};

struct row {
    char *cells[CELL_COUNT];
};

struct rows {
    struct row *items;
    size_t count;
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
    char *percent = res_cell_percent(res_cell_number(metric, "ratio"));
    char *interval = res_cell_interval(res_cell_number(metric, "ratio_low"),
                                       res_cell_number(metric, "ratio_high"));
    if (*interval == '\0' && isfinite(res_cell_number(metric, "ratio"))) {
        free(interval);
        interval = res_strdup("?");
    }
    char *change = res_printf("%s%s%s", percent, *interval != '\0' ? " " : "", interval);
    free(percent);
    free(interval);
    return change;
}

static struct row row_of(const json_t *candidate, const json_t *metric)
{
    enum res_metric kind = RES_METRIC_TIME;
    const char *name = json_string_value(json_object_get(metric, "metric"));
    (void)res_metric_from(name, strlen(name), &kind); /* its own names: always known */
    const bool is_yardstick = json_is_true(json_object_get(metric, "is_yardstick"));
    const double machine = res_cell_number(metric, is_yardstick ? "plain_ratio" : "bridge_ratio");
    struct row row = {{
        string_of(candidate, "name"),
        res_printf("%s%s", name, is_steady(metric) ? ", steady" : ""),
        res_metric_text(kind, res_cell_number(metric, "old")),
        res_metric_text(kind, res_cell_number(metric, "new")),
        isfinite(machine) ? res_cell_percent(machine) : res_strdup("-"),
        is_yardstick ? res_strdup("-") : change_of(metric),
        res_cell_interval(res_cell_number(metric, "noise_low"), res_cell_number(metric, "noise_high")),
        is_yardstick ? res_strdup("yardstick") : string_of(metric, "verdict"),
    }};
    return row;
}

static struct rows rows_of(const json_t *workload)
{
    struct rows rows = {0};
    size_t index, place;
    json_t *candidate, *metric;
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        json_array_foreach(json_object_get(candidate, "metrics"), place, metric)
        {
            rows.items = res_realloc(rows.items, rows.count + 1, sizeof *rows.items);
            rows.items[rows.count++] = row_of(candidate, metric);
        }
    }
    return rows;
}

static void rows_release(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        for (size_t k = 0; k < CELL_COUNT; k++)
            free(rows->items[i].cells[k]);
    free(rows->items);
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

/* ---- text ----------------------------------------------------------------------------------- */

static void add_cells(struct res_text *text, char *const *cells, const size_t *widths)
{
    for (size_t k = 0; k < CELL_COUNT; k++) {
        const bool right = k == CELL_OLD || k == CELL_NEW || k == CELL_MACHINE;
        const bool last = k + 1 == CELL_COUNT;
        const size_t blanks = widths[k] - res_text_columns(cells[k]);
        res_text_printf(text, "  ");
        for (size_t i = 0; i < blanks && right; i++)
            res_text_add(text, " ", 1);
        res_text_printf(text, "%s", cells[k]);
        for (size_t i = 0; i < blanks && !right && !last; i++)
            res_text_add(text, " ", 1);
    }
    res_text_printf(text, "\n");
}

static void add_table(struct res_text *text, const struct rows *rows)
{
    size_t widths[CELL_COUNT];
    char *heads[CELL_COUNT];
    for (size_t k = 0; k < CELL_COUNT; k++) {
        heads[k] = res_strdup(HEADS[k]);
        widths[k] = res_text_columns(heads[k]);
        for (size_t i = 0; i < rows->count; i++) {
            const size_t columns = res_text_columns(rows->items[i].cells[k]);
            widths[k] = columns > widths[k] ? columns : widths[k];
        }
    }
    add_cells(text, heads, widths);
    for (size_t i = 0; i < rows->count; i++)
        add_cells(text, rows->items[i].cells, widths);
    for (size_t k = 0; k < CELL_COUNT; k++)
        free(heads[k]);
}

char *res_compare_text(const json_t *comparison)
{
    struct res_text text = {0};
    size_t index;
    json_t *workload;
    json_array_foreach(json_object_get(comparison, "workloads"), index, workload)
    {
        char *name = string_of(workload, "name");
        struct rows rows = rows_of(workload);
        res_text_printf(&text, "%s\n", name);
        add_table(&text, &rows);
        add_workload_notes(&text, false, workload);
        res_text_printf(&text, "\n");
        rows_release(&rows);
        free(name);
    }
    add_notes(&text, false, comparison);
    return text.text;
}

/* ---- Markdown and CSV ----------------------------------------------------------------------- */

static void md_cell(struct res_text *text, const char *cell)
{
    res_text_printf(text, "| ");
    res_markdown_add(text, cell);
    res_text_add(text, " ", 1);
}

char *res_compare_markdown(const json_t *comparison)
{
    struct res_text text = {0};
    size_t index;
    json_t *workload;
    json_array_foreach(json_object_get(comparison, "workloads"), index, workload)
    {
        char *name = string_of(workload, "name");
        struct rows rows = rows_of(workload);
        res_text_printf(&text, "### ");
        res_markdown_add(&text, name);
        res_text_printf(&text, "\n\n");
        for (size_t k = 0; k < CELL_COUNT; k++)
            md_cell(&text, HEADS[k]);
        res_text_printf(&text, "|\n| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |\n");
        for (size_t i = 0; i < rows.count; i++) {
            for (size_t k = 0; k < CELL_COUNT; k++)
                md_cell(&text, rows.items[i].cells[k]);
            res_text_printf(&text, "|\n");
        }
        res_text_printf(&text, "\n");
        add_workload_notes(&text, true, workload);
        rows_release(&rows);
        free(name);
    }
    add_notes(&text, true, comparison);
    return text.text;
}

static void csv_cell(struct res_text *text, const json_t *object, const char *key, bool first)
{
    res_text_printf(text, "%s", first ? "" : ",");
    res_csv_value(text, json_object_get(object, key));
}

char *res_compare_csv(const json_t *comparison)
{
    static const char *const keys[] = {"metric",     "unit",        "old",        "new",
                                       "ratio",      "ratio_low",   "ratio_high", "noise_low",
                                       "noise_high", "rounds_old",  "rounds_new", "verdict",
                                       "figure",     "plain_ratio", "bridge",     "bridge_ratio"};
    struct res_text text = {0};
    size_t index, place, which;
    json_t *workload, *candidate, *metric;
    res_text_printf(&text, "workload,candidate,version_old,version_new");
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        res_text_printf(&text, ",%s", keys[k]);
    res_text_printf(&text, "\n");
    json_array_foreach(json_object_get(comparison, "workloads"), index, workload)
    {
        json_array_foreach(json_object_get(workload, "candidates"), place, candidate)
        {
            json_array_foreach(json_object_get(candidate, "metrics"), which, metric)
            {
                csv_cell(&text, workload, "name", true);
                csv_cell(&text, candidate, "name", false);
                csv_cell(&text, candidate, "version_old", false);
                csv_cell(&text, candidate, "version_new", false);
                for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
                    csv_cell(&text, metric, keys[k], false);
                res_text_printf(&text, "\n");
            }
        }
    }
    return text.text;
}
