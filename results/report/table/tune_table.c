/* tune_table.c - a search for people and for documents: the rows, what to paste, and the lines below. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/statistics/statistics.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/escape.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/notes.h"
#include "results/report/table/table.h"
#include "results/report/table/tune_report.h"
#include "results/report/table/tune_words.h"

/* ---- rows ----------------------------------------------------------------------------------- */

/* The default first, then by time. */
static int by_time(const void *left, const void *right)
{
    const json_t *a = *(const json_t *const *)left, *b = *(const json_t *const *)right;
    const bool defaults[] = {json_is_true(json_object_get(a, "is_default")),
                             json_is_true(json_object_get(b, "is_default"))};
    const double x = res_cell_number(json_object_get(a, "time"), "ratio");
    const double y = res_cell_number(json_object_get(b, "time"), "ratio");
    return defaults[0] != defaults[1] ? (int)defaults[1] - (int)defaults[0] : (x > y) - (x < y);
}

static bool is_among(const json_t *array, const json_t *row)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (json_array_get(array, i) == row)
            return true;
    }
    return false;
}

struct rows {
    const json_t **items; /* in the order in which they are printed */
    size_t count;
    const json_t *front; /* those that nothing beats */
    bool confirmed;
};

static struct rows rows_of(const json_t *tune)
{
    const json_t *arrays[] = {json_object_get(tune, "front"), json_object_get(tune, "beaten")};
    struct rows rows = {.front = arrays[0], .confirmed = json_is_true(json_object_get(tune, "confirmed"))};
    rows.items = res_calloc(json_array_size(arrays[0]) + json_array_size(arrays[1]), sizeof *rows.items);
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < json_array_size(arrays[i]); k++)
            rows.items[rows.count++] = json_array_get(arrays[i], k);
    }
    qsort(rows.items, rows.count, sizeof *rows.items, by_time);
    return rows;
}

/* ---- the table ------------------------------------------------------------------------------ */

static void add_difference(struct res_grid *grid, const json_t *figure, bool is_default)
{
    const double ratio = res_cell_number(figure, "ratio");
    const char *word = json_string_value(json_object_get(figure, "verdict"));
    if (is_default) {
        res_grid_add(grid, NULL);
        res_grid_add(grid, NULL);
        res_grid_add(grid, "default");
        return;
    }
    res_grid_add(grid, RES_PERCENT(ratio));
    res_grid_add(grid,
                 RES_INTERVAL(res_cell_number(figure, "ratio_low"), res_cell_number(figure, "ratio_high")));
    res_grid_add(grid, res_verdict_from(word) == RES_UNDECIDED ? "?" : res_cell_verdict(figure, "?"));
    res_grid_role(grid, res_cell_role_large(word, ratio));
}

