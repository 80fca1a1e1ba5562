/* history_text.c - a history in columns: for a terminal, for Markdown, and as CSV. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "footprint/base/support.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"
#include "results/report/history/result_history.h"

/* A narrow terminal never does without the range: a change without it says nothing. */
static const struct res_column COLUMNS[] = {
    {.heading = "date, UTC", .gap = 2},
    {.heading = "of", .gap = 2, .expendable = 4},
    {.heading = "mallab", .gap = 2, .expendable = 1},
    {.heading = "version", .gap = 2, .expendable = 3},
    {.heading = "ns/op", .right = true, .gap = 2},
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
static char *date_of(const struct res_history_point *point, bool has_seconds)
{
    const time_t seconds = (time_t)(point->created_unix_ns / 1000000000);
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

static const char *percent(double ratio, char *room)
{
    return isfinite(ratio) ? res_percent_words(ratio, room) : "";
}

static char *changes_of(const struct res_history_point *point)
{
    struct res_text words = {0};
    for (size_t i = 0; i < point->changed.count; i++)
        res_text_printf(&words, "%s%s", i > 0 ? ", " : "", point->changed.items[i]);
    if (point->failed)
        res_text_printf(&words, "%sfailed", words.length > 0 ? ", " : "");
    return words.text != NULL ? words.text : res_strdup("");
}

/* What was measured: what the user calls it, else the commit, shortened as git does. */
static char *measured_of(const struct res_history_point *point)
{
    if (point->label != NULL || point->commit == NULL)
        return res_strdup(point->label != NULL ? point->label : "");
    const size_t length = strcspn(point->commit, "-");
    return res_printf("%.*s%s", length < 9 ? (int)length : 9, point->commit, point->commit + length);
}

/* Points are in the order of their time. */
static bool share_a_minute(const struct res_history_candidate *candidate)
{
    const uint64_t minute_ns = UINT64_C(60000000000);
    for (size_t i = 1; i < candidate->point_count; i++) {
        const struct res_history_point *point = &candidate->points[i];
        if (point[-1].created_unix_ns / minute_ns == point->created_unix_ns / minute_ns)
            return true;
    }
    return false;
}

static void add_moved(struct res_grid *grid, const char *word)
{
    res_grid_add(grid, word);
    res_grid_role(grid, res_cell_role(word != NULL ? word : ""));
}

/* What would have been marked at the last point. */
static void add_resolves(struct res_text *text, const struct res_history_candidate *candidate)
{
    const struct res_history_point *last = &candidate->points[candidate->point_count - 1];
    if (!candidate->is_baseline && last->time_resolves > 0)
        res_text_printf(text, ", time resolved to %s", RES_SHARE(last->time_resolves));
    if (!candidate->is_baseline && last->peak_resolves > 0)
        res_text_printf(text, ", peak to %s", RES_SHARE(last->peak_resolves));
}

/* Where another build of its library begins, before any figure. */
static void add_builds(struct res_text *text, const struct res_history_candidate *candidate, bool markdown)
{
    for (size_t i = 0; i < candidate->point_count; i++) {
        if (candidate->points[i].other_build == NULL)
            continue;
        char *date = date_of(&candidate->points[i], share_a_minute(candidate));
        char *words = res_printf("%s: %s", date, candidate->points[i].other_build);
        if (markdown)
            res_markdown_add(text, words);
        else
            res_text_add(text, words, strlen(words));
        res_text_printf(text, markdown ? "\n\n" : "\n");
        free(words);
        free(date);
    }
}

/* The points of a candidate. */
static void add_rows(struct res_grid *grid, const struct res_history_candidate *candidate)
{
    const bool is_baseline = candidate->is_baseline, has_seconds = share_a_minute(candidate);
    for (size_t i = 0; i < candidate->point_count; i++) {
        const struct res_history_point *point = &candidate->points[i];
        const struct res_interval range = point->time.interval;
        res_grid_own(grid, date_of(point, has_seconds));
        res_grid_own(grid, measured_of(point));
        res_grid_add(grid, point->mallab_version);
        res_grid_add(grid, point->version);
        res_grid_add(grid, RES_NS(point->steady_ns_per_op));
        res_grid_add(grid, is_baseline ? "" : percent(point->time.ratio, RES_WORDS_ROOM));
        res_grid_add(grid, is_baseline ? "" : RES_INTERVAL(range.low, range.high));
        add_moved(grid, point->time_moved);
        res_grid_own(grid, megabytes(point->peak_bytes));
        res_grid_own(grid, megabytes(point->mean_bytes));
        res_grid_add(grid, is_baseline ? "" : percent(point->peak.ratio, RES_WORDS_ROOM));
        add_moved(grid, point->peak_moved);
        res_grid_own(grid, changes_of(point));
    }
}

/* ---- for people ----------------------------------------------------------------------------- */

static size_t moves_of(const struct res_history_candidate *candidate)
{
    size_t moves = 0;
    for (size_t i = 0; i < candidate->point_count; i++)
        moves += (candidate->points[i].time_moved != NULL) + (candidate->points[i].peak_moved != NULL);
    return moves;
}

static void add_left_out(struct res_text *text, const struct res_history *history, const char *label)
{
    for (size_t i = 0; i < history->left_out_count; i++)
        res_text_printf(text, "%s%s: %s\n", label, history->left_out[i].file, history->left_out[i].why);
}

char *res_history_text(const struct res_history *history, const struct res_style *style)
{
    struct res_text text = {0};
    struct res_grid grid;
    size_t moves = 0;
    res_grid_begin(&grid, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    for (size_t i = 0; i < history->series_count; i++) {
        const struct res_history_series *series = &history->series[i];
        res_text_printf(&text, "%s on %s, against %s\n", series->workload, series->machine, series->baseline);
        for (size_t k = 0; k < series->candidate_count; k++) {
            const struct res_history_candidate *candidate = &series->candidates[k];
            res_text_printf(&text, "\n%s%s", candidate->name, candidate->is_baseline ? " (baseline)" : "");
            add_resolves(&text, candidate);
            res_text_add(&text, "\n", 1);
            add_builds(&text, candidate, false);
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

char *res_history_markdown(const struct res_history *history)
{
    struct res_text text = {0};
    struct res_grid grid;
    res_grid_begin(&grid, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    for (size_t i = 0; i < history->series_count; i++) {
        const struct res_history_series *series = &history->series[i];
        res_text_printf(&text, "%s## ", i > 0 ? "\n" : "");
        res_markdown_add(&text, series->workload);
        res_text_printf(&text, " on ");
        res_markdown_add(&text, series->machine);
        res_text_printf(&text, ", against ");
        res_markdown_add(&text, series->baseline);
        res_text_printf(&text, "\n");
        for (size_t k = 0; k < series->candidate_count; k++) {
            res_text_printf(&text, "\n### ");
            res_markdown_add(&text, series->candidates[k].name);
            add_resolves(&text, &series->candidates[k]);
            res_text_printf(&text, "\n\n");
            add_builds(&text, &series->candidates[k], true);
            add_rows(&grid, &series->candidates[k]);
            res_grid_markdown(&grid, &text);
        }
    }
    res_grid_release(&grid);
    add_left_out(&text, history, "\nLeft out: ");
    return text.text != NULL ? text.text : res_strdup("");
}

/* ---- CSV ------------------------------------------------------------------------------------ */

/* Behind these four the headings are keys of the point. */
#define CSV_OWN 4

static const char *const CSV[] = {"workload",
                                  "machine",
                                  "baseline",
                                  "candidate",
                                  "file",
                                  "created_unix_ns",
                                  "mallab_version",
                                  "workload_digest",
                                  "label",
                                  "commit",
                                  "version",
                                  "build_id",
                                  "baseline_version",
                                  "failed",
                                  "rounds",
                                  "steady_ns_per_op",
                                  "ratio",
                                  "ratio_low",
                                  "ratio_high",
                                  "time_change",
                                  "time_moved",
                                  "time_resolves",
                                  "resident_peak_bytes",
                                  "resident_mean_bytes",
                                  "resident_peak_ratio",
                                  "resident_peak_ratio_low",
                                  "resident_peak_ratio_high",
                                  "peak_change",
                                  "peak_moved",
                                  "peak_resolves"};
#define CSV_COUNT (sizeof CSV / sizeof CSV[0])

static void add_csv_row(struct res_grid *grid, const struct res_history_series *series,
                        const struct res_history_candidate *candidate, const struct res_history_point *point)
{
    res_grid_add(grid, series->workload);
    res_grid_add(grid, series->machine);
    res_grid_add(grid, series->baseline);
    res_grid_add(grid, candidate->name);
    for (size_t i = CSV_OWN; i < CSV_COUNT; i++)
        res_grid_field(grid, &RES_HISTORY_POINT, point, CSV[i]);
}

char *res_history_csv(const struct res_history *history)
{
    struct res_text text = {0};
    struct res_grid grid;
    struct res_column columns[CSV_COUNT] = {{0}};
    for (size_t i = 0; i < CSV_COUNT; i++)
        columns[i].heading = CSV[i];
    res_grid_begin(&grid, columns, CSV_COUNT);
    for (size_t i = 0; i < history->series_count; i++) {
        const struct res_history_series *series = &history->series[i];
        for (size_t k = 0; k < series->candidate_count; k++)
            for (size_t p = 0; p < series->candidates[k].point_count; p++)
                add_csv_row(&grid, series, &series->candidates[k], &series->candidates[k].points[p]);
    }
    res_grid_csv(&grid, &text);
    res_grid_release(&grid);
    return text.text;
}
