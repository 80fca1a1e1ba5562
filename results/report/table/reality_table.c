/* reality_table.c - what real runs did, beside what was predicted, aligned. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/report/grid/cells.h"
#include "results/report/grid/lines.h"
#include "results/report/table/reality_report.h"
#include "results/report/table/table.h"

#define FIGURES  4u
#define GAP      2u
#define ROWS_MAX 64u

static const struct {
    const char *key, *words;
} SHOWN[FIGURES] = {{"peak_total", "peak, all"},
                    {"peak_heap", "peak, heap"},
                    {"mean_heap", "mean, heap"},
                    {"end_heap", "end, heap"}};

#define CELLS (1u + 2u * FIGURES)

struct sheet {
    char *cells[2 + ROWS_MAX][CELLS];
    size_t rows;
};

static char *megabytes(double bytes)
{
    return res_printf(fabs(bytes) < 99.95e6 ? "%.2f" : "%.1f", bytes / 1e6);
}

static char *cell_range(const json_t *range)
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
    return fabs(beyond) >= 0.0005 ? res_cell_percent(beyond + 1)
           : fabs(beyond) > 0     ? res_printf("%+.1g%%", 100 * beyond)
                                  : res_strdup("within");
}

static void add_headings(struct sheet *sheet)
{
    char **groups = sheet->cells[sheet->rows++], **names = sheet->cells[sheet->rows++];
    groups[0] = res_strdup("real, MB");
    names[0] = res_strdup("candidate");
    for (size_t i = 0; i < FIGURES; i++) {
        groups[1 + 2 * i] = res_strdup(SHOWN[i].words);
        groups[2 + 2 * i] = res_strdup("");
        names[1 + 2 * i] = res_strdup("range");
        names[2 + 2 * i] = res_strdup("pred.");
    }
}

static void add_row(struct sheet *sheet, const json_t *candidate)
{
    const json_t *ranges = json_object_get(json_object_get(candidate, "real"), "ranges");
    const json_t *beyond = json_object_get(json_object_get(candidate, "error"), "beyond_reality");
    char **cells = sheet->cells[sheet->rows++];
    cells[0] = res_cell_plain(candidate, "name", "?");
    for (size_t i = 0; i < FIGURES; i++) {
        cells[1 + 2 * i] = cell_range(json_object_get(ranges, SHOWN[i].key));
        cells[2 + 2 * i] = cell_beyond(res_cell_number(beyond, SHOWN[i].key));
    }
}

static void print(const struct sheet *sheet, struct res_text *text)
{
    size_t widths[CELLS] = {0};
    for (size_t row = 0; row < sheet->rows; row++)
        for (size_t i = 0; i < CELLS; i++) {
            const size_t columns = res_text_columns(sheet->cells[row][i]);
            widths[i] = columns > widths[i] ? columns : widths[i];
        }
    /* Names that would make lines too long stand on lines of their own. */
    size_t width = widths[0];
    for (size_t i = 1; i < CELLS; i++)
        width += (i % 2 == 1 ? GAP : 1) + widths[i];
    const bool names_above = width > RES_TABLE_COLUMNS;
    for (size_t row = 0; row < sheet->rows; row++) {
        if (names_above) {
            res_text_add(text, sheet->cells[row][0], strlen(sheet->cells[row][0]));
            res_lines_end(text);
        }
        for (size_t i = names_above; i < CELLS; i++) {
            const char *cell = sheet->cells[row][i];
            const bool is_left = i % 2 == 0 ? i == 0 : row == 0; /* names, and the words above a pair */
            const size_t blanks = widths[i] - res_text_columns(cell);
            res_lines_pad(text, (i == 0 ? 0 : i % 2 == 1 ? GAP : 1) + (is_left ? 0 : blanks));
            res_text_add(text, cell, strlen(cell));
            res_lines_pad(text, is_left ? blanks : 0);
        }
        res_lines_end(text);
    }
}

void res_reality_text(struct res_text *text, const json_t *candidates)
{
    struct sheet *sheet = res_calloc(1, sizeof *sheet);
    bool known = false;
    size_t index;
    json_t *candidate;
    add_headings(sheet);
    json_array_foreach(candidates, index, candidate)
    {
        known = known || json_is_object(json_object_get(json_object_get(candidate, "real"), "ranges"));
        if (sheet->rows < 2 + ROWS_MAX)
            add_row(sheet, candidate);
    }
    if (known) {
        print(sheet, text);
        res_lines_end(text);
    }
    for (size_t row = 0; row < sheet->rows; row++)
        for (size_t i = 0; i < CELLS; i++)
            free(sheet->cells[row][i]);
    free(sheet);
}

char *res_reality_words(const json_t *within)
{
    json_int_t checked = 0, met = 0;
    for (size_t i = 0; i < FIGURES; i++) {
        const json_t *one = json_object_get(within, SHOWN[i].key);
        checked += json_integer_value(json_object_get(one, "checked"));
        met += json_integer_value(json_object_get(one, "met"));
    }
    return checked > 0 ? res_printf("%lld of %lld predictions", (long long)met, (long long)checked) : NULL;
}
