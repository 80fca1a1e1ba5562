/* validation_table.c - reality beside prediction, aligned. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/cells.h"
#include "results/layout.h"
#include "results/notes.h"
#include "results/support.h"
#include "results/validation/reality_report.h"
#include "results/validation/recordings_report.h"
#include "results/validation/validation_report.h"

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
};

#define ROWS_MAX (sizeof((struct sheet *)0)->cells / sizeof((struct sheet *)0)->cells[0])

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

static void measure(struct sheet *sheet, const char *baseline)
{
    for (size_t column = 0; column < COLUMN_COUNT; column++) {
        sheet->widths[column] = res_text_columns(HEADINGS[column].name);
        for (size_t row = 0; row < sheet->rows; row++) {
            const size_t width = res_text_columns(sheet->cells[row][column]);
            sheet->widths[column] = width > sheet->widths[column] ? width : sheet->widths[column];
        }
        if (HEADINGS[column].group != NULL)
            sheet->groups[column] = column == COLUMN_TIME_REAL
                                        ? res_printf("%s%s", HEADINGS[column].group, baseline)
                                        : res_strdup(HEADINGS[column].group);
    }
    for (size_t column = 0; column < COLUMN_COUNT; column++) {
        if (sheet->groups[column] == NULL)
            continue;
        const size_t needed = res_text_columns(sheet->groups[column]), width = group_width(sheet, column);
        if (needed > width)
            sheet->widths[column] += needed - width;
    }
}

static void print_cell(const struct sheet *sheet, struct res_text *text, size_t column, const char *cell)
{
    const bool right = column != COLUMN_NAME && column != COLUMN_SIGN && column != COLUMN_TIME_RANGE;
    const size_t blanks = sheet->widths[column] - res_text_columns(cell);
    res_layout_pad(text, HEADINGS[column].gap + (right ? blanks : 0));
    res_text_add(text, cell, strlen(cell));
    res_layout_pad(text, right ? 0 : blanks);
}

static void print_sheet(const struct sheet *sheet, struct res_text *text)
{
    for (size_t column = 0; column < COLUMN_COUNT; column++) {
        if (sheet->groups[column] == NULL)
            continue;
        res_layout_pad(text, HEADINGS[column].gap);
        res_text_add(text, sheet->groups[column], strlen(sheet->groups[column]));
        res_layout_pad(text, group_width(sheet, column) - res_text_columns(sheet->groups[column]));
    }
    res_layout_end_line(text);
    for (size_t column = 0; column < COLUMN_COUNT; column++)
        print_cell(sheet, text, column, HEADINGS[column].name);
    res_layout_end_line(text);
    for (size_t row = 0; row < sheet->rows; row++) {
        for (size_t column = 0; column < COLUMN_COUNT; column++)
            print_cell(sheet, text, column, sheet->cells[row][column]);
        res_layout_end_line(text);
    }
}

/* ---- words ---------------------------------------------------------------------------------- */

/* Behind a bar, where it is one of memory: how many of its figures lie within what real runs did. */
static void add_within(struct res_text *text, const json_t *within, const char *key)
{
    const json_t *one = json_object_get(within, key);
    const json_int_t checked = json_integer_value(json_object_get(one, "checked"));
    if (checked > 0)
        res_text_printf(text, "; within reality's own range: %lld of %lld",
                        (long long)json_integer_value(json_object_get(one, "met")), (long long)checked);
}

static void add_bar(struct res_text *text, const json_t *about, const char *key, const char *words,
                    const char *none)
{
    const json_t *bars = json_object_get(about, "bars");
    const json_t *bar = json_object_get(bars, key);
    const json_int_t checked = json_integer_value(json_object_get(bar, "checked"));
    const json_int_t met = json_integer_value(json_object_get(bar, "met"));
    if (checked == 0)
        res_text_printf(text, "  %-6s  %s: %s", "-", words, none);
    else
        res_text_printf(text, "  %-6s  %s: %lld of %lld", met == checked ? "met" : "MISSED", words,
                        (long long)met, (long long)checked);
    add_within(text, json_object_get(about, "within_reality"), key);
    res_layout_end_line(text);
}

static double worst(const json_t *candidates, const char *key)
{
    double found = NAN;
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        const double error = res_cell_number(json_object_get(candidate, "error"), key);
        if (isfinite(error) && !(fabs(error) <= fabs(found)))
            found = error;
    }
    return found;
}

