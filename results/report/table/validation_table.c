/* validation_table.c - reality beside prediction, aligned. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/base/support.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/notes.h"
#include "results/report/table/reality_report.h"
#include "results/report/table/recordings_report.h"
#include "results/report/table/validation_lines.h"
#include "results/report/table/validation_report.h"

enum column {
    COLUMN_NAME,
    COLUMN_TOTAL_REAL,
    COLUMN_TOTAL_PREDICTED,
    COLUMN_TOTAL_ERROR,
    COLUMN_HEAP_REAL,
    COLUMN_HEAP_PREDICTED,
    COLUMN_HEAP_ERROR,
    COLUMN_MEAN_ERROR,
    COLUMN_END_ERROR,
    COLUMN_TIME_REAL,
    COLUMN_TIME_RANGE,
    COLUMN_TIME_PREDICTED,
    COLUMN_SIGN,
    COLUMN_COUNT,
};

/* A group stands above its first column and reaches over those behind without one. */
static const struct {
    const char *group, *name;
    unsigned gap;
} HEADINGS[COLUMN_COUNT] = {
    [COLUMN_NAME] = {"", "candidate", 0},
    [COLUMN_TOTAL_REAL] = {"peak, all, MB", "real", 2},
    [COLUMN_TOTAL_PREDICTED] = {NULL, "pred.", 1},
    [COLUMN_TOTAL_ERROR] = {NULL, "error", 1},
    [COLUMN_HEAP_REAL] = {"peak, heap, MB", "real", 2},
    [COLUMN_HEAP_PREDICTED] = {NULL, "pred.", 1},
    [COLUMN_HEAP_ERROR] = {NULL, "error", 1},
    [COLUMN_MEAN_ERROR] = {"heap error", "mean", 2},
    [COLUMN_END_ERROR] = {NULL, "end", 1},
    [COLUMN_TIME_REAL] = {"CPU time against ", "real", 2},
    [COLUMN_TIME_RANGE] = {NULL, "95 % range", 1},
    [COLUMN_TIME_PREDICTED] = {NULL, "pred.", 1},
    [COLUMN_SIGN] = {NULL, "sign", 1},
};

struct sheet {
    char *cells[64][COLUMN_COUNT]; /* as many candidates as are shown */
    size_t rows;
    size_t widths[COLUMN_COUNT];
    char *groups[COLUMN_COUNT]; /* NULL: goes with the one before */
    bool names_above; /* each on a line of its own: beside the figures they would make lines too long */
};

#define BASELINE_COLUMNS 12u
#define ROWS_MAX         (sizeof((struct sheet *)0)->cells / sizeof((struct sheet *)0)->cells[0])

static char *cell_megabytes(const json_t *object, const char *key)
{
    const double bytes = res_cell_number(object, key);
    return isfinite(bytes) ? res_printf(fabs(bytes) < 99.95e6 ? "%.2f" : "%.1f", bytes / 1e6)
                           : res_strdup("-");
}

static char *cell_error(const json_t *error, const char *key)
{
    return res_cell_percent(res_cell_number(error, key) + 1);
}

static char *cell_milliseconds(double ns)
{
    return isfinite(ns) ? res_printf(fabs(ns) < 9.995e6 ? "%+.2f ms" : "%+.0f ms", ns / 1e6)
                        : res_strdup("-");
}

/* Of the ratio, as the time that it makes of the baseline's: beside it stand milliseconds. */
static char *cell_range(double low, double high, double baseline_ns)
{
    const double low_ms = (low - 1) * baseline_ns / 1e6, high_ms = (high - 1) * baseline_ns / 1e6;
    const bool fine = fabs(low_ms) < 9.995 && fabs(high_ms) < 9.995;
    return isfinite(low_ms) && isfinite(high_ms)
               ? res_printf(fine ? "[%+.2f %+.2f] ms" : "[%+.0f %+.0f] ms", low_ms, high_ms)
               : res_strdup("?");
}

