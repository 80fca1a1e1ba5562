/* history_page.c - the page of a history: what moved, two charts for each series, and its document. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "footprint/base/words.h"
#include "results/measure/base/figure_words.h"
#include "results/measure/base/json_values.h"
#include "results/report/html/html.h"
#include "results/report/html/page.h"

static const char *date_of(const struct res_history_point *point, char *room)
{
    const time_t seconds = (time_t)(point->created_unix_ns / 1000000000);
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL || strftime(room, RES_WORDS, "%Y-%m-%d %H:%M", &parts) == 0)
        room[0] = '\0';
    return room;
}

/* ---- what moved ------------------------------------------------------------------------------ */

/* "jemalloc 2026-11-26 22:13: slower by 25.1% in time (changed: version)" */
static void add_move(struct res_page *page, const struct res_history_candidate *candidate,
                     const struct res_history_point *point, const char *moved, double change,
                     const char *figure)
{
    struct res_text changed = {0};
    for (size_t i = 0; i < point->changed.count; i++)
        res_text_printf(&changed, "%s%s", i > 0 ? ", " : " (changed: ", point->changed.items[i]);
    if (moved != NULL)
        res_page_own(page, "li", NULL,
                     res_printf("%s %s: %s by %s in %s%s%s", candidate->name, date_of(point, RES_WORDS_ROOM),
                                moved, RES_PERCENT(change) + 1, figure,
                                changed.text != NULL ? changed.text : "", changed.text != NULL ? ")" : ""));
    free(changed.text);
}

/* The newest first. */
static void add_moves(struct res_page *page, const struct res_history_series *series)
{
    const size_t before = page->body.length;
    size_t most = 0;
    res_page_mark(page, "<div class=\"advice\"><strong>Moved beyond the noise</strong><ul>\n");
    const size_t head = page->body.length;
    for (size_t i = 0; i < series->candidate_count; i++)
        most = series->candidates[i].point_count > most ? series->candidates[i].point_count : most;
    for (size_t at = most; at > 0; at--)
        for (size_t i = 0; i < series->candidate_count; i++) {
            const struct res_history_candidate *candidate = &series->candidates[i];
            const struct res_history_point *point = at <= candidate->point_count ? &candidate->points[at - 1]
                                                                                 : NULL;
            if (point == NULL)
                continue;
            add_move(page, candidate, point, point->time_moved, point->time_change, "time");
            add_move(page, candidate, point, point->peak_moved, point->peak_change, "peak memory");
        }
    if (page->body.length > head) {
        res_page_mark(page, "</ul></div>\n");
        return;
    }
    page->body.length = before;
    res_page_words(page, "p", "advice",
                   most > 1 ? "Nothing moved beyond the noise." : "One result is no history yet.");
}

/* ---- charts ---------------------------------------------------------------------------------- */

/* What stands below the chart when a point is chosen. */
static json_t *told_of(const struct res_history_candidate *candidate, const struct res_history_point *point,
                       const struct res_history_series *series, bool memory)
{
    struct res_text words = {0};
    const char *moved = memory ? point->peak_moved : point->time_moved;
    const char *range = RES_INTERVAL(point->time.interval.low, point->time.interval.high);
    res_text_printf(&words, "%s %s: %s%s%s%s%s \xc2\xb7 %s UTC", candidate->name,
                    point->version != NULL ? point->version : "-",
                    memory ? FP_BYTES(fmax(point->peak_bytes, 0)) : RES_PERCENT(point->time.ratio),
                    !memory && *range != '\0' ? " " : "", memory ? "" : range,
                    moved != NULL ? ", moved: " : "", moved != NULL ? moved : "",
                    date_of(point, RES_WORDS_ROOM));
    if (point->label != NULL)
        res_text_printf(&words, " \xc2\xb7 %s", point->label);
    if (point->commit != NULL)
        res_text_printf(&words, " \xc2\xb7 %s", point->commit);
    res_text_printf(&words, " \xc2\xb7 mallab %s \xc2\xb7 %s: %s \xc2\xb7 %s", point->mallab_version,
                    series->machine, point->machine_text, point->file);
    char *plain = res_text_plain(words.text);
    json_t *told = json_string(plain);
    free(plain);
    free(words.text);
    return told;
}

static json_t *point_of(const struct res_history_candidate *candidate, const struct res_history_point *point,
                        const struct res_history_series *series, bool memory)
{
    const struct res_difference *time = &point->time;
    const char *moved = memory ? point->peak_moved : point->time_moved;
    return json_pack("{s:f, s:o, s:o, s:o, s:o, s:s, s:b}", "x", (double)point->created_unix_ns / 1e9, "y",
                     res_json_number(memory ? point->peak_bytes : time->ratio), "low",
                     res_json_number(memory ? NAN : time->interval.low), "high",
                     res_json_number(memory ? NAN : time->interval.high), "told",
                     told_of(candidate, point, series, memory), "moved",
                     moved == NULL                                                ? ""
                     : strcmp(moved, "slower") == 0 || strcmp(moved, "more") == 0 ? "bad"
                                                                                  : "good",
                     "changed", point->changed.count > 0);
}

static void add_chart(struct res_page *page, const struct res_history_series *series, const char *title,
                      bool memory)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < series->candidate_count; i++) {
        const struct res_history_candidate *candidate = &series->candidates[i];
        json_t *points = json_array();
        char *plain = res_text_plain(candidate->name);
        for (size_t k = 0; k < candidate->point_count && (memory || !candidate->is_baseline); k++)
            json_array_append_new(points, point_of(candidate, &candidate->points[k], series, memory));
        if (json_array_size(points) > 0)
            json_array_append_new(lines, json_pack("{s:s, s:O, s:i}", "label", plain, "points", points,
                                                   "colour", (int)res_page_colour(page, candidate->name)));
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
        res_page_mark(&page, "<article class=\"workload\">");
        res_page_own(&page, "h2", NULL,
                     res_printf("%s, %s, against %s", series->workload, series->machine, series->baseline));
        for (size_t k = 0; k < series->candidate_count; k++)
            (void)res_page_colour(&page, series->candidates[k].name);
        add_moves(&page, series);
        char *title = res_printf("Time against %s", series->baseline);
        add_chart(&page, series, title, false);
        add_chart(&page, series, "Peak memory", true);
        free(title);
        res_page_mark(&page, "</article>\n");
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
