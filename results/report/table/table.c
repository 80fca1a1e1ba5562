/* table.c - the aligned table of a result. */
#include "results/report/table/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/base/support.h"
#include "results/measure/figures/entry_figures.h"
#include "results/measure/figures/memory_limit.h"
#include "results/measure/figures/pareto.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/notes.h"

enum column {
    COLUMN_NAME,
    COLUMN_VERSION,
    COLUMN_QUIET,
    COLUMN_TYPICAL,
    COLUMN_DIFFERENCE,
    COLUMN_INTERVAL,
    COLUMN_VERDICT,
    COLUMN_P99,
    COLUMN_P99_9,
    COLUMN_PEAK, /* from here on the block of memory */
    COLUMN_MEAN,
    COLUMN_END,
    COLUMN_IDLE,
    COLUMN_PEAK_DIFFERENCE,
    COLUMN_BLOW_UP,
    COLUMN_FAULTS,
    COLUMN_COUNT,
};

/* All columns side by side would be wider than a page: time stands above memory, each with the names. */
enum block {
    BLOCK_TIME,
    BLOCK_MEMORY,
    BLOCK_COUNT,
};

/* Groups stand above their first column and reach over the following ones. */
struct heading {
    const char *group;
    const char *name;
    bool right;
    unsigned gap; /* blanks before the column */
};

static const struct heading HEADINGS[COLUMN_COUNT] = {
    [COLUMN_NAME] = {"", "candidate", false, 0},
    [COLUMN_VERSION] = {"", "version", false, 2},
    [COLUMN_QUIET] = {"ns per op", "quiet", true, 2},
    [COLUMN_TYPICAL] = {NULL, "typical", true, 2},
    [COLUMN_DIFFERENCE] = {"time against ", "change", true, 2},
    [COLUMN_INTERVAL] = {NULL, "95 % range", false, 1},
    [COLUMN_VERDICT] = {NULL, "verdict", false, 1},
    [COLUMN_P99] = {"a call, ns", "p99", true, 2},
    [COLUMN_P99_9] = {NULL, "p99.9", true, 1},
    [COLUMN_PEAK] = {"resident, ", "peak", true, 2},
    [COLUMN_MEAN] = {NULL, "mean", true, 1},
    [COLUMN_END] = {NULL, "end", true, 1},
    [COLUMN_IDLE] = {NULL, "idle", true, 1},
    [COLUMN_PEAK_DIFFERENCE] = {"peak against", "", true, 2},
    [COLUMN_BLOW_UP] = {"peak over", "live", true, 2},
    [COLUMN_FAULTS] = {"page", "faults", true, 2},
};

struct row {
    char *cells[COLUMN_COUNT];
    const char *verdict, *peak_verdict, *p99_verdict, *p99_9_verdict; /* for the colour; NULL: none */
    double ratio, peak_ratio;                                         /* likewise; NAN where it failed */
};

struct sheet {
    const struct res_style *style;
    const char *baseline;
    const char *unit;
    double unit_bytes;
    struct row *rows;
    size_t row_count;
    bool hidden[COLUMN_COUNT];
    size_t widths[COLUMN_COUNT];
    size_t name_widths[BLOCK_COUNT]; /* of the first column; a longer name has a line of its own */
};

#define own_ns(ns)              res_strdup(RES_NS(ns))
#define own_percent(ratio)      res_strdup(RES_PERCENT(ratio))
#define own_interval(low, high) res_strdup(RES_INTERVAL(low, high))
#define own_factor(factor)      res_strdup(RES_FACTOR(factor))
#define own_count(count)        res_strdup(RES_NUMBER(count))

/* ---- cells ---------------------------------------------------------------------------------- */

static char *cell_typical(double ns, double deviation, const struct res_style *style)
{
    char *value = own_ns(ns);
    if (!isfinite(ns) || !isfinite(deviation))
        return value;
    char *spread = own_ns(deviation);
    char *cell = res_printf("%s %s%s", value, style->utf8 ? "\u00b1" : "+-", spread);
    free(value);
    free(spread);
    return cell;
}

