/* history_text.c - a history in columns: for a terminal, for Markdown, and as CSV. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "results/measure/base/support.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/escape.h"
#include "results/report/history/result_history.h"

/* A narrow terminal never does without the range: a change without it says nothing. */
static const struct res_column COLUMNS[] = {
    {.heading = "date, UTC", .gap = 2},
    {.heading = "mallab", .gap = 2, .expendable = 1},
    {.heading = "version", .gap = 2, .expendable = 3},
    {.heading = "quiet", .right = true, .gap = 2},
    {.heading = "typical", .right = true, .gap = 2},
    {.heading = "change", .right = true, .gap = 2},
    {.heading = "95 % range", .right = true, .gap = 2},
    {.heading = "moved", .gap = 2},
    {.heading = "peak", .right = true, .gap = 2},
    {.heading = "mean", .right = true, .gap = 2, .expendable = 2},
    {.heading = "peak change", .right = true, .gap = 2},
    {.heading = "peak moved", .gap = 2},
    {.heading = "changed", .gap = 2},
};

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

static const char *percent(const json_t *point, const char *key, char *room)
{
    const double ratio = res_cell_number(point, key);
    return isfinite(ratio) ? res_percent_words(ratio, room) : "";
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

static void add_moved(struct res_grid *grid, const json_t *point, const char *key)
{
    const char *word = res_cell_string(point, key, "");
    res_grid_add(grid, word);
    res_grid_role(grid, res_cell_role(word));
}

/* The points of a candidate. */
static void add_rows(struct res_grid *grid, const json_t *candidate)
{
    const json_t *points = json_object_get(candidate, "points");
    const bool is_baseline = json_is_true(json_object_get(candidate, "is_baseline"));
    const bool has_seconds = share_a_minute(points);
    size_t index;
    json_t *point;
    json_array_foreach(points, index, point)
    {
        res_grid_own(grid, date_of(point, has_seconds));
        res_grid_add(grid, res_cell_string(point, "mallab_version", "-"));
        res_grid_add(grid, res_cell_string(point, "version", "-"));
        res_grid_add(grid, RES_NS(res_cell_number(point, "quiet_ns_per_op")));
        res_grid_add(grid, RES_NS(res_cell_number(point, "typical_ns_per_op")));
        res_grid_add(grid, is_baseline ? "" : percent(point, "ratio", RES_WORDS_ROOM));
        res_grid_add(grid, is_baseline ? ""
                                       : RES_INTERVAL(res_cell_number(point, "ratio_low"),
                                                      res_cell_number(point, "ratio_high")));
        add_moved(grid, point, "time_moved");
        res_grid_own(grid, megabytes(res_cell_number(point, "resident_peak_bytes")));
        res_grid_own(grid, megabytes(res_cell_number(point, "resident_mean_bytes")));
        res_grid_add(grid, is_baseline ? "" : percent(point, "resident_peak_ratio", RES_WORDS_ROOM));
        add_moved(grid, point, "peak_moved");
        res_grid_own(grid, changes_of(point));
    }
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

char *res_history_text(const json_t *history, const struct res_style *style)
{
    struct res_text text = {0};
    struct res_grid grid;
    size_t index, number, moves = 0;
    json_t *series, *candidate;
    res_grid_begin(&grid, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    json_array_foreach(json_object_get(history, "series"), index, series)
    {
        res_text_printf(&text, "%s on %s, against %s\n", string_of(series, "workload"),
                        string_of(series, "machine"), string_of(series, "baseline"));
        json_array_foreach(json_object_get(series, "candidates"), number, candidate)
        {
            res_text_printf(&text, "\n%s%s\n", string_of(candidate, "name"),
                            json_is_true(json_object_get(candidate, "is_baseline")) ? " (baseline)" : "");
            add_rows(&grid, candidate);
            res_grid_text(&grid, style, &text);
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
    char *left_out = res_grid_left_out(&grid);
    if (left_out != NULL)
        res_text_printf(&text, "No room for: %s; --format md, csv and json have it.\n", left_out);
    free(left_out);
    res_grid_release(&grid);
    add_left_out(&text, history, "left out    ");
    return text.text;
}

/* ---- Markdown ------------------------------------------------------------------------------- */

char *res_history_markdown(const json_t *history)
{
    struct res_text text = {0};
    struct res_grid grid;
    size_t index, number;
    json_t *series, *candidate;
    res_grid_begin(&grid, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
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
            res_text_printf(&text, "\n### ");
            res_markdown_add(&text, string_of(candidate, "name"));
            res_text_printf(&text, "\n\n");
            add_rows(&grid, candidate);
            res_grid_markdown(&grid, &text);
        }
    }
    res_grid_release(&grid);
    add_left_out(&text, history, "\nLeft out: ");
    return text.text != NULL ? text.text : res_strdup("");
}

/* ---- CSV ------------------------------------------------------------------------------------ */

/* The first three are keys of the series; behind the fourth they are of the point. */
#define CSV_SERIES    3
#define CSV_CANDIDATE 3

static const struct res_column CSV[] = {
    {.heading = "workload"},
    {.heading = "machine"},
    {.heading = "baseline"},
    {.heading = "candidate"},
    {.heading = "file"},
    {.heading = "created_unix_ns"},
    {.heading = "mallab_version"},
    {.heading = "workload_digest"},
    {.heading = "version"},
    {.heading = "baseline_version"},
    {.heading = "failed"},
    {.heading = "rounds"},
    {.heading = "quiet_ns_per_op"},
    {.heading = "typical_ns_per_op"},
    {.heading = "quiet_ratio"},
    {.heading = "ratio"},
    {.heading = "ratio_low"},
    {.heading = "ratio_high"},
    {.heading = "time_change"},
    {.heading = "time_moved"},
    {.heading = "resident_peak_bytes"},
    {.heading = "resident_mean_bytes"},
    {.heading = "resident_peak_ratio"},
    {.heading = "resident_peak_ratio_low"},
    {.heading = "resident_peak_ratio_high"},
    {.heading = "peak_change"},
    {.heading = "peak_moved"},
};

char *res_history_csv(const json_t *history)
{
    const size_t count = sizeof CSV / sizeof CSV[0];
    struct res_text text = {0};
    struct res_grid grid;
    size_t index, number, place;
    json_t *series, *candidate, *point;
    res_grid_begin(&grid, CSV, count);
    json_array_foreach(json_object_get(history, "series"), index, series)
    {
        json_array_foreach(json_object_get(series, "candidates"), number, candidate)
        {
            json_array_foreach(json_object_get(candidate, "points"), place, point)
            {
                for (size_t i = 0; i < count; i++)
                    res_cell_value(&grid,
                                   i == CSV_CANDIDATE
                                       ? json_object_get(candidate, "name")
                                       : json_object_get(i < CSV_SERIES ? series : point, CSV[i].heading));
            }
        }
    }
    res_grid_csv(&grid, &text);
    res_grid_release(&grid);
    return text.text;
}
