/* history_page.c - the page of a history: two charts for each series, and its document. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/base/json_values.h"
#include "results/report/grid/cells.h"
#include "results/report/html/html.h"

/* ---- charts ---------------------------------------------------------------------------------- */

/* What stands below the chart when a point is chosen. */
static json_t *told_of(const char *candidate, const struct res_history_point *point, const char *machine,
                       bool memory)
{
    struct res_text words = {0};
    const struct res_difference *time = &point->figures.time;
    const char *moved = memory ? point->peak.word : point->time.word;
    const char *range = memory ? "" : RES_INTERVAL(time->interval.low, time->interval.high);
    const char *more[] = {point->label, point->commit};
    res_text_printf(&words, "%s %s: %s%s%s%s%s \xc2\xb7 %s UTC", candidate, point->version,
                    memory ? FP_BYTES(fmax(point->figures.peak_bytes, 0)) : RES_PERCENT(time->ratio),
                    *range != '\0' ? " " : "", range, moved != NULL ? ", moved: " : "",
                    moved != NULL ? moved : "", res_history_date(point, RES_WORDS_ROOM));
    for (size_t i = 0; i < 2; i++)
        if (more[i] != NULL)
            res_text_printf(&words, " \xc2\xb7 %s", more[i]);
    res_text_printf(&words, " \xc2\xb7 mallab %s \xc2\xb7 %s: %s \xc2\xb7 %s", point->mallab_version, machine,
                    point->machine_text, point->file);
    char *plain = res_text_plain(words.text);
    json_t *told = json_string(plain);
    free(plain);
    free(words.text);
    return told;
}

static json_t *point_of(const char *candidate, const struct res_history_point *point, const char *machine,
                        bool memory)
{
    static const char *const MARKS[] = {[RES_ROLE_GOOD] = "good", [RES_ROLE_BAD] = "bad"};
    const struct res_difference *time = &point->figures.time;
    const char *moved = memory ? point->peak.word : point->time.word;
    return json_pack("{s:f, s:o, s:o, s:o, s:o, s:s, s:b}", "x", (double)point->created_unix_ns / 1e9, "y",
                     res_json_number(memory ? point->figures.peak_bytes : time->ratio), "low",
                     res_json_number(memory ? NAN : time->interval.low), "high",
                     res_json_number(memory ? NAN : time->interval.high), "told",
                     told_of(candidate, point, machine, memory), "moved",
                     moved != NULL ? MARKS[res_cell_role(moved)] : "", "changed", point->changed.count > 0);
}

static void add_chart(struct res_page *page, const struct res_history_series *series, const char *title,
                      bool memory)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < series->candidate_count; i++) {
        const struct res_history_candidate *candidate = &series->candidates[i];
        const int colour = (int)res_page_colour(page, candidate->name);
        json_t *points = json_array();
        char *plain = res_text_plain(candidate->name);
        for (size_t k = 0; k < candidate->point_count && (memory || !candidate->is_baseline); k++)
            json_array_append_new(points, point_of(plain, &candidate->points[k], series->machine, memory));
        if (json_array_size(points) > 0)
            json_array_append_new(
                lines, json_pack("{s:s, s:O, s:i}", "label", plain, "points", points, "colour", colour));
        json_decref(points);
        free(plain);
    }
    res_page_chart(page, title,
                   json_pack("{s:s, s:s, s:s, s:o}", "kind", "points", "y_as", memory ? "bytes" : "ratio",
                             "x_label", "UTC", "series", lines));
}

/* ---- the whole ------------------------------------------------------------------------------- */

char *res_html_history(const struct res_history *history)
{
    const struct res_style form = {.form = RES_FORM_HTML};
    struct res_page page = {.charts = json_array()};
    for (size_t i = 0; i < history->series_count; i++) {
        const struct res_history_series *series = &history->series[i];
        char *title = res_printf("Time against %s", series->baseline);
        res_page_mark(&page, "<article class=\"workload\">");
        res_page_own(&page, "h2", NULL,
                     res_printf("%s, %s, against %s", series->workload, series->machine, series->baseline));
        add_chart(&page, series, title, false);
        add_chart(&page, series, "Peak memory", true);
        res_page_mark(&page, "</article>\n");
        free(title);
    }
    res_page_part(&page, "Every result",
                  "Times of different days do not compare; changes to the baseline of the same result do.");
    char *document = res_history_document(history, &form);
    res_page_mark(&page, "%s</section>\n", document);
    free(document);
    char *title = res_printf("%s - mallab history",
                             history->series_count > 0 ? history->series[0].workload : "nothing");
    char *text = res_page_whole(&page, title);
    free(title);
    return text;
}

char *res_html_document(const char *title, char *document)
{
    struct res_page page = {0};
    res_page_mark(&page, "<section>%s</section>\n", document);
    free(document);
    return res_page_whole(&page, title);
}