static char *cell_bytes(const struct sheet *sheet, double bytes)
{
    if (!isfinite(bytes))
        return res_strdup("-");
    const double value = bytes / sheet->unit_bytes;
    return res_printf(fabs(value) < 9.995 ? "%.2f" : fabs(value) < 999.95 ? "%.1f" : "%.0f", value);
}

static const char *memory_word(const char *name)
{
    const enum res_verdict verdict = res_verdict_from(name);
    return verdict == RES_UNDECIDED ? "?" : res_verdict_memory_name(verdict);
}

/* Of too few rounds an interval would have no width, and look sure. */
static char *cell_range(const json_t *workload, const json_t *time)
{
    const bool few = json_integer_value(json_object_get(workload, "rounds")) < RES_ROUNDS_FOR_INTERVAL;
    if (few && isfinite(res_cell_number(time, "ratio")))
        return res_strdup("?");
    return own_interval(res_cell_number(time, "ratio_low"), res_cell_number(time, "ratio_high"));
}

/* is_unbeaten: marked behind its name; the line below the blocks says what that is. */
static void fill_row(struct sheet *sheet, const json_t *workload, const json_t *candidate, bool is_unbeaten)
{
    struct row *row = &sheet->rows[sheet->row_count++];
    const json_t *time = json_object_get(candidate, "time");
    const json_t *resident = json_object_get(candidate, "resident");
    const json_t *latency = json_object_get(candidate, "latency");
    const bool failed = json_is_string(json_object_get(candidate, "failed"));
    char **cells = row->cells;
    row->ratio = failed ? NAN : res_cell_number(time, "ratio");
    row->peak_ratio = res_cell_number(resident, "peak_ratio");
    cells[COLUMN_NAME] = res_cell_plain(candidate, "name", "?");
    const bool is_baseline = strcmp(cells[COLUMN_NAME], sheet->baseline) == 0;
    cells[COLUMN_VERSION] = res_cell_plain(candidate, "version", "-");
    cells[COLUMN_QUIET] = own_ns(res_cell_number(time, "quiet_ns_per_op"));
    cells[COLUMN_TYPICAL] = cell_typical(res_cell_number(time, "typical_ns_per_op"),
                                         res_cell_number(time, "typical_ns_per_op_deviation"), sheet->style);
    cells[COLUMN_DIFFERENCE] = is_baseline ? res_strdup("") : own_percent(res_cell_number(time, "ratio"));
    cells[COLUMN_INTERVAL] = is_baseline ? res_strdup("") : cell_range(workload, time);
    cells[COLUMN_P99] = own_ns(res_cell_number(latency, "p99_ns"));
    cells[COLUMN_P99_9] = own_ns(res_cell_number(latency, "p99_9_ns"));
    cells[COLUMN_PEAK] = cell_bytes(sheet, res_cell_number(resident, "peak_bytes"));
    cells[COLUMN_MEAN] = cell_bytes(sheet, res_cell_number(resident, "mean_bytes"));
    cells[COLUMN_END] = cell_bytes(sheet, res_cell_number(resident, "end_bytes"));
    cells[COLUMN_IDLE] = cell_bytes(sheet, res_cell_number(resident, "idle_bytes"));
    cells[COLUMN_BLOW_UP] = own_factor(res_entry_blow_up(workload, candidate));
    cells[COLUMN_FAULTS] = own_count(res_entry_faults(candidate));
    if (failed) {
        cells[COLUMN_VERDICT] = res_strdup(
            res_failure_is_death(json_object_get(candidate, "failure")) ? "died" : "failed");
        cells[COLUMN_PEAK_DIFFERENCE] = res_strdup("-");
        row->verdict = res_verdict_name(RES_SLOWER);
    } else if (is_baseline) {
        cells[COLUMN_VERDICT] = res_strdup("baseline");
        cells[COLUMN_PEAK_DIFFERENCE] = res_strdup("baseline");
    } else {
        char *percent = own_percent(res_cell_number(resident, "peak_ratio"));
        const char *clock = json_string_value(json_object_get(resident, "clock"));
        const bool unknown = clock != NULL && strcmp(clock, "recorded") == 0 &&
                             json_is_false(json_object_get(resident, "predicted"));
        row->verdict = json_string_value(json_object_get(time, "verdict"));
        row->peak_verdict = unknown ? NULL
                                    : res_verdict_name(res_verdict_from(
                                          json_string_value(json_object_get(resident, "peak_verdict"))));
        row->p99_verdict = json_string_value(json_object_get(latency, "p99_verdict"));
        row->p99_9_verdict = json_string_value(json_object_get(latency, "p99_9_verdict"));
        const char *shown = res_cell_verdict(time, "-");
        cells[COLUMN_VERDICT] = res_text_plain(shown);
        if (strcmp(shown, RES_CELL_UNCLEAR) == 0)
            row->verdict = res_verdict_name(RES_UNDECIDED); /* for the colour */
        cells[COLUMN_PEAK_DIFFERENCE] = res_printf(
            "%s %s", percent,
            unknown ? "not predicted"
                    : memory_word(json_string_value(json_object_get(resident, "peak_verdict"))));
        free(percent);
    }
    if (is_unbeaten) {
        char *name = cells[COLUMN_NAME];
        cells[COLUMN_NAME] = res_printf("%s *", name);
        free(name);
    }
}