static void grid_begin(struct res_grid *grid, const json_t *tune, struct res_bytes_unit unit)
{
    const char *name = res_cell_string(tune, "default", "?"), *memory = res_cell_string(tune, "memory", "?");
    char *words[] = {res_printf("time against %s", name), res_printf("%s, %s", memory, unit.name),
                     res_printf("resident %s, %s", memory, unit.name),
                     res_printf("resident %s against %s", memory, name)};
    const struct res_column columns[] = {
        {.heading = "  settings", .alone = "settings", .own_line = true},
        {.heading = "change", .group = words[0], .alone = words[0], .right = true, .gap = 2},
        {.heading = "95 % range", .group = words[0], .gap = 1},
        {.heading = "verdict", .group = words[0], .gap = 1},
        {.heading = words[1], .alone = words[2], .right = true, .gap = 2},
        {.heading = "change", .group = words[3], .alone = words[3], .right = true, .gap = 2},
        {.heading = "95 % range", .group = words[3], .gap = 1},
        {.heading = "verdict", .group = words[3], .gap = 1},
    };
    res_grid_begin(grid, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        free(words[i]);
}

static void fill(struct res_grid *grid, const json_t *tune, const struct rows *rows)
{
    double largest = 0;
    for (size_t i = 0; i < rows->count; i++)
        largest = fmax(largest, res_cell_number(json_object_get(rows->items[i], "memory"), "bytes"));
    const struct res_bytes_unit unit = res_bytes_unit_of(largest);
    grid_begin(grid, tune, unit);
    for (size_t i = 0; i < rows->count; i++) {
        const json_t *row = rows->items[i], *memory = json_object_get(row, "memory");
        const bool is_default = json_is_true(json_object_get(row, "is_default"));
        const char mark = !rows->confirmed ? '?' : is_among(rows->front, row) ? '*' : ' ';
        res_grid_own(grid, res_printf("%c %s", mark, res_cell_string(row, "name", "?")));
        add_difference(grid, json_object_get(row, "time"), is_default);
        res_grid_add(grid, RES_IN_UNIT(res_cell_number(memory, "bytes"), unit));
        add_difference(grid, memory, is_default);
    }
}

/* ---- around it ------------------------------------------------------------------------------ */

/* In Markdown no mark counts in a block of code, and what begins a line of it is the name of a variable. */
static void add_paste(struct res_text *text, const json_t *row, bool markdown, bool is_first)
{
    const bool has_library = json_is_string(json_object_get(row, "library"));
    char *paste = res_cell_plain(row, "paste", ""), *name = res_cell_plain(row, "name", "?"),
         *library = res_tune_preload(row);
    char *line = res_printf("%s%s%s", library, has_library && *paste != '\0' ? " " : "", paste);
    if (markdown) {
        res_text_printf(text, "To paste, ");
        res_markdown_add(text, name);
        res_text_printf(text, ":\n\n```sh\n%s\n```\n\n", line);
    } else {
        res_text_printf(text, "%s  %s:\n    %s\n", is_first ? "to paste\n" : "", name, line);
    }
    free(line);
    free(library);
    free(name);
    free(paste);
}

static void add_pastes(struct res_text *text, const struct rows *rows, bool markdown)
{
    bool any = false;
    for (size_t i = 0; i < rows->count && rows->confirmed;
         i++) { /* what did best in noise is nothing to set */
        const json_t *row = rows->items[i];
        if (!is_among(rows->front, row) || !res_tune_is_bounded(row) ||
            (*res_cell_string(row, "paste", "") == '\0' && !json_is_string(json_object_get(row, "library"))))
            continue;
        add_paste(text, row, markdown, !any);
        any = true;
    }
    if (any && !markdown)
        res_text_printf(text, "\n");
}

static void add_failed(struct res_text *text, const json_t *tune)
{
    size_t index, told = 0;
    json_t *point;
    json_array_foreach(json_object_get(tune, "points"), index, point)
    {
        if (!json_is_string(json_object_get(point, "failed")) || told++ >= 3)
            continue;
        char *name = res_cell_plain(point, "name", "?"), *why = res_cell_plain(point, "failed", "?");
        char *words = res_printf("%s: %s", name, why);
        res_lines_add(text, "failed", words);
        free(words);
        free(why);
        free(name);
    }
    if (told > 3) {
        char *words = res_printf("and %zu more; their reasons are in the JSON", told - 3);
        res_lines_add(text, "", words);
        free(words);
    }
}

static void add_words(struct res_text *text, bool markdown, const char *label, char *words)
{
    if (markdown) {
        res_text_printf(text, "- ");
        res_markdown_add(text, label);
        res_text_printf(text, ": ");
        res_markdown_add(text, words);
        res_text_printf(text, "\n");
    } else {
        char *plain = res_text_plain(words);
        res_lines_add(text, label, plain);
        free(plain);
    }
    free(words);
}

static void add_heading(struct res_text *text, const struct res_result_workload *workload, bool markdown)
{
    if (!markdown) {
        res_notes_head(text, workload);
        return;
    }
    res_text_printf(text, "### Settings for ");
    res_markdown_add(text, workload->name);
    res_text_printf(text, "\n\n");
}

/* What was searched for, where nothing was confirmed: the result has no workload then. To be released. */
static struct res_result_workload searched(const json_t *tune)
{
    struct res_result_workload workload;
    char *problem = NULL;
    if (!res_described_read(&RES_RESULT_WORKLOAD_HEAD, json_object_get(tune, "workload"), &workload,
                            &problem))
        res_described_init(&RES_RESULT_WORKLOAD_HEAD, &workload);
    if (workload.name == NULL)
        workload.name = res_strdup("?");
    free(problem);
    return workload;
}

/* style  NULL: in Markdown. */
static char *search_words(const struct res_result *result, const struct res_style *style)
{
    const json_t *tune = json_object_get(result->json, "tune");
    const bool markdown = style == NULL;
    struct res_text text = {0};
    struct res_grid grid;
    if (tune == NULL)
        return NULL;
    struct res_result_workload head = searched(tune);
    const struct res_result_workload *workload = result->workload_count > 0 ? &result->workloads[0] : &head;
    const struct rows rows = rows_of(tune);
    add_heading(&text, workload, markdown);
    fill(&grid, tune, &rows);
    if (markdown)
        res_grid_markdown(&grid, &text);
    else
        res_grid_text(&grid, style, &text);
    res_text_printf(&text, "\n");
    add_pastes(&text, &rows, markdown);
    add_words(&text, markdown, "advice", res_tune_advice(result));
    if (res_notes_live(workload->live) != NULL)
        add_words(&text, markdown, "live", res_strdup(res_notes_live(workload->live)));
    add_words(&text, markdown, rows.confirmed ? "*" : "?", res_tune_marks(tune));
    add_words(&text, markdown, "tried", res_tune_tried(tune));
    add_words(&text, markdown, "basis", res_tune_basis(result));
    if (!markdown) {
        add_failed(&text, tune);
        res_notes_text(&text, result->notes, result->note_count, false, "disturbed");
    }
    res_described_release(&RES_RESULT_WORKLOAD_HEAD, &head);
    res_grid_release(&grid);
    free(rows.items);
    return text.text;
}

char *res_tune_text(const struct res_result *result, const struct res_style *style)
{
    return search_words(result, style);
}

char *res_tune_markdown(const struct res_result *result)
{
    return search_words(result, NULL);
}
