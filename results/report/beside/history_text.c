/* history_text.c - a history as a document: a table for each candidate. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "footprint/base/support.h"
#include "results/report/beside/result_history.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/document.h"

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

/* What would have been marked at the last point. The caller's to free. */
static char *resolves_of(const struct res_history_candidate *candidate)
{
    const struct res_history_point *last = &candidate->points[candidate->point_count - 1];
    struct res_text text = {0};
    if (!candidate->is_baseline && last->time_resolves > 0)
        res_text_printf(&text, ", time resolved to %s", RES_SHARE(last->time_resolves));
    if (!candidate->is_baseline && last->peak_resolves > 0)
        res_text_printf(&text, ", peak to %s", RES_SHARE(last->peak_resolves));
    return text.text != NULL ? text.text : res_strdup("");
}

/* Where another build of its library begins, before any figure. */
static void add_builds(struct res_document *document, const struct res_history_candidate *candidate)
{
    for (size_t i = 0; i < candidate->point_count; i++) {
        if (candidate->points[i].other_build == NULL)
            continue;
        char *date = date_of(&candidate->points[i], share_a_minute(candidate));
        res_document_line(document, "%s: %s", date, candidate->points[i].other_build);
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

char *res_history_document(const struct res_history *history, const struct res_style *style)
{
    struct res_document document = {.style = style};
    struct res_grid grid;
    size_t moves = 0;
    res_grid_begin(&grid, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    for (size_t i = 0; i < history->series_count; i++) {
        const struct res_history_series *series = &history->series[i];
        res_document_heading(&document, 2, "%s on %s, against %s", series->workload, series->machine,
                             series->baseline);
        for (size_t k = 0; k < series->candidate_count; k++) {
            const struct res_history_candidate *candidate = &series->candidates[k];
            char *resolves = resolves_of(candidate);
            res_document_gap(&document);
            res_document_heading(&document, 3, "%s%s%s", candidate->name,
                                 candidate->is_baseline ? " (baseline)" : "", resolves);
            free(resolves);
            add_builds(&document, candidate);
            add_rows(&grid, candidate);
            res_document_table(&document, &grid);
            moves += moves_of(candidate);
        }
        res_document_gap(&document);
    }
    res_document_line(
        &document,
        "ns per op; memory in MB. change: of time, to the baseline of the same result, as peak change. "
        "moved: beyond the noise of both, against the first result of the level (the last one marked, or "
        "the first of all): %zu here. changed: what is other than in the result before. Absolute figures "
        "of different days do not compare.",
        moves);
    char *left_out = res_grid_left_out(&grid);
    if (left_out != NULL)
        res_document_line(&document, "No room for: %s; --format md and json have it.", left_out);
    free(left_out);
    res_grid_release(&grid);
    for (size_t i = 0; i < history->left_out_count; i++)
        res_document_line(&document, "left out: %s: %s", history->left_out[i].file, history->left_out[i].why);
    return res_document_end(&document);
}
