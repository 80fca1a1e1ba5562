/* html.c - results as a page: what the screen says, then charts, then what it all rests on. */
#include "results/report/html/html.h"

#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/report/notes/notes.h"
#include "results/report/table/table.h"

#define NOTE "Time in allocator calls is not application speed; figures of different machines do not compare."

static const struct res_style PAGE = {.form = RES_FORM_HTML};

/* ---- a workload ------------------------------------------------------------------------------ */

/* The lines that answer, for who sees a closed workload. */
static char *verdict_of(const struct res_result_workload *workload)
{
    struct res_text words = {0};
    for (size_t i = 0; i < workload->note_count; i++)
        if (strcmp(workload->notes[i].label, RES_VERDICT_LABEL) == 0)
            res_text_printf(&words, "%s%s", words.length > 0 ? "; " : "", workload->notes[i].text);
    return words.text;
}

static void add_decision(struct res_page *page, const struct res_result *result,
                         const struct res_result_workload *workload)
{
    struct res_grid grid;
    res_page_own(page, "p", "explain", res_verdict_head(workload));
    if (workload->candidate_count == 0)
        return;
    res_page_own(page, "p", "explain", res_verdict_share(result, workload));
    res_notes_lead(&page->body, workload->notes, workload->note_count);
    res_verdict_grid(&grid, result, workload);
    res_page_grid(page, "Candidates", &grid);
    res_notes_rest(&page->body, workload->notes, workload->note_count, NULL);
}

static void add_workload(struct res_page *page, const struct res_result *result,
                         const struct res_result_workload *workload, bool is_alone)
{
    struct res_grid grid;
    res_page_mark(page, is_alone ? "<article class=\"workload\">" : "<details class=\"workload\"><summary>");
    res_page_own(page, "h2", NULL, res_notes_title(workload));
    if (!is_alone) {
        res_page_own(page, "span", "small", verdict_of(workload));
        res_page_mark(page, "</summary>\n");
    }
    add_decision(page, result, workload);
    if (workload->candidate_count > 0) {
        res_page_time(page, result, workload);
        res_page_resident(page, workload); /* with it the first sheet of paper is full */
        res_page_part(page, "All figures", NULL);
        res_table_grid(&grid, result, workload);
        res_page_grid(page, "All figures", &grid);
        res_page_mark(page, "</section>\n");
        res_page_latency(page, workload);
    }
    res_page_mark(page, is_alone ? "</article>\n" : "</details>\n");
}

/* ---- what it rests on ------------------------------------------------------------------------ */

static void add_settings(struct res_page *page, const struct res_result_workload *workload)
{
    const struct res_column columns[] = {
        {.heading = "candidate"}, {.heading = "version"}, {.heading = "settings"}, {.heading = "library"}};
    struct res_grid grid;
    res_grid_begin(&grid, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i <= workload->candidate_count; i++) {
        const struct res_result_entry *entry = i < workload->candidate_count ? &workload->candidates[i]
                                                                             : workload->floor;
        struct res_text settings = {0};
        if (entry == NULL)
            continue;
        for (size_t k = 0; k < entry->environment.count; k++)
            res_text_printf(&settings, "%s%s=%s", k > 0 ? " " : "", entry->environment.items[k].name,
                            entry->environment.items[k].value != NULL ? entry->environment.items[k].value
                                                                      : "");
        res_grid_add(&grid, entry->name);
        res_grid_add(&grid, entry->version != NULL ? entry->version : "-");
        res_grid_own(&grid, settings.text != NULL ? settings.text : res_strdup("-"));
        res_grid_add(&grid, entry->library != NULL ? entry->library : "-");
    }
    res_page_grid(page, "Candidates and their settings", &grid);
}