/* ---- the sheet ------------------------------------------------------------------------------ */

static void choose_unit(struct sheet *sheet, const json_t *candidates)
{
    double largest = 0;
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        const double peak = res_cell_number(json_object_get(candidate, "resident"), "peak_bytes");
        largest = isfinite(peak) ? fmax(largest, peak) : largest;
    }
    sheet->unit = largest < 1e6 ? "kB" : largest < 1e10 ? "MB" : "GB";
    sheet->unit_bytes = largest < 1e6 ? 1e3 : largest < 1e10 ? 1e6 : 1e9;
}

/* The last column says below its group what it is set against. */
static const char *heading_of(const struct sheet *sheet, size_t column)
{
    return column == COLUMN_PEAK_DIFFERENCE ? sheet->baseline : HEADINGS[column].name;
}

static size_t larger(size_t left, size_t right)
{
    return left > right ? left : right;
}

static char *group_text(const struct sheet *sheet, enum column column)
{
    const char *what = column == COLUMN_DIFFERENCE ? sheet->baseline
                       : column == COLUMN_PEAK     ? sheet->unit
                                                   : "";
    return res_printf("%s%s", HEADINGS[column].group, what);
}

/* Columns from this one on that stand below its group, with the gaps between them. */
static size_t group_width(const struct sheet *sheet, enum column first)
{
    size_t width = sheet->widths[first];
    for (size_t column = (size_t)first + 1; column < COLUMN_COUNT && HEADINGS[column].group == NULL;
         column++) {
        if (!sheet->hidden[column])
            width += HEADINGS[column].gap + sheet->widths[column];
    }
    return width;
}

static bool is_shown(const struct sheet *sheet, enum block block, size_t column)
{
    return !sheet->hidden[column] &&
           (column == COLUMN_NAME || (column >= COLUMN_PEAK) == (block == BLOCK_MEMORY));
}

static size_t width_of(const struct sheet *sheet, enum block block, size_t column)
{
    return column == COLUMN_NAME ? sheet->name_widths[block] : sheet->widths[column];
}

/* What the other columns leave of a line to the names is theirs, and the longest that fits sets the column. Returns whether
 * there is room for its heading at least. */
static bool fit_names(struct sheet *sheet, enum block block)
{
    const size_t heading = res_text_columns(HEADINGS[COLUMN_NAME].name);
    size_t others = 0, width = heading;
    for (size_t column = COLUMN_NAME + 1; column < COLUMN_COUNT; column++)
        others += is_shown(sheet, block, column) ? HEADINGS[column].gap + sheet->widths[column] : 0;
    for (size_t i = 0; i < sheet->row_count; i++) {
        const size_t own = res_text_columns(sheet->rows[i].cells[COLUMN_NAME]);
        width = own + others <= RES_TABLE_COLUMNS ? larger(width, own) : width;
    }
    sheet->name_widths[block] = width;
    return heading + others <= RES_TABLE_COLUMNS;
}

