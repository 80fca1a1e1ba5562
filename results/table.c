/* table.c - the aligned table of a result, and the lines around it. */
#include "results/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/statistics.h"
#include "results/support.h"

enum column {
    COLUMN_NAME,
    COLUMN_VERSION,
    COLUMN_QUIET,
    COLUMN_TYPICAL,
    COLUMN_DIFFERENCE,
    COLUMN_INTERVAL,
    COLUMN_VERDICT,
    COLUMN_PEAK,
    COLUMN_MEAN,
    COLUMN_END,
    COLUMN_PEAK_DIFFERENCE,
    COLUMN_COUNT,
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
    [COLUMN_INTERVAL] = {NULL, "95 % of it", false, 1},
    [COLUMN_VERDICT] = {NULL, "verdict", false, 1},
    [COLUMN_PEAK] = {"resident, ", "peak", true, 2},
    [COLUMN_MEAN] = {NULL, "mean", true, 1},
    [COLUMN_END] = {NULL, "end", true, 1},
    [COLUMN_PEAK_DIFFERENCE] = {"peak against", "", true, 2},
};

struct row {
    char *cells[COLUMN_COUNT];
    const char *verdict; /* for the colour; NULL: none */
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
};

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static char *plain_of(const json_t *object, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, key));
    return res_text_plain(text != NULL ? text : otherwise);
}

/* ---- cells ---------------------------------------------------------------------------------- */

static char *cell_ns(double ns)
{
    if (!isfinite(ns))
        return res_strdup("-");
    return res_printf(ns < 9.995 ? "%.2f" : ns < 999.95 ? "%.1f" : "%.0f", ns);
}

static char *cell_typical(double ns, double deviation, const struct res_style *style)
{
    char *value = cell_ns(ns);
    if (!isfinite(ns) || !isfinite(deviation))
        return value;
    char *spread = cell_ns(deviation);
    char *cell = res_printf("%s %s%s", value, style->utf8 ? "\u00b1" : "+-", spread);
    free(value);
    free(spread);
    return cell;
}

static void print_percent(char *ret_text, size_t size, double ratio)
{
    double percent = (ratio - 1) * 100;
    if (fabs(percent) < 0.05)
        percent = 0; /* no "-0.0" */
    snprintf(ret_text, size, fabs(percent) < 99.95 ? "%+.1f" : "%+.0f", percent);
}

static char *cell_percent(double ratio)
{
    char percent[32];
    if (!isfinite(ratio))
        return res_strdup("-");
    print_percent(percent, sizeof percent, ratio);
    return res_printf("%s%%", percent);
}

static char *cell_interval(double low, double high)
{
    char ends[2][32];
    if (!isfinite(low) || !isfinite(high))
        return res_strdup("");
    print_percent(ends[0], sizeof ends[0], low);
    print_percent(ends[1], sizeof ends[1], high);
    return res_printf("[%s %s]", ends[0], ends[1]);
}

static char *cell_bytes(const struct sheet *sheet, double bytes)
{
    if (!isfinite(bytes))
        return res_strdup("-");
    const double value = bytes / sheet->unit_bytes;
    return res_printf(fabs(value) < 9.995 ? "%.2f" : fabs(value) < 999.95 ? "%.1f" : "%.0f", value);
}

/* What the verdicts of time mean for memory. */
static const char *memory_word(const char *verdict)
{
    if (verdict == NULL)
        return "?";
    if (strcmp(verdict, res_verdict_name(RES_FASTER)) == 0)
        return "less";
    if (strcmp(verdict, res_verdict_name(RES_SLOWER)) == 0)
        return "more";
    return strcmp(verdict, res_verdict_name(RES_SAME)) == 0 ? "same" : "?";
}