static void add_summary(struct res_text *text, const json_t *about, const json_t *candidates)
{
    char *within = res_reality_words(json_object_get(about, "within_reality"));
    char *total = res_cell_percent(worst(candidates, "peak_total") + 1);
    char *heap = res_cell_percent(worst(candidates, "peak_heap") + 1);
    res_text_printf(
        text, "fidelity    Of the peaks the prediction furthest off is %s in total, %s in the heap's part.\n",
        total, heap);
    if (within != NULL)
        res_text_printf(text, "            Of all figures %s lie within the range of the real runs.\n",
                        within);
    free(within);
    free(total);
    free(heap);
}

/* "8 rounds", "1 round, stopped before the 8 asked for" */
static char *rounds_words(const json_t *result, const json_t *about)
{
    const json_int_t rounds = json_integer_value(json_object_get(about, "rounds"));
    const json_int_t asked = json_integer_value(json_object_get(result, "rounds_asked"));
    char *stopped = json_is_true(json_object_get(about, "stopped")) && rounds < asked
                        ? res_printf(", stopped before the %lld asked for", (long long)asked)
                        : res_strdup("");
    char *words = res_printf("%lld round%s%s", (long long)rounds, rounds == 1 ? "" : "s", stopped);
    free(stopped);
    return words;
}

static void add_notes(struct res_text *text, const json_t *result, const json_t *about)
{
    char *rounds = rounds_words(result, about);
    char *process = res_cell_plain(about, "process", "?"), *by = res_cell_plain(about, "timed_by", "?");
    const char *of = json_string_value(json_object_get(about, "time_of"));
    const char *heap = json_string_value(json_object_get(about, "heap_told_by"));
    const double alike = res_cell_number(about, "processes_alike");
    if (of != NULL && strcmp(of, "process") == 0)
        res_text_printf(text, "time        user and system of '%s' alone, one of several processes; %s\n",
                        process, rounds);
    else
        res_text_printf(text, "time        user and system of the whole command, by %s; %s\n", by, rounds);
    if (alike > 1)
        res_text_printf(text,
                        "processes   %.0f go by the name '%s': predicted is the one with most calls when it "
                        "was recorded, "
                        "compared the\n            one with the most memory of each real run; if these are "
                        "two, the errors "
                        "are not the prediction's\n",
                        alike, process);
    if (heap != NULL && strcmp(heap, "name") == 0)
        res_text_printf(text,
                        "heap        with what the program maps itself: libmallab-apart.so is not there\n");
    free(rounds);
    free(process);
    free(by);
}

/* No prediction can be nearer to reality than reality is to itself. Means are over wall time, which other work moves. */
static void add_spread(struct res_text *text, const json_t *candidates)
{
    double mean = NAN, end = NAN;
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        const json_t *runs = json_object_get(json_object_get(candidate, "real"), "mapped_runs");
        mean = fmax(mean, res_samples_spread(runs, "heap_mean_bytes")); /* of a NAN and a number the number */
        end = fmax(end, res_samples_spread(runs, "heap_end_bytes"));
    }
    if (isfinite(mean) && isfinite(end))
        res_text_printf(
            text,
            "spread      real runs of one candidate differ by up to %.1f %% in the heap's mean, %.1f %% "
            "at its end\n",
            100 * mean, 100 * end);
}

static void add_failures(struct res_text *text, const json_t *candidates)
{
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        if (!json_is_string(json_object_get(candidate, "failed")))
            continue;
        char *name = res_cell_plain(candidate, "name", "?"), *why = res_cell_plain(candidate, "failed", "?");
        res_text_printf(text, "failed      %s: %s\n", name, why);
        free(name);
        free(why);
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
    add_notes(&text, result, about);
    add_spread(&text, candidates);
    res_recordings_text(&text, about, candidates);
    res_notes_placement(&text, json_array_get(json_object_get(result, "workloads"), 0));
    add_failures(&text, candidates);
    res_text_printf(&text, "bars        what mallab asks of its own predictions\n");
    add_bar(&text, about, "peak_total", "peak within 3 % in total", "no figure");
    add_bar(&text, about, "peak_heap", "peak within 10 % in the heap's part", "no figure");
    add_bar(&text, about, "memory_order", "order of candidates whose real peaks differ by more than 5 %",
            "none differ so much");
    add_bar(&text, about, "time_sign", "sign of real time differences",
            "none beyond the noise, or fewer than 8 rounds");
    add_summary(&text, about, candidates);
    for (size_t row = 0; row < sheet->rows; row++)
        for (size_t column = 0; column < COLUMN_COUNT; column++)
            free(sheet->cells[row][column]);
    for (size_t column = 0; column < COLUMN_COUNT; column++)
        free(sheet->groups[column]);
    free(sheet);
    free(baseline);
    return text.text;
}