static void fill_row(struct sheet *sheet, const json_t *candidate, double baseline_ns, bool is_baseline)
{
    const json_t *real = json_object_get(candidate, "real"),
                 *predicted = json_object_get(candidate, "predicted");
    const json_t *error = json_object_get(candidate, "error");
    char **cells = sheet->cells[sheet->rows++];
    cells[COLUMN_NAME] = res_cell_plain(candidate, "name", "?");
    cells[COLUMN_TOTAL_REAL] = cell_megabytes(real, "peak_total_bytes");
    cells[COLUMN_TOTAL_PREDICTED] = cell_megabytes(predicted, "peak_total_bytes");
    cells[COLUMN_TOTAL_ERROR] = cell_error(error, "peak_total");
    cells[COLUMN_HEAP_REAL] = cell_megabytes(real, "peak_heap_bytes");
    cells[COLUMN_HEAP_PREDICTED] = cell_megabytes(predicted, "peak_heap_bytes");
    cells[COLUMN_HEAP_ERROR] = cell_error(error, "peak_heap");
    cells[COLUMN_MEAN_ERROR] = cell_error(error, "mean_heap");
    cells[COLUMN_END_ERROR] = cell_error(error, "end_heap");
    if (is_baseline) {
        const double ns = res_cell_number(real, "cpu_ns");
        cells[COLUMN_TIME_REAL] = isfinite(ns) ? res_printf("%.0f ms", ns / 1e6) : res_strdup("-");
        for (size_t i = COLUMN_TIME_RANGE; i < COLUMN_COUNT; i++)
            cells[i] = res_strdup("");
        return;
    }
    cells[COLUMN_TIME_REAL] = cell_milliseconds(res_cell_number(real, "time_difference_ns"));
    cells[COLUMN_TIME_RANGE] = cell_range(res_cell_number(real, "time_ratio_low"),
                                          res_cell_number(real, "time_ratio_high"), baseline_ns);
    cells[COLUMN_TIME_PREDICTED] = cell_milliseconds(res_cell_number(predicted, "time_difference_ns"));
    cells[COLUMN_SIGN] = res_cell_plain(error, "time_sign", "-");
}

static size_t group_width(const struct sheet *sheet, size_t first)
{
    size_t width = sheet->widths[first];
    for (size_t column = first + 1; column < COLUMN_COUNT && sheet->groups[column] == NULL; column++)
        width += HEADINGS[column].gap + sheet->widths[column];
    return width;
}

static size_t sheet_width(const struct sheet *sheet)
{
    size_t width = 0;
    for (size_t column = 0; column < COLUMN_COUNT; column++)
        width += HEADINGS[column].gap + sheet->widths[column];
    return width;
}

/* baseline: its name stands above the columns of time, where it is no longer than they are. */
static void measure(struct sheet *sheet, const char *baseline)
{
    for (size_t column = 0; column < COLUMN_COUNT; column++) {
        sheet->widths[column] = res_text_columns(HEADINGS[column].name);
        for (size_t row = 0; row < sheet->rows; row++) {
            const size_t width = res_text_columns(sheet->cells[row][column]);
            sheet->widths[column] = width > sheet->widths[column] ? width : sheet->widths[column];
        }
        if (HEADINGS[column].group != NULL)
            sheet->groups[column] =
                column == COLUMN_TIME_REAL
                    ? res_printf("%s%s", HEADINGS[column].group,
                                 res_text_columns(baseline) <= BASELINE_COLUMNS ? baseline : "baseline")
                    : res_strdup(HEADINGS[column].group);
    }
    for (size_t column = 0; column < COLUMN_COUNT; column++) {
        if (sheet->groups[column] == NULL)
            continue;
        const size_t needed = res_text_columns(sheet->groups[column]), width = group_width(sheet, column);
        if (needed > width)
            sheet->widths[column] += needed - width;
    }
    sheet->names_above = sheet_width(sheet) > RES_TABLE_COLUMNS;
    if (sheet->names_above)
        sheet->widths[COLUMN_NAME] = 0;
}

