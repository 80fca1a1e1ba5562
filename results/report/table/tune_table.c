/* tune_table.c - a search for people: the rows, what to paste, and the lines below. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/statistics/statistics.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"
#include "results/report/notes/notes.h"
#include "results/report/table/table.h"
#include "results/report/table/tune_report.h"
#include "results/report/table/tune_words.h"

#define NAME_COLUMNS 20 /* a longer one stands on a line of its own */

struct unit {
    const char *name;
    double bytes;
};

static struct unit unit_of(const json_t *const *rows, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        const double bytes = res_cell_number(json_object_get(rows[i], "memory"), "bytes");
        largest = isfinite(bytes) ? fmax(largest, bytes) : largest;
    }
    return largest < 1e6    ? (struct unit){"kB", 1e3}
           : largest < 1e10 ? (struct unit){"MB", 1e6}
                            : (struct unit){"GB", 1e9};
}

static char *bytes_cell(double bytes, struct unit unit)
{
    const double value = bytes / unit.bytes;
    return isfinite(value) ? res_printf(value < 9.995    ? "%.2f"
                                        : value < 999.95 ? "%.1f"
                                                         : "%.0f",
                                        value)
                           : res_strdup("-");
}

static void add_difference(struct res_text *text, const json_t *figure, bool is_default,
                           const struct res_style *style)
{
    const char *word = json_string_value(json_object_get(figure, "verdict"));
    const enum res_verdict verdict = res_verdict_from(word);
    char *percent = is_default ? res_strdup("") : res_cell_percent(res_cell_number(figure, "ratio"));
    char *range = is_default ? res_strdup("")
                             : res_cell_interval(res_cell_number(figure, "ratio_low"),
                                                 res_cell_number(figure, "ratio_high"));
    const char *shown = is_default                 ? "default"
                        : verdict == RES_UNDECIDED ? "?"
                                                   : res_cell_verdict(figure, "?"); /* a known word: plain */
    const char *colour = !style->colour || is_default ? NULL
                         : verdict == RES_FASTER      ? "\033[32m"
                         : verdict == RES_SLOWER      ? "\033[31m"
                                                      : NULL;
    res_text_printf(text, " %7s %-14s %s%-7s%s", percent, range, colour != NULL ? colour : "", shown,
                    colour != NULL ? "\033[0m" : "");
    free(percent);
    free(range);
}

static void add_row(struct res_text *text, const json_t *row, char mark, struct unit unit,
                    const struct res_style *style)
{
    const json_t *memory = json_object_get(row, "memory");
    const bool is_default = json_is_true(json_object_get(row, "is_default"));
    char *name = res_cell_plain(row, "name", "?");
    char *bytes = bytes_cell(res_cell_number(memory, "bytes"), unit);
    const size_t columns = res_text_columns(name);
    res_text_printf(text, "%c %s", mark, name);
    if (columns > NAME_COLUMNS)
        res_text_printf(text, "\n%*s", NAME_COLUMNS + 2, "");
    else
        res_text_printf(text, "%*s", (int)(NAME_COLUMNS - columns), "");
    add_difference(text, json_object_get(row, "time"), is_default, style);
    res_text_printf(text, " %8s", bytes);
    add_difference(text, memory, is_default, style);
    while (text->text[text->length - 1] == ' ')
        text->text[--text->length] = '\0';
    res_text_printf(text, "\n");
    free(bytes);
    free(name);
}

static void add_heading(struct res_text *text, const json_t *tune, struct unit unit)
{
    char *name = res_cell_plain(tune, "default", "?");
    char *memory = res_cell_plain(tune, "memory", "?");
    char *time_group = res_printf("time against %s", name);
    char *memory_group = res_printf("resident %s against %s", memory, name);
    char *memory_unit = res_printf("%s, %s", memory, unit.name);
    res_text_printf(text, "%*s%-32s%9s%s\n", NAME_COLUMNS + 5, "", time_group, "", memory_group);
    res_text_printf(text, "  %-*s %7s %-14s %-7s %8s %7s %-14s %s\n", NAME_COLUMNS, "settings", "change",
                    "95 % range", "verdict", memory_unit, "change", "95 % range", "verdict");
    free(memory_unit);
    free(memory_group);
    free(time_group);
    free(name);
    free(memory);
}

