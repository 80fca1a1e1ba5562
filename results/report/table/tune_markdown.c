/* tune_markdown.c - a search for documents: the rows, what to paste, and the lines below. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/support.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/escape.h"
#include "results/report/table/table.h"
#include "results/report/table/tune_report.h"
#include "results/report/table/tune_words.h"

static void add_difference(struct res_text *text, const json_t *figure, bool is_default, bool confirmed)
{
    const double ratio = res_cell_number(figure, "ratio");
    const double low = res_cell_number(figure, "ratio_low"), high = res_cell_number(figure, "ratio_high");
    const char *verdict = json_string_value(json_object_get(figure, "verdict"));
    if (is_default) {
        res_text_printf(text, " default |");
        return;
    }
    if (isfinite(ratio) && isfinite(low) && isfinite(high))
        res_text_printf(text, " %+.1f %% (%+.1f to %+.1f)%s", (ratio - 1) * 100, (low - 1) * 100,
                        (high - 1) * 100, confirmed ? ", " : "");
    else
        res_text_printf(text, confirmed ? " " : " -");
    if (confirmed)
        res_markdown_add(text, verdict);
    res_text_printf(text, " |");
}

static void add_row(struct res_text *text, const json_t *row, bool is_front, bool confirmed)
{
    const json_t *memory = json_object_get(row, "memory");
    const bool is_default = json_is_true(json_object_get(row, "is_default"));
    const double bytes = res_cell_number(memory, "bytes");
    char words[32];
    res_text_printf(text, "| ");
    res_markdown_add(text, json_string_value(json_object_get(row, "name")));
    res_text_printf(text, "%s |", confirmed && is_front ? " \\*" : "");
    add_difference(text, json_object_get(row, "time"), is_default, confirmed);
    res_text_printf(text, " %s |", isfinite(bytes) ? fp_text_bytes(bytes, words) : "-");
    add_difference(text, memory, is_default, confirmed);
    res_text_printf(text, "\n");
}

static void add_rows(struct res_text *text, const json_t *tune, bool confirmed)
{
    static const char *const keys[] = {"front", "beaten"};
    for (size_t of = 0; of < sizeof keys / sizeof keys[0]; of++) {
        size_t index;
        json_t *row;
        json_array_foreach(json_object_get(tune, keys[of]), index, row)
        {
            add_row(text, row, of == 0, confirmed);
        }
    }
}

static void add_table(struct res_text *text, const json_t *tune, bool confirmed)
{
    const char *const name = json_string_value(json_object_get(tune, "default"));
    const char *const memory = json_string_value(json_object_get(tune, "memory"));
    res_text_printf(text, "| settings | time against ");
    res_markdown_add(text, name);
    res_text_printf(text, " (95 %%) | resident ");
    res_markdown_add(text, memory);
    res_text_printf(text, " | ");
    res_markdown_add(text, memory);
    res_text_printf(text, " against ");
    res_markdown_add(text, name);
    res_text_printf(text, " (95 %%) |\n| --- | --- | ---: | --- |\n");
    add_rows(text, tune, confirmed);
    res_text_printf(text, "\n");
}

/* No mark of Markdown counts in a block of code, and what begins a line of it is the name of a variable. */
static void add_paste(struct res_text *text, const json_t *tune)
{
    size_t index;
    json_t *row;
    json_array_foreach(json_object_get(tune, "front"), index, row)
    {
        const bool has_library = json_is_string(json_object_get(row, "library"));
        char *paste = res_cell_plain(row, "paste", "");
        if (res_tune_is_bounded(row) && (has_library || *paste != '\0')) {
            res_text_printf(text, "To paste, ");
            char *library = res_tune_preload(row);
            res_markdown_add(text, json_string_value(json_object_get(row, "name")));
            res_text_printf(text, ":\n\n```sh\n%s%s%s\n```\n\n", library,
                            has_library && *paste != '\0' ? " " : "", paste);
            free(library);
        }
        free(paste);
    }
}

static void add_line(struct res_text *text, const char *label, char *words)
{
    res_text_printf(text, "- %s: ", label);
    res_markdown_add(text, words);
    res_text_printf(text, "\n");
    free(words);
}

char *res_tune_markdown(const json_t *result)
{
    const json_t *tune = json_object_get(result, "tune");
    const json_t *workload = json_array_get(json_object_get(result, "workloads"), 0);
    struct res_text text = {0};
    if (tune == NULL)
        return NULL;
    const bool confirmed = json_is_true(json_object_get(tune, "confirmed"));
    if (workload == NULL)
        workload = json_object_get(tune, "workload");
    res_text_printf(&text, "### Settings for ");
    res_markdown_add(&text, json_string_value(json_object_get(workload, "name")));
    res_text_printf(&text, "\n\n");
    add_table(&text, tune, confirmed);
    if (confirmed)
        add_paste(&text, tune);
    add_line(&text, "advice", res_tune_advice(result));
    if (res_live_words(workload) != NULL)
        add_line(&text, "memory", res_strdup(res_live_words(workload)));
    add_line(&text, confirmed ? "\\*" : "?", res_tune_marks(tune));
    add_line(&text, "tried", res_tune_tried(tune));
    add_line(&text, "basis", res_tune_basis(result));
    return text.text;
}
