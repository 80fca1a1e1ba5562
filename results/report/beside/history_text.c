/* history_text.c - a history as a document: a table for each candidate. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "results/report/beside/beside.h"

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

const char *res_history_date(const struct res_history_point *point, char *room)
{
    const time_t seconds = (time_t)(point->created_unix_ns / 1000000000);
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL || strftime(room, RES_WORDS, "%Y-%m-%d %H:%M", &parts) == 0)
        (void)strcpy(room, "?");
    return room;
}

static char *megabytes(double bytes)
{
    return bytes >= 0 ? res_printf(bytes < 10e6 ? "%.2f" : "%.1f", bytes / 1e6) : res_strdup("-");
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

/* The name of what was measured: the user's, else the commit, shortened as git does. */
static char *measured_of(const struct res_history_point *point)
{
    if (point->label != NULL || point->commit == NULL)
        return res_strdup(point->label != NULL ? point->label : "");
    const size_t length = strcspn(point->commit, "-");
    return res_printf("%.*s%s", length < 9 ? (int)length : 9, point->commit, point->commit + length);
}

static void add_moved(struct res_grid *grid, const char *word)
{
    res_grid_add(grid, word);
    res_grid_role(grid, res_cell_role(word != NULL ? word : ""));
}

static void add_row(struct res_grid *grid, const struct res_history_point *point, bool is_baseline)
{
    const struct res_figures *figures = &point->figures;
    const struct res_interval range = figures->time.interval;
    res_grid_add(grid, res_history_date(point, RES_WORDS_ROOM));
    res_grid_own(grid, measured_of(point));
    res_grid_add(grid, point->mallab_version);
    res_grid_add(grid, point->version);
    res_grid_add(grid, RES_NS(figures->steady_ns_per_op));
    res_grid_add(grid, is_baseline ? "" : percent(figures->time.ratio, RES_WORDS_ROOM));
    res_grid_add(grid, is_baseline ? "" : RES_INTERVAL(range.low, range.high));
    add_moved(grid, point->time.word);
    res_grid_own(grid, megabytes(figures->peak_bytes));
    res_grid_own(grid, megabytes(figures->mean_bytes));
    res_grid_add(grid, is_baseline ? "" : percent(figures->peak.ratio, RES_WORDS_ROOM));
    add_moved(grid, point->peak.word);
    res_grid_own(grid, changes_of(point));
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* "2026-11-26 22:13: slower by 25.1% in time (changed: version)". Returns whether it did. */
static bool add_move(struct res_document *document, const struct res_history_point *point,
                     const struct res_history_move *move, const char *figure)
{
    if (move->word == NULL)
        return false;
    RES_FREED char *changes = changes_of(point);
    res_document_line(document, "%s: %s by %s in %s%s%s%s", res_history_date(point, RES_WORDS_ROOM),
                      move->word, RES_PERCENT(move->change) + 1, figure,
                      *changes != '\0' ? " (changed: " : "", changes, *changes != '\0' ? ")" : "");
    return true;
}

/* Moves stand before any figure. Returns how many there are. */
static size_t add_candidate(struct res_document *document, const struct res_history_candidate *candidate)
{
    struct res_grid grid;
    size_t moves = 0;
    res_document_heading(document, 3, "%s%s", candidate->name, candidate->is_baseline ? " (baseline)" : "");
    res_grid_begin(&grid, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    for (size_t i = 0; i < candidate->point_count; i++) {
        const struct res_history_point *point = &candidate->points[i];
        moves += add_move(document, point, &point->time, "time");
        moves += add_move(document, point, &point->peak, "peak memory");
        add_row(&grid, point, candidate->is_baseline);
    }
    res_document_table(document, &grid);
    RES_FREED char *left_out = res_grid_left_out(&grid);
    if (left_out != NULL)
        res_document_line(document, "No room for: %s; --format md and json have it.", left_out);
    res_grid_release(&grid);
    res_document_gap(document);
    return moves;
}

char *res_history_document(const struct res_history *history, const struct res_style *style)
{
    struct res_document document = {.style = style};
    size_t moves = 0;
    for (size_t i = 0; i < history->series_count; i++) {
        const struct res_history_series *series = &history->series[i];
        res_document_heading(&document, 2, "%s on %s, against %s", series->workload, series->machine,
                             series->baseline);
        for (size_t k = 0; k < series->candidate_count; k++)
            moves += add_candidate(&document, &series->candidates[k]);
    }
    res_document_line(
        &document,
        "ns per op; memory in MB. change: of time, to the baseline of the same result, as peak change. "
        "moved: as 'mallab compare' tells, against the first result of the level (the last one marked, or "
        "the first of all): %zu here. changed: what is other than in the result before. Absolute figures "
        "of different days do not compare.",
        moves);
    for (size_t i = 0; i < history->left_out_count; i++)
        res_document_line(&document, "left out: %s: %s", history->left_out[i].file, history->left_out[i].why);
    return res_document_end(&document);
}