static void fill_row(struct sheet *sheet, const json_t *candidate)
{
    struct row *row = &sheet->rows[sheet->row_count++];
    const json_t *time = json_object_get(candidate, "time");
    const json_t *resident = json_object_get(candidate, "resident");
    const bool failed = json_is_string(json_object_get(candidate, "failed"));
    char **cells = row->cells;
    cells[COLUMN_NAME] = plain_of(candidate, "name", "?");
    const bool is_baseline = strcmp(cells[COLUMN_NAME], sheet->baseline) == 0;
    cells[COLUMN_VERSION] = plain_of(candidate, "version", "-");
    cells[COLUMN_QUIET] = cell_ns(number_of(time, "quiet_ns_per_op"));
    cells[COLUMN_TYPICAL] = cell_typical(number_of(time, "typical_ns_per_op"),
                                         number_of(time, "typical_ns_per_op_deviation"), sheet->style);
    cells[COLUMN_DIFFERENCE] = is_baseline ? res_strdup("") : cell_percent(number_of(time, "ratio"));
    cells[COLUMN_INTERVAL] = is_baseline
                                 ? res_strdup("")
                                 : cell_interval(number_of(time, "ratio_low"), number_of(time, "ratio_high"));
    cells[COLUMN_PEAK] = cell_bytes(sheet, number_of(resident, "peak_bytes"));
    cells[COLUMN_MEAN] = cell_bytes(sheet, number_of(resident, "mean_bytes"));
    cells[COLUMN_END] = cell_bytes(sheet, number_of(resident, "end_bytes"));
    if (failed) {
        cells[COLUMN_VERDICT] = res_strdup("failed");
        cells[COLUMN_PEAK_DIFFERENCE] = res_strdup("-");
        row->verdict = res_verdict_name(RES_SLOWER);
    } else if (is_baseline) {
        cells[COLUMN_VERDICT] = res_strdup("baseline");
        cells[COLUMN_PEAK_DIFFERENCE] = res_strdup("baseline");
    } else {
        char *percent = cell_percent(number_of(resident, "peak_ratio"));
        row->verdict = json_string_value(json_object_get(time, "verdict"));
        cells[COLUMN_VERDICT] = plain_of(time, "verdict", "-");
        cells[COLUMN_PEAK_DIFFERENCE] = res_printf(
            "%s %s", percent, memory_word(json_string_value(json_object_get(resident, "peak_verdict"))));
        free(percent);
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
        const double peak = number_of(json_object_get(candidate, "resident"), "peak_bytes");
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
    if (column == COLUMN_DIFFERENCE)
        return res_printf("%s%s", HEADINGS[column].group, sheet->baseline);
    if (column == COLUMN_PEAK)
        return res_printf("%s%s", HEADINGS[column].group, sheet->unit);
    return res_strdup(HEADINGS[column].group);
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

static size_t measure(struct sheet *sheet)
{
    size_t total = 0;
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
    for (size_t column = 0; column < COLUMN_COUNT; column++)
        total += sheet->hidden[column] ? 0 : HEADINGS[column].gap + sheet->widths[column];
    return total;
}

static void pad(struct res_text *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        res_text_add(text, " ", 1);
}

/* Blanks at a line's end would only be noise in a diff of two tables. */
static void end_line(struct res_text *text)
{
    while (text->length > 0 && text->text[text->length - 1] == ' ')
        text->length--;
    res_text_add(text, "\n", 1);
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

static void print_cell(const struct sheet *sheet, struct res_text *text, enum column column, const char *cell,
                       const char *colour)
{
    const size_t blanks = sheet->widths[column] - res_text_columns(cell);
    pad(text, HEADINGS[column].gap + (HEADINGS[column].right ? blanks : 0));
    res_text_printf(text, "%s%s%s", colour != NULL ? colour : "", cell, colour != NULL ? "\033[0m" : "");
    pad(text, HEADINGS[column].right ? 0 : blanks);
}

static void print_sheet(const struct sheet *sheet, struct res_text *text)
{
    for (size_t column = 0; column < COLUMN_COUNT; column++) {
        if (HEADINGS[column].group == NULL || sheet->hidden[column])
            continue;
        char *group = group_text(sheet, (enum column)column);
        pad(text, HEADINGS[column].gap);
        res_text_printf(text, "%s", group);
        pad(text, group_width(sheet, (enum column)column) - res_text_columns(group));
        free(group);
    }
    end_line(text);
    for (size_t column = 0; column < COLUMN_COUNT; column++) {
        if (!sheet->hidden[column])
            print_cell(sheet, text, (enum column)column, heading_of(sheet, column), NULL);
    }
    end_line(text);
    for (size_t i = 0; i < sheet->row_count; i++) {
        const struct row *row = &sheet->rows[i];
        for (size_t column = 0; column < COLUMN_COUNT; column++) {
            const char *colour = column == COLUMN_VERDICT && sheet->style->colour ? colour_of(row->verdict)
                                                                                  : NULL;
            if (!sheet->hidden[column])
                print_cell(sheet, text, (enum column)column, row->cells[column], colour);
        }
        end_line(text);
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

static void add_sheet(struct res_text *text, const char *baseline, const json_t *workload,
                      const struct res_style *style)
{
    static const enum column expendable[] = {COLUMN_MEAN, COLUMN_VERSION, COLUMN_INTERVAL};
    const json_t *candidates = json_object_get(workload, "candidates");
    struct sheet sheet = {
        .style = style,
        .baseline = baseline,
        .rows = res_calloc(json_array_size(candidates), sizeof *sheet.rows),
    };
    size_t index;
    json_t *candidate;
    choose_unit(&sheet, candidates);
    json_array_foreach(candidates, index, candidate)
    {
        fill_row(&sheet, candidate);
    }
    for (size_t i = 0; measure(&sheet) > RES_TABLE_COLUMNS && i < sizeof expendable / sizeof expendable[0];
         i++)
        sheet.hidden[expendable[i]] = true;
    (void)measure(&sheet); /* the widths once more, for what is still shown */
    print_sheet(&sheet, text);
    sheet_release(&sheet);
}

/* ---- the lines around it -------------------------------------------------------------------- */

/* Words up to the last column, following lines indented below the first. */
static void add_wrapped(struct res_text *text, const char *label, const char *words)
{
    const size_t indent = 12;
    size_t column = indent;
    res_text_printf(text, "%-*s", (int)indent, label);
    while (*words != '\0') {
        const size_t length = strcspn(words, " ");
        char *word = res_strndup(words, length);
        const size_t columns = res_text_columns(word);
        if (column > indent && column + 1 + columns > RES_TABLE_COLUMNS) {
            res_text_printf(text, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            res_text_add(text, " ", 1);
            column++;
        }
        res_text_printf(text, "%s", word);
        column += columns;
        free(word);
        words += length;
        words += strspn(words, " ");
    }
    res_text_add(text, "\n", 1);
}

static void add_workload_line(struct res_text *text, const json_t *workload)
{
    char *name = plain_of(workload, "name", "?");
    char ops[32], duration[32], live[32], threads_text[32];
    const json_int_t threads = json_integer_value(json_object_get(workload, "threads"));
    const double duration_ns = number_of(workload, "duration_ns");
    res_text_printf(
        text, "%s: %s ops, %s thread%s, %s%s, live peak %s\n\n", name,
        res_text_grouped((unsigned long long)json_integer_value(json_object_get(workload, "ops")), ops),
        res_text_grouped((unsigned long long)threads, threads_text), threads == 1 ? "" : "s",
        duration_ns > 0 ? "recorded over " : "without recorded time",
        duration_ns > 0 ? res_text_duration(duration_ns, duration) : "",
        res_text_bytes(number_of(workload, "live_peak_bytes"), live));
    free(name);
}

static void add_rounds_line(struct res_text *text, const json_t *result, const json_t *workload)
{
    const json_int_t rounds = json_integer_value(json_object_get(workload, "rounds"));
    struct res_text words = {0};
    res_text_printf(
        &words,
        "%d, in an order shuffled by seed %lld, each run a process of its own; one warm-up run of each "
        "candidate came before and is not counted",
        (int)rounds, (long long)json_integer_value(json_object_get(result, "seed")));
    if (json_is_true(json_object_get(result, "stopped")))
        res_text_printf(&words, "; stopped before the %lld asked for",
                        (long long)json_integer_value(json_object_get(result, "rounds_asked")));
    add_wrapped(text, "rounds", words.text);
    free(words.text);
}

static void add_floor_line(struct res_text *text, const json_t *workload)
{
    const json_t *floor = json_object_get(workload, "floor");
    const json_t *time = json_object_get(floor, "time");
    const char *failed = json_string_value(json_object_get(floor, "failed"));
    char *words = NULL;
    if (!json_is_object(floor) || failed != NULL) {
        words = res_printf("not known (%s): the harness' own time is still in the figures",
                           failed != NULL ? failed : "mallab-replay-none is not there");
    } else {
        char *quiet = cell_ns(number_of(time, "quiet_ns_per_op"));
        char *typical = cell_ns(number_of(time, "typical_ns_per_op"));
        words = res_printf(
            "%s ns per op quiet, %s typical: the harness without an allocator, already subtracted", quiet,
            typical);
        free(quiet);
        free(typical);
    }
    char *plain = res_text_plain(words);
    add_wrapped(text, "floor", plain);
    free(plain);
    free(words);
}

static void add_noise_line(struct res_text *text, const char *baseline, const json_t *workload)
{
    const json_t *control = json_object_get(workload, "control");
    const json_t *time = json_object_get(control, "time");
    const json_t *resident = json_object_get(control, "resident");
    char *difference = cell_percent(number_of(time, "ratio"));
    char *interval = cell_interval(number_of(time, "ratio_low"), number_of(time, "ratio_high"));
    char *peak = cell_percent(number_of(resident, "peak_ratio"));
    const char *verdict = json_string_value(json_object_get(time, "verdict"));
    const bool restless = verdict != NULL && (strcmp(verdict, res_verdict_name(RES_FASTER)) == 0 ||
                                              strcmp(verdict, res_verdict_name(RES_SLOWER)) == 0);
    char *words = res_printf("%s against itself: time %s %s, peak %s%s; smaller differences are called same",
                             baseline, difference, interval, peak,
                             restless ? " (more than chance: this machine was not quiet)" : "");
    add_wrapped(text, "noise", words);
    free(words);
    free(difference);
    free(interval);
    free(peak);
}

static void add_machine_line(struct res_text *text, const json_t *machine)
{
    struct res_text words = {0};
    char memory[32];
    char *cpu = plain_of(machine, "cpu", "unknown processor");
    char *kernel = plain_of(machine, "kernel", "?");
    char *libc = plain_of(machine, "libc", "libc unknown");
    char *thp = plain_of(machine, "transparent_huge_pages", "unknown");
    char *governor = plain_of(machine, "governor", "unknown");
    const double load = number_of(machine, "load_1_minute");
    res_text_printf(&words, "%s, %lld CPUs, %s", cpu,
                    (long long)json_integer_value(json_object_get(machine, "cpus")),
                    res_text_bytes(fmax(number_of(machine, "memory_bytes"), 0), memory));
    if (json_is_true(json_object_get(machine, "virtual_machine")))
        res_text_printf(&words, ", virtual");
    res_text_printf(&words, "; Linux %s, %s; huge pages %s, governor %s", kernel, libc, thp, governor);
    if (isfinite(load))
        res_text_printf(&words, ", load %.1f", load);
    add_wrapped(text, "machine", words.text);
    free(words.text);
    free(cpu);
    free(kernel);
    free(libc);
    free(thp);
    free(governor);
}

static void add_named_reason(struct res_text *text, const char *label, const json_t *object, const char *key)
{
    char *name = plain_of(object, "name", "?");
    char *reason = plain_of(object, key, "?");
    char *words = res_printf("%s: %s", name, reason);
    add_wrapped(text, label, words);
    free(words);
    free(name);
    free(reason);
}

static void add_failed_lines(struct res_text *text, const json_t *workload)
{
    const json_t *control = json_object_get(workload, "control");
    size_t index;
    json_t *object;
    json_array_foreach(json_object_get(workload, "candidates"), index, object)
    {
        if (json_is_string(json_object_get(object, "failed")))
            add_named_reason(text, "failed", object, "failed");
    }
    if (json_is_string(json_object_get(control, "failed")))
        add_named_reason(text, "control", control, "failed");
}

/* What holds for all workloads of the result; said once, with the last. */
static void add_common_lines(struct res_text *text, const json_t *result)
{
    size_t index;
    json_t *object;
    add_machine_line(text, json_object_get(result, "machine"));
    json_array_foreach(json_object_get(result, "missing"), index, object)
    {
        add_named_reason(text, "missing", object, "reason");
    }
}

static void add_advice(struct res_text *text, const json_t *result, const json_t *workload)
{
    char *advice = res_advice(result, workload);
    char *plain = res_text_plain(advice);
    add_wrapped(text, "advice", plain);
    free(plain);
    free(advice);
}

char *res_table_text(const json_t *result, const struct res_style *style)
{
    const json_t *workloads = json_object_get(result, "workloads");
    struct res_text text = {0};
    size_t index;
    json_t *workload;
    char *baseline = plain_of(result, "baseline", "?");
    json_array_foreach(workloads, index, workload)
    {
        if (index > 0)
            res_text_add(&text, "\n", 1);
        add_workload_line(&text, workload);
        add_sheet(&text, baseline, workload, style);
        res_text_add(&text, "\n", 1);
        add_rounds_line(&text, result, workload);
        add_floor_line(&text, workload);
        add_noise_line(&text, baseline, workload);
        if (index + 1 == json_array_size(workloads))
            add_common_lines(&text, result);
        add_failed_lines(&text, workload);
        add_advice(&text, result, workload);
    }
    free(baseline);
    return text.text != NULL ? text.text : res_strdup("no workload was replayed\n");
}