/* The widths of all columns. Returns whether both blocks fit into a page. */
static bool measure(struct sheet *sheet)
{
    for (size_t column = 0; column < COLUMN_COUNT; column++) {
        sheet->widths[column] = res_text_columns(heading_of(sheet, column));
        for (size_t i = 0; i < sheet->row_count; i++)
            sheet->widths[column] = larger(sheet->widths[column],
                                           res_text_columns(sheet->rows[i].cells[column]));
    }
    for (size_t column = 0; column < COLUMN_COUNT; column++) {
        if (HEADINGS[column].group != NULL && !sheet->hidden[column]) {
            char *group = group_text(sheet, (enum column)column);
            const size_t needed = res_text_columns(group);
            const size_t width = group_width(sheet, (enum column)column);
            size_t last = column;
            while (last + 1 < COLUMN_COUNT && HEADINGS[last + 1].group == NULL)
                last++;
            while (sheet->hidden[last])
                last--;
            if (needed > width)
                sheet->widths[last] += needed - width;
            free(group);
        }
    }
    const bool time_fits = fit_names(sheet, BLOCK_TIME), memory_fits = fit_names(sheet, BLOCK_MEMORY);
    return time_fits && memory_fits;
}

static const char *colour_of(const char *verdict)
{
    if (verdict == NULL)
        return NULL;
    if (strcmp(verdict, res_verdict_name(RES_FASTER)) == 0)
        return "\033[32m";
    if (strcmp(verdict, res_verdict_name(RES_SLOWER)) == 0)
        return "\033[31m";
    return strcmp(verdict, res_verdict_name(RES_UNDECIDED)) == 0 ? "\033[33m" : NULL;
}

/* Of a column without words: no colour for doubt, which nothing would explain. */
static const char *colour_of_shown(const char *verdict)
{
    return res_verdict_from(verdict) >= RES_FASTER ? colour_of(verdict) : NULL;
}

/* A difference that is shown, and too small to act on, keeps its word; it is neither good nor bad. */
static const char *colour_of_change(const char *verdict, double ratio)
{
    const bool shown = res_verdict_from(verdict) >= RES_FASTER;
    return shown && fabs(ratio - 1) < RES_COLOUR_LEAST ? NULL : colour_of(verdict);
}

static void print_cell(const struct sheet *sheet, struct res_text *text, enum block block, enum column column,
                       const char *cell, const char *colour)
{
    const size_t width = width_of(sheet, block, column);
    if (res_text_columns(cell) > width) { /* a name too long for its column */
        res_text_printf(text, "%s\n", cell);
        cell = "";
    }
    const size_t blanks = width - res_text_columns(cell);
    res_lines_pad(text, HEADINGS[column].gap + (HEADINGS[column].right ? blanks : 0));
    res_text_printf(text, "%s%s%s", colour != NULL ? colour : "", cell, colour != NULL ? "\033[0m" : "");
    res_lines_pad(text, HEADINGS[column].right ? 0 : blanks);
}

static const char *colour_in(const struct sheet *sheet, const struct row *row, size_t column)
{
    if (!sheet->style->colour)
        return NULL;
    return column == COLUMN_VERDICT           ? colour_of_change(row->verdict, row->ratio)
           : column == COLUMN_PEAK_DIFFERENCE ? colour_of_change(row->peak_verdict, row->peak_ratio)
           : column == COLUMN_P99             ? colour_of_shown(row->p99_verdict)
           : column == COLUMN_P99_9           ? colour_of_shown(row->p99_9_verdict)
                                              : NULL;
}

