/* reality_table.c - what real runs did, beside what was predicted, aligned. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/report/grid/cells.h"
#include "results/report/table/reality_report.h"

#define FIGURES 4u
#define COLUMNS (1u + 2u * FIGURES)

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
    return fabs(beyond) >= 0.0005 ? res_strdup(RES_PERCENT(beyond + 1))
           : fabs(beyond) > 0     ? res_printf("%+.1g%%", 100 * beyond)
                                  : res_strdup("within");
}

static void add_row(struct res_grid *grid, const json_t *candidate)
{
    const json_t *ranges = json_object_get(json_object_get(candidate, "real"), "ranges");
    const json_t *beyond = json_object_get(json_object_get(candidate, "error"), "beyond_reality");
    res_grid_add(grid, res_cell_string(candidate, "name", "?"));
    for (size_t i = 0; i < FIGURES; i++) {
        res_grid_own(grid, cell_range(json_object_get(ranges, SHOWN[i].key)));
        res_grid_own(grid, cell_beyond(res_cell_number(beyond, SHOWN[i].key)));
    }
}

void res_reality_text(struct res_text *text, const json_t *candidates)
{
    const struct res_style style = {0};
    struct res_column columns[COLUMNS] = {{.heading = "candidate", .group = "real, MB", .own_line = true}};
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
    res_grid_begin(&grid, columns, COLUMNS);
    json_array_foreach(candidates, index, candidate)
    {
        known = known || json_is_object(json_object_get(json_object_get(candidate, "real"), "ranges"));
        add_row(&grid, candidate);
    }
    if (known) {
        res_grid_text(&grid, &style, text);
        res_text_add(text, "\n", 1);
    }
    res_grid_release(&grid);
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