/* The first column of a row, or the line above it. */
static void print_name(const struct sheet *sheet, struct res_text *text, const char *name)
{
    res_text_add(text, name, strlen(name));
    if (sheet->names_above)
        res_lines_end(text);
    else
        res_lines_pad(text, sheet->widths[COLUMN_NAME] - res_text_columns(name));
}

static void print_cell(const struct sheet *sheet, struct res_text *text, size_t column, const char *cell)
{
    const bool right = column != COLUMN_SIGN && column != COLUMN_TIME_RANGE;
    const size_t blanks = sheet->widths[column] - res_text_columns(cell);
    res_lines_pad(text, HEADINGS[column].gap + (right ? blanks : 0));
    res_text_add(text, cell, strlen(cell));
    res_lines_pad(text, right ? 0 : blanks);
}

static void print_sheet(const struct sheet *sheet, struct res_text *text)
{
    if (sheet->names_above)
        print_name(sheet, text, HEADINGS[COLUMN_NAME].name);
    res_lines_pad(text, sheet->widths[COLUMN_NAME]);
    for (size_t column = 1; column < COLUMN_COUNT; column++) {
        if (sheet->groups[column] == NULL)
            continue;
        res_lines_pad(text, HEADINGS[column].gap);
        res_text_add(text, sheet->groups[column], strlen(sheet->groups[column]));
        res_lines_pad(text, group_width(sheet, column) - res_text_columns(sheet->groups[column]));
    }
    res_lines_end(text);
    if (!sheet->names_above)
        print_name(sheet, text, HEADINGS[COLUMN_NAME].name);
    for (size_t column = 1; column < COLUMN_COUNT; column++)
        print_cell(sheet, text, column, HEADINGS[column].name);
    res_lines_end(text);
    for (size_t row = 0; row < sheet->rows; row++) {
        print_name(sheet, text, sheet->cells[row][COLUMN_NAME]);
        for (size_t column = 1; column < COLUMN_COUNT; column++)
            print_cell(sheet, text, column, sheet->cells[row][column]);
        res_lines_end(text);
    }
}

char *res_validation_text(const json_t *result, const struct res_style *style)
{
    const json_t *about = json_object_get(result, "validation"),
                 *candidates = json_object_get(result, "candidates");
    struct sheet *sheet = NULL;
    struct res_text text = {0};
    size_t index;
    json_t *candidate;
    (void)style; /* neither colour nor signs beyond ASCII so far */
    if (about == NULL)
        return NULL;
    char *baseline = res_cell_plain(result, "baseline", "?");
    const double baseline_ns = res_cell_number(json_object_get(json_array_get(candidates, 0), "real"),
                                               "cpu_ns");
    sheet = res_calloc(1, sizeof *sheet);
    json_array_foreach(candidates, index, candidate)
    {
        if (sheet->rows < ROWS_MAX)
            fill_row(sheet, candidate, baseline_ns, index == 0);
    }
    measure(sheet, baseline);
    print_sheet(sheet, &text);
    res_text_add(&text, "\n", 1);
    res_reality_text(&text, candidates);
    res_validation_notes(&text, result, about);
    res_validation_small(&text, candidates);
    res_validation_disturbed(&text, candidates);
    res_validation_spread(&text, candidates);
    res_recordings_text(&text, about, candidates);
    res_notes_placement(&text, json_array_get(json_object_get(result, "workloads"), 0));
    res_validation_failures(&text, candidates);
    res_validation_bars(&text, result);
    for (size_t row = 0; row < sheet->rows; row++)
        for (size_t column = 0; column < COLUMN_COUNT; column++)
            free(sheet->cells[row][column]);
    for (size_t column = 0; column < COLUMN_COUNT; column++)
        free(sheet->groups[column]);
    free(sheet);
    free(baseline);
    return text.text;
}