static void print_block(const struct sheet *sheet, struct res_text *text, enum block block)
{
    for (size_t column = 0; column < COLUMN_COUNT; column++) {
        if (HEADINGS[column].group == NULL || !is_shown(sheet, block, column))
            continue;
        char *group = group_text(sheet, (enum column)column);
        res_lines_pad(text, HEADINGS[column].gap);
        res_text_printf(text, "%s", group);
        const size_t width = column == COLUMN_NAME ? sheet->name_widths[block]
                                                   : group_width(sheet, (enum column)column);
        res_lines_pad(text, width - res_text_columns(group));
        free(group);
    }
    res_lines_end(text);
    for (size_t column = 0; column < COLUMN_COUNT; column++) {
        if (is_shown(sheet, block, column))
            print_cell(sheet, text, block, (enum column)column, heading_of(sheet, column), NULL);
    }
    res_lines_end(text);
    for (size_t i = 0; i < sheet->row_count; i++) {
        const struct row *row = &sheet->rows[i];
        for (size_t column = 0; column < COLUMN_COUNT; column++) {
            if (is_shown(sheet, block, column))
                print_cell(sheet, text, block, (enum column)column, row->cells[column],
                           colour_in(sheet, row, column));
        }
        res_lines_end(text);
    }
}

static void sheet_release(struct sheet *sheet)
{
    for (size_t i = 0; i < sheet->row_count; i++) {
        for (size_t column = 0; column < COLUMN_COUNT; column++)
            free(sheet->rows[i].cells[column]);
    }
    free(sheet->rows);
}

/* Where names of one letter would not make room. Never the range: a change without it says nothing. Returns what is said of
 * it, NULL: nothing is left out. */
static char *leave_out(struct sheet *sheet)
{
    static const enum column expendable[] = {COLUMN_VERSION, COLUMN_END, COLUMN_FAULTS};
    struct res_text words = {0};
    for (size_t i = 0; !measure(sheet) && i < sizeof expendable / sizeof expendable[0]; i++) {
        const enum column column = expendable[i];
        sheet->hidden[column] = true;
        res_text_printf(&words, "%s%s%s", words.text != NULL ? ", " : "",
                        column == COLUMN_FAULTS ? "page " : "", HEADINGS[column].name);
    }
    if (words.text != NULL)
        res_text_printf(&words, ", for want of room: --format md and --json have all");
    return words.text;
}

static void add_sheet(struct res_text *text, const char *baseline, const json_t *workload,
                      const struct res_style *style)
{
    const json_t *candidates = json_object_get(workload, "candidates");
    struct sheet sheet = {
        .style = style,
        .baseline = baseline,
        .rows = res_calloc(json_array_size(candidates), sizeof *sheet.rows),
    };
    json_t *pareto = res_pareto(workload);
    bool any_unbeaten = false;
    size_t index;
    json_t *candidate;
    choose_unit(&sheet, candidates);
    sheet.hidden[COLUMN_P99] = sheet.hidden[COLUMN_P99_9] = true;
    json_array_foreach(candidates, index, candidate)
    {
        const bool is_unbeaten = res_pareto_is_unbeaten(pareto, index);
        fill_row(&sheet, workload, candidate, is_unbeaten);
        any_unbeaten = any_unbeaten || is_unbeaten;
        if (json_is_object(json_object_get(candidate, "latency")))
            sheet.hidden[COLUMN_P99] = sheet.hidden[COLUMN_P99_9] = false;
    }
    char *left_out = leave_out(&sheet);
    print_block(&sheet, text, BLOCK_TIME);
    res_text_add(text, "\n", 1);
    print_block(&sheet, text, BLOCK_MEMORY);
    if (any_unbeaten)
        res_text_printf(text, "* %s\n", RES_PARETO_LEGEND);
    if (left_out != NULL)
        res_lines_add(text, "left out", left_out);
    free(left_out);
    json_decref(pareto);
    sheet_release(&sheet);
}

char *res_table_text(const struct res_result *typed_result, const struct res_style *style)
{
    const json_t *result = typed_result->json;
    const json_t *workloads = json_object_get(result, "workloads");
    struct res_text text = {0};
    size_t index;
    json_t *workload;
    char *baseline = res_cell_plain(result, "baseline", "?");
    json_array_foreach(workloads, index, workload)
    {
        if (index > 0)
            res_text_add(&text, "\n", 1);
        res_notes_head(&text, workload);
        add_sheet(&text, baseline, workload, style);
        res_notes_foot(&text, result, workload, style, index + 1 == json_array_size(workloads));
    }
    free(baseline);
    return text.text != NULL ? text.text : res_strdup("no workload was replayed\n");
}