/* The machine stands among the notes. */
static void add_basis(struct res_page *page, const struct res_result *result)
{
    if (result->workload_count == 0 && result->confirmation == NULL)
        return;
    res_page_mark(page, "<details class=\"part\"><summary>What it rests on</summary>\n");
    if (result->workload_count > 0)
        add_settings(page, &result->workloads[0]);
    res_page_own(
        page, "p", "small",
        res_printf("measured with mallab %s", result->mallab_version != NULL ? result->mallab_version : "?"));
    res_page_mark(page, "</details>\n");
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void add_result(struct res_page *page, const struct res_html_source *source, bool is_alone,
                       bool has_others)
{
    const struct res_result *result = source->result;
    const bool is_confirm = result->workload_count == 0 && result->confirmation != NULL;
    res_page_mark(page, "<section class=\"result\">");
    if (has_others)
        res_page_words(page, "h1", "file", source->name);
    if (result->fleet != NULL)
        res_fleet_show(&page->body, result->fleet);
    for (size_t i = 0; i < result->workload_count; i++)
        add_workload(page, result, &result->workloads[i], is_alone);
    if (is_confirm)
        res_confirm_screen(&page->body, result);
    else if (!res_result_is_fleet(result))
        res_notes_lead(&page->body, result->notes, result->note_count);
    if (!res_result_is_fleet(result))
        res_notes_rest(&page->body, result->notes, result->note_count, NULL);
    add_basis(page, result);
    res_page_mark(page, "</section>\n");
}

/* The title by the first workload, or by what else the page is about. The caller's to free. */
static char *page_title(const struct res_html_source *sources, size_t workloads)
{
    const struct res_result *first = sources[0].result;
    RES_FREED char *name = first->workload_count > 0     ? res_strdup(first->workloads[0].name)
                           : first->confirmation != NULL ? res_confirm_ran(first->confirmation)
                           : first->fleet != NULL        ? res_fleet_head(first->fleet)
                                                         : res_strdup(sources[0].name);
    char *title = workloads > 1 ? res_printf("%s and %zu more - mallab report", name, workloads - 1)
                                : res_printf("%s - mallab report", name);
    return title;
}

char *res_html(const struct res_html_source *sources, size_t count)
{
    struct res_page page = {.body = {.style = &PAGE}, .charts = json_array()};
    size_t workloads = 0;
    for (size_t i = 0; i < count; i++)
        workloads += sources[i].result->workload_count;
    for (size_t i = 0; i < count; i++)
        add_result(&page, &sources[i], workloads <= 1, count > 1);
    res_page_words(&page, "p", "small", "mallab " MALLAB_VERSION ". " NOTE);
    char *title = page_title(sources, workloads), *text = res_page_whole(&page, title);
    free(title);
    return text;
}

/* ---- the page of a history: two charts for each series, and its document --------------------- */

/* A line for each candidate; the baseline's time is what the others' is a ratio to. */
static void add_chart(struct res_page *page, const struct res_history *history, size_t first,
                      const char *title, bool memory)
{
    json_t *lines = json_array();
    for (size_t end, series = res_history_end(history, first, true); first < series; first = end) {
        const struct res_history_point *point = &history->points[first];
        json_t *dates = json_array(), *values = json_array();
        end = res_history_end(history, first, false);
        for (size_t i = first; i < end && (memory || !point->is_baseline); i++) {
            const struct res_figures *figures = &history->points[i].figures;
            json_array_append_new(dates, json_real((double)history->points[i].created_unix_ns / 1e9));
            json_array_append_new(values,
                                  res_json_number(memory ? figures->peak_bytes : figures->time.ratio));
        }
        if (json_array_size(dates) > 0)
            json_array_append_new(lines,
                                  json_pack("{s:o, s:O, s:O, s:i}", "label", res_json_text(point->candidate),
                                            "dates", dates, "values", values, "colour",
                                            (int)res_page_colour(page, point->candidate)));
        json_decref(dates);
        json_decref(values);
    }
    res_page_chart(page, title, false,
                   json_pack("{s:s, s:s, s:s, s:o}", "kind", "days", "y_as", memory ? "bytes" : "ratio",
                             "x_label", "UTC", "series", lines));
}

char *res_html_history(const struct res_history *history)
{
    struct res_page page = {.body = {.style = &PAGE}, .charts = json_array()};
    for (size_t first = 0; first < history->point_count; first = res_history_end(history, first, true)) {
        const struct res_history_point *point = &history->points[first];
        RES_FREED char *title = res_printf("Time against %s, on a logarithmic axis", point->baseline);
        res_page_mark(&page, "<article class=\"workload\">");
        res_page_own(&page, "h2", NULL,
                     res_printf("%s, %s, against %s", point->workload, point->machine, point->baseline));
        add_chart(&page, history, first, title, false);
        add_chart(&page, history, first, "Peak memory", true);
        res_page_mark(&page, "</article>\n");
    }
    res_page_part(&page, "Every result",
                  "Times of different days do not compare; changes to the baseline of the same result do.");
    RES_FREED char *document = res_history_document(history, &PAGE);
    res_page_mark(&page, "%s</section>\n", document);
    RES_FREED char *title = res_printf("%s - mallab history",
                                       history->point_count > 0 ? history->points->workload : "nothing");
    return res_page_whole(&page, title);
}

char *res_html_document(const char *title, char *document)
{
    struct res_page page = {.body = {.style = &PAGE}};
    res_page_mark(&page, "<section>%s</section>\n", document);
    free(document);
    return res_page_whole(&page, title);
}