/* The default first, then by time. */
static int by_time(const void *left, const void *right)
{
    const json_t *a = *(const json_t *const *)left, *b = *(const json_t *const *)right;
    const bool defaults[] = {json_is_true(json_object_get(a, "is_default")),
                             json_is_true(json_object_get(b, "is_default"))};
    const double x = res_cell_number(json_object_get(a, "time"), "ratio");
    const double y = res_cell_number(json_object_get(b, "time"), "ratio");
    return defaults[0] != defaults[1] ? (int)defaults[1] - (int)defaults[0] : (x > y) - (x < y);
}

static size_t rows_of(const json_t *tune, const char *key, const json_t **ret_rows)
{
    const json_t *array = json_object_get(tune, key);
    const size_t count = json_array_size(array);
    for (size_t i = 0; i < count; i++)
        ret_rows[i] = json_array_get(array, i);
    return count;
}

static bool is_among(const json_t *array, const json_t *row)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (json_array_get(array, i) == row)
            return true;
    }
    return false;
}

static void add_paste(struct res_text *text, const json_t *front, const json_t *const *rows, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        char *paste = res_cell_plain(rows[i], "paste", "");
        char *name = res_cell_plain(rows[i], "name", "?");
        const bool has_library = json_is_string(json_object_get(rows[i], "library"));
        if (is_among(front, rows[i]) && res_tune_is_bounded(rows[i]) && (*paste != '\0' || has_library)) {
            char *library = res_tune_preload(rows[i]);
            res_text_printf(text, "%s  %s:\n    %s%s%s\n", any ? "" : "to paste\n", name, library,
                            has_library && *paste != '\0' ? " " : "", paste);
            free(library);
            any = true;
        }
        free(name);
        free(paste);
    }
    if (any)
        res_text_printf(text, "\n");
}

static void add_failed(struct res_text *text, const json_t *tune)
{
    size_t index, told = 0;
    json_t *point;
    json_array_foreach(json_object_get(tune, "points"), index, point)
    {
        if (!json_is_string(json_object_get(point, "failed")) || told++ >= 3)
            continue;
        res_notes_why(text, "failed", point, "", point, "failed");
    }
    if (told > 3) {
        char *words = res_printf("and %zu more; their reasons are in the JSON", told - 3);
        res_lines_add(text, "", words);
        free(words);
    }
}

static void add_words(struct res_text *text, const char *label, char *words)
{
    char *plain = res_text_plain(words);
    res_lines_add(text, label, plain);
    free(plain);
    free(words);
}

char *res_tune_text(const json_t *result, const struct res_style *style)
{
    const json_t *tune = json_object_get(result, "tune");
    struct res_text text = {0};
    if (tune == NULL)
        return NULL;
    const bool confirmed = json_is_true(json_object_get(tune, "confirmed"));
    const size_t all = json_array_size(json_object_get(tune, "front")) +
                       json_array_size(json_object_get(tune, "beaten"));
    const json_t **rows = res_calloc(all, sizeof(json_t *));
    const json_t *front = json_object_get(tune, "front");
    (void)rows_of(tune, "beaten", rows + rows_of(tune, "front", rows));
    qsort(rows, all, sizeof *rows, by_time);
    const struct unit unit = unit_of(rows, all);
    const json_t *workload = json_array_get(json_object_get(result, "workloads"), 0);
    const json_t *described = workload != NULL ? workload : json_object_get(tune, "workload");
    res_notes_head(&text, described);
    add_heading(&text, tune, unit);
    for (size_t i = 0; i < all; i++)
        add_row(&text, rows[i], !confirmed ? '?' : is_among(front, rows[i]) ? '*' : ' ', unit, style);
    res_text_printf(&text, "\n");
    if (confirmed) /* what did best in noise is nothing to set */
        add_paste(&text, front, rows, all);
    add_words(&text, "advice", res_tune_advice(result));
    if (res_live_words(described) != NULL)
        res_lines_add(&text, "memory", res_live_words(described));
    add_words(&text, confirmed ? "*" : "?", res_tune_marks(tune));
    add_words(&text, "tried", res_tune_tried(tune));
    add_words(&text, "basis", res_tune_basis(result));
    add_failed(&text, tune);
    res_notes_disturbances(&text, result);
    free(rows);
    return text.text;
}
