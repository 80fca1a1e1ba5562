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

struct row {
    const struct res_tuned_row *row;
    bool is_front;
};

struct rows {
    struct row *items; /* in the order in which they are printed */
    size_t count;
};

/* The default first, then by time. */
static int by_time(const void *left, const void *right)
{
    const struct res_tuned_row *a = ((const struct row *)left)->row, *b = ((const struct row *)right)->row;
    const double x = a->time.difference.ratio, y = b->time.difference.ratio;
    return a->is_default != b->is_default ? (int)b->is_default - (int)a->is_default : (x > y) - (x < y);
}

static struct rows rows_of(const struct res_tuned *tune)
{
    struct rows rows = {.items = res_calloc(tune->front_count + tune->beaten_count + 1, sizeof *rows.items)};
    for (size_t i = 0; i < tune->front_count; i++)
        rows.items[rows.count++] = (struct row){&tune->front[i], true};
    for (size_t i = 0; i < tune->beaten_count; i++)
        rows.items[rows.count++] = (struct row){&tune->beaten[i], false};
    qsort(rows.items, rows.count, sizeof *rows.items, by_time);
    return rows;
}

/* ---- the table ------------------------------------------------------------------------------ */

static void add_difference(struct res_grid *grid, const struct res_difference *figure, bool is_default,
                           bool memory)
{
    const char *word = memory ? res_verdict_memory_name(figure->verdict) : res_verdict_name(figure->verdict);
    if (is_default) {
        res_grid_add(grid, NULL);
        res_grid_add(grid, NULL);
        res_grid_add(grid, "default");
        return;
    }
    res_grid_add(grid, RES_PERCENT(figure->ratio));
    res_grid_add(grid, RES_INTERVAL(figure->interval.low, figure->interval.high));
    res_grid_add(grid,
                 figure->verdict == RES_UNDECIDED ? "?"
                 : figure->verdict == RES_SAME
                     ? res_verdict_shown(RES_SAME, figure->ratio, figure->interval.low, figure->interval.high)
                     : word);
    res_grid_role(grid, res_cell_role_large(word, figure->ratio));
}

static void grid_begin(struct res_grid *grid, const struct res_tuned *tune, struct res_bytes_unit unit)
{
    const char *name = tune->standard, *memory = res_tuned_memory(tune);
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

static void fill(struct res_grid *grid, const struct res_tuned *tune, const struct rows *rows)
{
    double largest = 0;
    for (size_t i = 0; i < rows->count; i++)
        largest = fmax(largest, rows->items[i].row->memory.value);
    const struct res_bytes_unit unit = res_bytes_unit_of(largest);
    grid_begin(grid, tune, unit);
    for (size_t i = 0; i < rows->count; i++) {
        const struct res_tuned_row *row = rows->items[i].row;
        const char mark = !tune->confirmed ? '?' : rows->items[i].is_front ? '*' : ' ';
        res_grid_own(grid, res_printf("%c %s", mark, row->name));
        add_difference(grid, &row->time.difference, row->is_default, false);
        res_grid_add(grid, RES_IN_UNIT(row->memory.value, unit));
        add_difference(grid, &row->memory.difference, row->is_default, true);
    }
}

/* ---- around it ------------------------------------------------------------------------------ */

/* In Markdown no mark counts in a block of code, and what begins a line of it is the name of a variable. */
static void add_paste(struct res_text *text, const struct res_tuned_row *row, bool markdown, bool is_first)
{
    char *library = res_tune_preload(row);
    char *line = res_printf("%s%s%s", library, *library != '\0' && *row->paste != '\0' ? " " : "",
                            row->paste);
    if (markdown) {
        res_text_printf(text, "To paste, ");
        res_markdown_add(text, row->name);
        res_text_printf(text, ":\n\n```sh\n%s\n```\n\n", line);
    } else {
        res_text_printf(text, "%s  %s:\n    %s\n", is_first ? "to paste\n" : "", row->name, line);
    }
    free(line);
    free(library);
}

/* Of what was not confirmed nothing: what did best in noise is nothing to set. */
static void add_pastes(struct res_text *text, const struct res_tuned *tune, const struct rows *rows,
                       bool markdown)
{
    bool any = false;
    for (size_t i = 0; i < rows->count && tune->confirmed; i++) {
        const struct res_tuned_row *row = rows->items[i].row;
        if (!rows->items[i].is_front || !res_tune_is_bounded(row) ||
            (*row->paste == '\0' && row->library == NULL))
            continue;
        add_paste(text, row, markdown, !any);
        any = true;
    }
    if (any && !markdown)
        res_text_printf(text, "\n");
}

static void add_failed(struct res_text *text, const struct res_tuned *tune)
{
    size_t told = 0;
    for (size_t i = 0; i < tune->point_count; i++) {
        const struct res_tuned_point *point = &tune->points[i];
        if (point->failed == NULL || told++ >= 3)
            continue;
        char *words = res_printf("%s: %s", point->name != NULL ? point->name : "?", point->failed);
        res_lines_add(text, "failed", words);
        free(words);
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

/* style  NULL: in Markdown. */
static char *search_words(const struct res_result *result, const struct res_style *style)
{
    const struct res_tuned *tune = result->tune;
    const bool markdown = style == NULL;
    struct res_text text = {0};
    struct res_grid grid;
    if (tune == NULL)
        return NULL;
    /* Where nothing was confirmed the result has no workload. */
    const struct res_result_workload *workload = result->workload_count > 0 ? &result->workloads[0]
                                                                            : &tune->workload;
    const struct rows rows = rows_of(tune);
    add_heading(&text, workload, markdown);
    fill(&grid, tune, &rows);
    if (markdown)
        res_grid_markdown(&grid, &text);
    else
        res_grid_text(&grid, style, &text);
    res_text_printf(&text, "\n");
    add_pastes(&text, tune, &rows, markdown);
    add_words(&text, markdown, "advice", res_tune_advice(result));
    if (res_notes_live(workload->live) != NULL)
        add_words(&text, markdown, "live", res_strdup(res_notes_live(workload->live)));
    add_words(&text, markdown, tune->confirmed ? "*" : "?", res_tune_marks(tune));
    add_words(&text, markdown, "tried", res_tune_tried(tune));
    add_words(&text, markdown, "basis", res_tune_basis(result));
    if (!markdown) {
        add_failed(&text, tune);
        res_notes_text(&text, result->notes, result->note_count, false, "disturbed");
    }
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
