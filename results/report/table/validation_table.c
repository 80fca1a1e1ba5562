/* validation_table.c - reality beside prediction as a table, and the lines below it. */
#include "results/report/table/validation_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "results/measure/validate/fidelity.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/notes.h"

#define BASELINE_COLUMNS 12u /* a longer name would make the columns of time wider than they are */

/* ---- the table ------------------------------------------------------------------------------- */

static char *cell_megabytes(double bytes)
{
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

static void add_row(struct res_grid *grid, const struct res_validated_candidate *candidate,
                    double baseline_ns, bool is_baseline)
{
    const struct res_validated_real *real = &candidate->real;
    const struct res_validated_prediction *predicted = &candidate->predicted;
    const struct res_validated_error *error = &candidate->error;
    res_grid_add(grid, candidate->name);
    res_grid_own(grid, cell_megabytes(real->total_peak_bytes));
    res_grid_own(grid, cell_megabytes(predicted->total_peak_bytes));
    res_grid_add(grid, RES_PERCENT(error->total_peak + 1));
    res_grid_own(grid, cell_megabytes(real->heap_peak_bytes));
    res_grid_own(grid, cell_megabytes(predicted->heap_peak_bytes));
    res_grid_add(grid, RES_PERCENT(error->heap_peak + 1));
    if (is_baseline) {
        res_grid_own(grid,
                     isfinite(baseline_ns) ? res_printf("%.0f ms", baseline_ns / 1e6) : res_strdup("-"));
        for (size_t i = 0; i < 3; i++)
            res_grid_add(grid, NULL);
        return;
    }
    res_grid_own(grid, cell_milliseconds(real->time_difference_ns));
    res_grid_own(grid, cell_range(real->time_interval.low, real->time_interval.high, baseline_ns));
    res_grid_own(grid, cell_milliseconds(predicted->time_difference_ns));
    res_grid_add(grid, RES_SIGNS[error->time_sign]);
}

static void grid_begin(struct res_grid *grid, const char *baseline)
{
    char *time = res_printf("CPU time against %s",
                            res_text_columns(baseline) <= BASELINE_COLUMNS ? baseline : "baseline");
    const char *const all = "peak, all, MB", *const heap = "peak, heap, MB";
    const struct res_column columns[] = {
        {.heading = "candidate", .own_line = true},
        {.heading = "real", .group = all, .right = true, .gap = 2},
        {.heading = "pred.", .group = all, .right = true, .gap = 1},
        {.heading = "error", .group = all, .right = true, .gap = 1},
        {.heading = "real", .group = heap, .right = true, .gap = 2},
        {.heading = "pred.", .group = heap, .right = true, .gap = 1},
        {.heading = "error", .group = heap, .right = true, .gap = 1},
        {.heading = "real", .group = time, .right = true, .gap = 2},
        {.heading = "95 % range", .group = time, .gap = 1},
        {.heading = "pred.", .group = time, .right = true, .gap = 1},
        {.heading = "sign", .group = time, .gap = 1},
    };
    res_grid_begin(grid, columns, sizeof columns / sizeof columns[0]);
    free(time);
}

static void add_table(struct res_text *text, const struct res_result *result, const struct res_style *style)
{
    struct res_grid grid;
    grid_begin(&grid, result->baseline);
    for (size_t i = 0; i < result->validated_count; i++)
        add_row(&grid, &result->validated[i],
                res_validated_cpu_ns(result->validation, &result->validated[0].real), i == 0);
    res_grid_text(&grid, style, text);
    res_text_add(text, "\n", 1);
    res_grid_release(&grid);
}

/* ---- what the figures are of ----------------------------------------------------------------- */

static void add_time(struct res_text *text, const struct res_result *result)
{
    const struct res_validated *about = result->validation;
    char of_whom[256], until[64] = "";
    if (about->time_of == RES_TIME_OF_PROCESS)
        snprintf(of_whom, sizeof of_whom, "'%s' alone, %s", about->process != NULL ? about->process : "?",
                 about->group_processes > 0 ? "a group of processes among others"
                                            : "one of several processes");
    else
        snprintf(of_whom, sizeof of_whom, "the whole command, by %s", RES_TIMED_BY[about->timed_by]);
    if (about->stopped && about->rounds < result->rounds_asked)
        snprintf(until, sizeof until, ", stopped before the %llu asked for",
                 (unsigned long long)result->rounds_asked);
    res_lines_printf(text, "time", "user and system of %s; %llu pair%s of runs%s", of_whom,
                     (unsigned long long)about->rounds, about->rounds == 1 ? "" : "s", until);
}

static void add_small(struct res_text *text, const struct res_result *result)
{
    struct res_text names = {0};
    for (size_t i = 0; i < result->validated_count; i++)
        if (result->validated[i].error.heap_is_small)
            res_text_printf(&names, "%s%s", names.length > 0 ? ", " : "", result->validated[i].name);
    if (names.length > 0)
        res_lines_printf(
            text, "heap",
            "below 256 KiB, and so too small to judge: %s. A tenth of that is six pages, and what "
            "counts as heap is not told so finely",
            names.text);
    free(names.text);
}

static void add_disturbed(struct res_text *text, const struct res_result *result)
{
    struct res_text names = {0};
    for (size_t i = 0; i < result->validated_count; i++) {
        const double by = result->validated[i].real.disturbed_by;
        if (fabs(by) > 0)
            res_text_printf(&names, "%s%s %s", names.length > 0 ? ", " : "", result->validated[i].name,
                            RES_PERCENT(by + 1));
    }
    if (names.length > 0)
        res_lines_printf(
            text, "mappings",
            "reading them changed what the program held at its peak: %s; the heap's real figures "
            "there are of runs without, less what is not heap in runs with",
            names.text);
    free(names.text);
}

static void add_basis(struct res_text *text, const struct res_result *result)
{
    const struct res_validated *about = result->validation;
    add_time(text, result);
    if (about->group_processes > 0)
        res_lines_printf(
            text, "processes",
            "%llu of the name '%s', predicted and compared together: what those alive at once held",
            (unsigned long long)about->group_processes, about->process != NULL ? about->process : "?");
    else if (about->processes_alike > 1)
        res_lines_printf(
            text, "processes",
            "%llu go by the name '%s': predicted is the one with most calls when it was recorded, "
            "compared the one with the most memory of each real run; if these are two, the errors "
            "are not the prediction's",
            (unsigned long long)about->processes_alike, about->process != NULL ? about->process : "?");
    if (about->heap_told_by == RES_HEAP_BY_NAME)
        res_lines_add(text, "heap", "with what the program maps itself: libmallab-apart.so is not there");
    add_small(text, result);
    add_disturbed(text, result);
}

static void add_failures(struct res_text *text, const struct res_result *result)
{
    for (size_t i = 0; i < result->validated_count; i++)
        if (result->validated[i].failed != NULL)
            res_lines_printf(text, "failed", "%s: %s", result->validated[i].name,
                             result->validated[i].failed);
}

/* ---- bars ------------------------------------------------------------------------------------ */

/* words: what the bar asks; none: why nothing is judged by it. */
static void add_bar(struct res_text *text, const struct res_bar *bar, const char *words, const char *none)
{
    if (bar->checked == 0)
        res_text_printf(text, "  %-6s  %s: %s", "-", words, none);
    else
        res_text_printf(text, "  %-6s  %s: %llu of %llu", bar->met == bar->checked ? "met" : "MISSED", words,
                        (unsigned long long)bar->met, (unsigned long long)bar->checked);
    res_lines_end(text);
}

/* The error of one figure that is furthest from 0.
 * at  where in struct res_validated_error it lies. */
static double worst(const struct res_result *result, size_t at)
{
    double found = NAN;
    for (size_t i = 0; i < result->validated_count; i++) {
        const double error = *(const double *)((const char *)&result->validated[i].error + at);
        if (isfinite(error) && !(fabs(error) <= fabs(found)))
            found = error;
    }
    return found;
}

/* What a replay cannot know, where it may be why a bar of memory was missed by a prediction that
 * was too high. */
static void add_cause(struct res_text *text, const struct res_result *result)
{
    bool too_high = false;
    for (size_t i = 0; i < result->validated_count; i++) {
        const struct res_validated_error *error = &result->validated[i].error;
        const double heap = error->heap_peak;
        too_high = too_high || heap > RES_BAR_HEAP || (heap > 0 && error->total_peak > RES_BAR_TOTAL);
    }
    if (too_high && result->touch != NULL && strcmp(result->touch, "page") == 0)
        res_lines_add(text, "too high",
                      "maybe by objects below 16 KiB that the program never wrote: a replay writes to all "
                      "their pages; --touch none is the other bound (docs/fidelity.md)");
}

char *res_validation_summary(const struct res_result *result)
{
    const double total = worst(result, offsetof(struct res_validated_error, total_peak)),
                 heap = worst(result, offsetof(struct res_validated_error, heap_peak));
    const bool is_near = fabs(total) <= RES_BAR_TOTAL && !(fabs(heap) > RES_BAR_HEAP);
    char of_heap[64] = "";
    if (isfinite(heap))
        snprintf(of_heap, sizeof of_heap, ", %s in the heap's part", RES_PERCENT(heap + 1));
    return res_printf("Of the peaks the prediction furthest off is %s in total%s.%s", RES_PERCENT(total + 1),
                      of_heap,
                      !isfinite(total) ? ""
                      : is_near        ? " Both are within what mallab asks of itself."
                                       : " Do not decide by what is beyond its bar.");
}

/* Why no bar is judged; NULL: they are. */
static const char *unjudged_words(const struct res_result *result)
{
    if (result->validation->processes_alike > 1 && result->validation->group_processes == 0)
        return "none is judged: several processes go by that name, and whether the one that is predicted is "
               "the one that is compared cannot be told";
    for (size_t i = 0; i < result->validated_count; i++) {
        const struct res_validated_real *real = &result->validated[i].real;
        if (isfinite(real->total_peak_bytes) || isfinite(real->cpu_ns) || isfinite(real->process_cpu_ns))
            return NULL;
    }
    return "none is judged: no real run came through";
}

static void add_bars(struct res_text *text, const struct res_result *result)
{
    const struct res_validated *about = result->validation;
    const char *unjudged = unjudged_words(result);
    if (unjudged != NULL) {
        res_lines_add(text, "bars", unjudged);
        return;
    }
    res_lines_add(text, "bars", "what mallab asks of its own predictions");
    add_bar(text, &about->bars.peak_total, "peak within 3 % in total", "no figure");
    add_bar(text, &about->bars.peak_heap, "peak within 10 % in the heap's part",
            "no figure, or too small to judge");
    add_bar(text, &about->bars.time_sign, "sign of real time differences",
            "none beyond the noise, or fewer than 8 pairs");
    add_cause(text, result);
    char *summary = res_validation_summary(result);
    res_lines_add(text, "fidelity", summary);
    free(summary);
}

static void add_advice(struct res_text *text, const char *label, const struct res_advised *advised,
                       const char *what)
{
    if (advised->shown == RES_ADVICE_NONE || advised->candidate == NULL)
        res_lines_printf(text, label, "%s: none", what);
    else
        res_lines_printf(text, label, "%s: %s saves %.1f %% of the process: %s", what, advised->candidate,
                         100 * advised->of_process, RES_ADVICE_SHOWN[advised->shown]);
}

char *res_validation_text(const struct res_result *result, const struct res_style *style)
{
    struct res_text text = {0};
    if (result->validation == NULL)
        return NULL;
    add_table(&text, result, style);
    add_basis(&text, result);
    add_failures(&text, result);
    add_bars(&text, result);
    if (result->confirmed_count > 0) { /* results of before do not say */
        add_advice(&text, "advice", &result->validation->advice.time, "time");
        add_advice(&text, "", &result->validation->advice.peak, "peak");
    }
    return text.text;
}
