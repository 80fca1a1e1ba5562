/* history_text.c - a history in columns: for a terminal, for Markdown, and as CSV. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "results/measure/base/support.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/csv.h"
#include "results/report/grid/escape.h"
#include "results/report/history/result_history.h"

enum column {
    DATE,
    MALLAB,
    VERSION,
    QUIET,
    TYPICAL,
    CHANGE,
    RANGE,
    MOVED,
    PEAK,
    MEAN,
    PEAK_CHANGE,
    PEAK_MOVED,
    CHANGED,
    COLUMNS,
};

static const char *const HEADINGS[COLUMNS] = {"date, UTC",   "mallab",     "version", "quiet", "typical",
                                              "change",      "95 % range", "moved",   "peak",  "mean",
                                              "peak change", "peak moved", "changed"};
static const bool LEFT[COLUMNS] = {
    [DATE] = true, [MALLAB] = true, [VERSION] = true, [MOVED] = true, [PEAK_MOVED] = true, [CHANGED] = true};
/* What a narrow terminal does without, in this order. Never the range: a change without it says nothing. */
static const enum column DROPPED[] = {MALLAB, MEAN, VERSION};

/* ---- cells ---------------------------------------------------------------------------------- */

/* With seconds where two points share a minute, or they would look alike. */
static char *date_of(const json_t *point, bool has_seconds)
{
    const time_t seconds = (time_t)(json_integer_value(json_object_get(point, "created_unix_ns")) /
                                    1000000000);
    struct tm parts;
    char text[32];
    if (gmtime_r(&seconds, &parts) == NULL ||
        strftime(text, sizeof text, has_seconds ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d %H:%M", &parts) == 0)
        return res_strdup("?");
    return res_strdup(text);
}

static char *megabytes(double bytes)
{
    return isfinite(bytes) ? res_printf(bytes < 1e7 ? "%.2f" : "%.1f", bytes / 1e6) : res_strdup("-");
}

static char *percent(const json_t *point, const char *key)
{
    const double ratio = res_cell_number(point, key);
    return isfinite(ratio) ? res_cell_percent(ratio) : res_strdup("");
}

static char *changes_of(const json_t *point)
{
    struct res_text words = {0};
    size_t index;
    json_t *word;
    json_array_foreach(json_object_get(point, "changed"), index, word)
    {
        res_text_printf(&words, "%s%s", index > 0 ? ", " : "", json_string_value(word));
    }
    if (json_is_true(json_object_get(point, "failed")))
        res_text_printf(&words, "%sfailed", words.length > 0 ? ", " : "");
    return words.text != NULL ? words.text : res_strdup("");
}

static char *cell_of(const json_t *point, enum column column, bool is_baseline, bool has_seconds)
{
    switch (column) {
    case DATE:
        return date_of(point, has_seconds);
    case MALLAB:
        return res_cell_plain(point, "mallab_version", "-");
    case VERSION:
        return res_cell_plain(point, "version", "-");
    case QUIET:
        return res_cell_ns(res_cell_number(point, "quiet_ns_per_op"));
    case TYPICAL:
        return res_cell_ns(res_cell_number(point, "typical_ns_per_op"));
    case CHANGE:
        return is_baseline ? res_strdup("") : percent(point, "ratio");
    case RANGE:
        return is_baseline ? res_strdup("")
                           : res_cell_interval(res_cell_number(point, "ratio_low"),
                                               res_cell_number(point, "ratio_high"));
    case MOVED:
        return res_cell_plain(point, "time_moved", "");
    case PEAK:
        return megabytes(res_cell_number(point, "resident_peak_bytes"));
    case MEAN:
        return megabytes(res_cell_number(point, "resident_mean_bytes"));
    case PEAK_CHANGE:
        return is_baseline ? res_strdup("") : percent(point, "resident_peak_ratio");
    case PEAK_MOVED:
        return res_cell_plain(point, "peak_moved", "");
    case CHANGED:
        return changes_of(point);
    case COLUMNS:
        break;
    }
    return res_strdup("");
}

/* ---- a table of cells ----------------------------------------------------------------------- */

struct grid {
    char **cells; /* rows x COLUMNS; the first row is the heading */
    size_t rows;
    size_t widths[COLUMNS]; /* 0: the column is left out */
};

static char *grid_at(const struct grid *grid, size_t row, enum column column)
{
    return grid->cells[row * COLUMNS + column];
}

static size_t grid_width(const struct grid *grid)
{
    size_t width = 0;
    for (int column = 0; column < COLUMNS; column++)
        width += grid->widths[column] > 0 ? grid->widths[column] + 2 : 0;
    return width;
}

/* A column in which nothing stands, but its heading, is left out. left_out: those with something in them are marked. */
static void measure(struct grid *grid, bool *left_out)
{
    for (int column = 0; column < COLUMNS; column++) {
        bool empty = true;
        for (size_t row = 0; row < grid->rows; row++) {
            const size_t columns = res_text_columns(grid_at(grid, row, column));
            empty &= row == 0 || columns == 0;
            if (columns > grid->widths[column])
                grid->widths[column] = columns;
        }
        if (empty)
            grid->widths[column] = 0;
    }
    for (size_t i = 0; i < sizeof DROPPED / sizeof DROPPED[0] && grid_width(grid) > RES_TABLE_COLUMNS; i++) {
        left_out[DROPPED[i]] = left_out[DROPPED[i]] || grid->widths[DROPPED[i]] > 0;
        grid->widths[DROPPED[i]] = 0;
    }
}

/* Points are in the order of their time. */
static bool share_a_minute(const json_t *points)
{
    const json_int_t minute_ns = 60 * (json_int_t)1000000000;
    for (size_t i = 1; i < json_array_size(points); i++) {
        const json_t *one = json_object_get(json_array_get(points, i - 1), "created_unix_ns");
        const json_t *next = json_object_get(json_array_get(points, i), "created_unix_ns");
        if (json_integer_value(one) / minute_ns == json_integer_value(next) / minute_ns)
            return true;
    }
    return false;
}

static void grid_init(struct grid *grid, const json_t *candidate)
{
    const json_t *points = json_object_get(candidate, "points");
    const bool is_baseline = json_is_true(json_object_get(candidate, "is_baseline"));
    const bool has_seconds = share_a_minute(points);
    *grid = (struct grid){.rows = json_array_size(points) + 1};
    grid->cells = res_calloc(grid->rows * COLUMNS, sizeof *grid->cells);
    for (size_t row = 0; row < grid->rows; row++) {
        for (int column = 0; column < COLUMNS; column++)
            grid->cells[row * COLUMNS + (size_t)column] = row == 0 ? res_strdup(HEADINGS[column])
                                                                   : cell_of(json_array_get(points, row - 1),
                                                                             (enum column)column, is_baseline,
                                                                             has_seconds);
    }
}

static void grid_release(struct grid *grid)
{
    for (size_t i = 0; i < grid->rows * COLUMNS; i++)
        free(grid->cells[i]);
    free(grid->cells);
}

static const char *colour_of(const char *word)
{
    if (strcmp(word, "slower") == 0 || strcmp(word, "more") == 0)
        return "\033[31m";
    return strcmp(word, "faster") == 0 || strcmp(word, "less") == 0 ? "\033[32m" : "";
}

static void add_row(struct res_text *text, const struct grid *grid, size_t row, bool colour)
{
    struct res_text line = {0};
    for (int column = 0; column < COLUMNS; column++) {
        const char *cell = grid_at(grid, row, column);
        const int fill = (int)(grid->widths[column] - res_text_columns(cell));
        if (grid->widths[column] == 0)
            continue;
        const char *paint = colour && (column == MOVED || column == PEAK_MOVED) ? colour_of(cell) : "";
        res_text_printf(&line, "  %*s%s%s%s%*s", LEFT[column] ? 0 : fill, "", paint, cell,
                        *paint != '\0' ? "\033[0m" : "", LEFT[column] ? fill : 0, "");
    }
    while (line.length > 0 && line.text[line.length - 1] == ' ')
        line.text[--line.length] = '\0';
    res_text_printf(text, "%s\n", line.text);
    free(line.text);
}

/* ---- for people ----------------------------------------------------------------------------- */

static const char *string_of(const json_t *object, const char *key)
{
    const char *string = json_string_value(json_object_get(object, key));
    return string != NULL ? string : "?";
}

static size_t moves_of(const json_t *candidate)
{
    size_t moves = 0, index;
    json_t *point;
    json_array_foreach(json_object_get(candidate, "points"), index, point)
    {
        moves += json_is_string(json_object_get(point, "time_moved"));
        moves += json_is_string(json_object_get(point, "peak_moved"));
    }
    return moves;
}

static void add_left_out(struct res_text *text, const json_t *history, const char *format)
{
    size_t index;
    json_t *one;
    json_array_foreach(json_object_get(history, "left_out"), index, one)
    {
        res_text_printf(text, "%s%s: %s\n", format, string_of(one, "file"), string_of(one, "why"));
    }
}

static void add_no_room(struct res_text *text, const bool *no_room)
{
    const char *before = "No room for: ";
    for (int column = 0; column < COLUMNS; column++) {
        if (!no_room[column])
            continue;
        res_text_printf(text, "%s%s", before, HEADINGS[column]);
        before = ", ";
    }
    if (*before == ',')
        res_text_printf(text, "; --format md, csv and json have it.\n");
}

char *res_history_text(const json_t *history, const struct res_style *style)
{
    struct res_text text = {0};
    size_t index, number, moves = 0;
    bool no_room[COLUMNS] = {false};
    json_t *series, *candidate;
    json_array_foreach(json_object_get(history, "series"), index, series)
    {
        res_text_printf(&text, "%s on %s, against %s\n", string_of(series, "workload"),
                        string_of(series, "machine"), string_of(series, "baseline"));
        json_array_foreach(json_object_get(series, "candidates"), number, candidate)
        {
            struct grid grid;
            grid_init(&grid, candidate);
            measure(&grid, no_room);
            res_text_printf(&text, "\n%s%s\n", string_of(candidate, "name"),
                            json_is_true(json_object_get(candidate, "is_baseline")) ? " (baseline)" : "");
            for (size_t row = 0; row < grid.rows; row++)
                add_row(&text, &grid, row, style->colour);
            grid_release(&grid);
            moves += moves_of(candidate);
        }
        res_text_add(&text, "\n", 1);
    }
    res_text_printf(
        &text,
        "ns per op; memory in MB. change: of time, to the baseline of the same result, as peak change.\n"
        "moved: beyond the noise of both, against the first result of the level (the last one marked, or\n"
        "the first of all): %zu here. changed: what is other than in the result before. Absolute figures of\n"
        "different days do not compare.\n",
        moves);
    add_no_room(&text, no_room);
    add_left_out(&text, history, "left out    ");
    return text.text;
}

/* ---- Markdown ------------------------------------------------------------------------------- */

char *res_history_markdown(const json_t *history)
{
    struct res_text text = {0};
    size_t index, number;
    json_t *series, *candidate;
    json_array_foreach(json_object_get(history, "series"), index, series)
    {
        res_text_printf(&text, "%s## ", index > 0 ? "\n" : "");
        res_markdown_add(&text, string_of(series, "workload"));
        res_text_printf(&text, " on ");
        res_markdown_add(&text, string_of(series, "machine"));
        res_text_printf(&text, ", against ");
        res_markdown_add(&text, string_of(series, "baseline"));
        res_text_printf(&text, "\n");
        json_array_foreach(json_object_get(series, "candidates"), number, candidate)
        {
            struct grid grid;
            grid_init(&grid, candidate);
            res_text_printf(&text, "\n### ");
            res_markdown_add(&text, string_of(candidate, "name"));
            res_text_printf(&text, "\n\n");
            for (size_t row = 0; row < grid.rows; row++) {
                for (int column = 0; column < COLUMNS; column++) {
                    res_text_printf(&text, column > 0 ? " | " : "| ");
                    res_markdown_add(&text, grid_at(&grid, row, column));
                }
                res_text_printf(&text, " |\n");
                for (int column = 0; row == 0 && column < COLUMNS; column++)
                    res_text_printf(&text, "|%s%s",
                                    LEFT[column] ? "---" : "--:", column == COLUMNS - 1 ? "|\n" : "");
            }
            grid_release(&grid);
        }
    }
    add_left_out(&text, history, "\nLeft out: ");
    return text.text != NULL ? text.text : res_strdup("");
}

/* ---- CSV ------------------------------------------------------------------------------------ */

char *res_history_csv(const json_t *history)
{
    static const char *const keys[] = {
        "file",
        "created_unix_ns",
        "mallab_version",
        "workload_digest",
        "version",
        "baseline_version",
        "failed",
        "rounds",
        "quiet_ns_per_op",
        "typical_ns_per_op",
        "quiet_ratio",
        "ratio",
        "ratio_low",
        "ratio_high",
        "time_change",
        "time_moved",
        "resident_peak_bytes",
        "resident_mean_bytes",
        "resident_peak_ratio",
        "resident_peak_ratio_low",
        "resident_peak_ratio_high",
        "peak_change",
        "peak_moved",
    };
    struct res_text text = {0};
    size_t index, number, place;
    json_t *series, *candidate, *point;
    res_text_printf(&text, "workload,machine,baseline,candidate");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        res_text_printf(&text, ",%s", keys[i]);
    res_text_add(&text, "\n", 1);
    json_array_foreach(json_object_get(history, "series"), index, series)
    {
        json_array_foreach(json_object_get(series, "candidates"), number, candidate)
        {
            json_array_foreach(json_object_get(candidate, "points"), place, point)
            {
                res_csv_value(&text, json_object_get(series, "workload"));
                res_text_add(&text, ",", 1);
                res_csv_value(&text, json_object_get(series, "machine"));
                res_text_add(&text, ",", 1);
                res_csv_value(&text, json_object_get(series, "baseline"));
                res_text_add(&text, ",", 1);
                res_csv_value(&text, json_object_get(candidate, "name"));
                for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
                    res_text_add(&text, ",", 1);
                    res_csv_value(&text, json_object_get(point, keys[i]));
                }
                res_text_add(&text, "\n", 1);
            }
        }
    }
    return text.text;
}
