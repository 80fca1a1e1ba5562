/* validation_table.c - reality beside prediction: as figures, and the ranges of what real runs did. */
#include "results/report/table/validation_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/base/support.h"
#include "results/report/grid/cells.h"
#include "results/report/notes/notes.h"
#include "results/report/table/validation_lines.h"

#define BASELINE_COLUMNS 12u /* a longer name would make the columns of time wider than they are */

static char *cell_megabytes(const json_t *object, const char *key)
{
    const double bytes = res_cell_number(object, key);
    return isfinite(bytes) ? res_printf(fabs(bytes) < 99.95e6 ? "%.2f" : "%.1f", bytes / 1e6)
                           : res_strdup("-");
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

static void add_row(struct res_grid *grid, const json_t *candidate, double baseline_ns, bool is_baseline)
{
    const json_t *real = json_object_get(candidate, "real"),
                 *predicted = json_object_get(candidate, "predicted");
    const json_t *error = json_object_get(candidate, "error");
    res_grid_add(grid, res_cell_string(candidate, "name", "?"));
    res_grid_own(grid, cell_megabytes(real, "peak_total_bytes"));
    res_grid_own(grid, cell_megabytes(predicted, "peak_total_bytes"));
    res_grid_add(grid, RES_PERCENT(res_cell_number(error, "peak_total") + 1));
    res_grid_own(grid, cell_megabytes(real, "peak_heap_bytes"));
    res_grid_own(grid, cell_megabytes(predicted, "peak_heap_bytes"));
    res_grid_add(grid, RES_PERCENT(res_cell_number(error, "peak_heap") + 1));
    res_grid_add(grid, RES_PERCENT(res_cell_number(error, "mean_heap") + 1));
    res_grid_add(grid, RES_PERCENT(res_cell_number(error, "end_heap") + 1));
    if (is_baseline) {
        const double ns = res_cell_number(real, "cpu_ns");
        res_grid_own(grid, isfinite(ns) ? res_printf("%.0f ms", ns / 1e6) : res_strdup("-"));
        for (size_t i = 0; i < 3; i++)
            res_grid_add(grid, NULL);
        return;
    }
    res_grid_own(grid, cell_milliseconds(res_cell_number(real, "time_difference_ns")));
    res_grid_own(grid, cell_range(res_cell_number(real, "time_ratio_low"),
                                  res_cell_number(real, "time_ratio_high"), baseline_ns));
    res_grid_own(grid, cell_milliseconds(res_cell_number(predicted, "time_difference_ns")));
    res_grid_add(grid, res_cell_string(error, "time_sign", "-"));
}

static void grid_begin(struct res_grid *grid, const char *baseline)
{
    char *time = res_printf("CPU time against %s",
                            res_text_columns(baseline) <= BASELINE_COLUMNS ? baseline : "baseline");
    const char *const all = "peak, all, MB", *const heap = "peak, heap, MB", *const error = "heap error";
    const struct res_column columns[] = {
        {.heading = "candidate", .own_line = true},
        {.heading = "real", .group = all, .right = true, .gap = 2},
        {.heading = "pred.", .group = all, .right = true, .gap = 1},
        {.heading = "error", .group = all, .right = true, .gap = 1},
        {.heading = "real", .group = heap, .right = true, .gap = 2},
        {.heading = "pred.", .group = heap, .right = true, .gap = 1},
        {.heading = "error", .group = heap, .right = true, .gap = 1},
        {.heading = "mean", .group = error, .right = true, .gap = 2},
        {.heading = "end", .group = error, .right = true, .gap = 1},
        {.heading = "real", .group = time, .right = true, .gap = 2},
        {.heading = "95 % range", .group = time, .gap = 1},
        {.heading = "pred.", .group = time, .right = true, .gap = 1},
        {.heading = "sign", .group = time, .gap = 1},
    };
    res_grid_begin(grid, columns, sizeof columns / sizeof columns[0]);
    free(time);
}

static void add_table(struct res_text *text, const json_t *result, const struct res_style *style)
{
    const json_t *candidates = json_object_get(result, "candidates");
    const double baseline_ns = res_cell_number(json_object_get(json_array_get(candidates, 0), "real"),
                                               "cpu_ns");
    struct res_grid grid;
    size_t index;
    json_t *candidate;
    grid_begin(&grid, res_cell_string(result, "baseline", "?"));
    json_array_foreach(candidates, index, candidate)
    {
        add_row(&grid, candidate, baseline_ns, index == 0);
    }
    res_grid_text(&grid, style, text);
    res_text_add(text, "\n", 1);
    res_grid_release(&grid);
}

/* ---- what real runs did ---------------------------------------------------------------------- */

#define FIGURES       4u
#define RANGE_COLUMNS (1u + 2u * FIGURES)

static const struct {
    const char *key, *words;
} SHOWN[FIGURES] = {{"peak_total", "peak, all"},
                    {"peak_heap", "peak, heap"},
                    {"mean_heap", "mean, heap"},
                    {"end_heap", "end, heap"}};

static char *megabytes(double bytes)
{
    return res_printf(fabs(bytes) < 99.95e6 ? "%.2f" : "%.1f", bytes / 1e6);
}

static char *cell_real(const json_t *range)
{
    const double low = res_cell_number(range, "low_bytes"), high = res_cell_number(range, "high_bytes");
    if (!isfinite(low) || !isfinite(high))
        return res_strdup("-");
    char *from = megabytes(low), *to = megabytes(high);
    char *cell = strcmp(from, to) == 0 ? res_strdup(from) : res_printf("%s-%s", from, to);
    free(from);
    free(to);
    return cell;
}

static char *cell_beyond(double beyond)
{
    if (!isfinite(beyond))
        return res_strdup("-");
    /* What a tenth of a per cent would round to nothing is beyond all the same, and counted so. */
    return fabs(beyond) >= 0.0005 ? res_strdup(RES_PERCENT(beyond + 1))
           : fabs(beyond) > 0     ? res_printf("%+.1g%%", 100 * beyond)
                                  : res_strdup("within");
}

static void add_range_row(struct res_grid *grid, const json_t *candidate)
{
    const json_t *ranges = json_object_get(json_object_get(candidate, "real"), "ranges");
    const json_t *beyond = json_object_get(json_object_get(candidate, "error"), "beyond_reality");
    res_grid_add(grid, res_cell_string(candidate, "name", "?"));
    for (size_t i = 0; i < FIGURES; i++) {
        res_grid_own(grid, cell_real(json_object_get(ranges, SHOWN[i].key)));
        res_grid_own(grid, cell_beyond(res_cell_number(beyond, SHOWN[i].key)));
    }
}

static void add_ranges(struct res_text *text, const json_t *candidates, const struct res_style *style)
{
    struct res_column columns[RANGE_COLUMNS] = {
        {.heading = "candidate", .group = "real, MB", .own_line = true}};
    struct res_grid grid;
    bool known = false;
    size_t index;
    json_t *candidate;
    for (size_t i = 0; i < FIGURES; i++) {
        columns[1 + 2 * i] = (struct res_column){
            .heading = "range", .group = SHOWN[i].words, .right = true, .gap = 2};
        columns[2 + 2 * i] = (struct res_column){
            .heading = "pred.", .group = SHOWN[i].words, .right = true, .gap = 1};
    }
    res_grid_begin(&grid, columns, RANGE_COLUMNS);
    json_array_foreach(candidates, index, candidate)
    {
        known = known || json_is_object(json_object_get(json_object_get(candidate, "real"), "ranges"));
        add_range_row(&grid, candidate);
    }
    if (known) {
        res_grid_text(&grid, style, text);
        res_text_add(text, "\n", 1);
    }
    res_grid_release(&grid);
}

char *res_validation_text(const struct res_result *typed_result, const struct res_style *style)
{
    const json_t *result = typed_result->json;
    const json_t *about = json_object_get(result, "validation"),
                 *candidates = json_object_get(result, "candidates");
    struct res_text text = {0};
    if (about == NULL)
        return NULL;
    add_table(&text, result, style);
    add_ranges(&text, candidates, style);
    res_validation_notes(&text, result);
    res_validation_recordings(&text, about, candidates);
    if (typed_result->workload_count > 0)
        res_notes_text(&text, typed_result->workloads[0].notes, typed_result->workloads[0].note_count, true,
                       "placement");
    res_validation_failures(&text, candidates);
    res_validation_bars(&text, result);
    return text.text;
}
