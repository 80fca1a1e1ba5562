/* html.c - the page of the build with the data of results in its gap: less what a page cannot show, of the raw samples one series
 * for each candidate. */
#include "results/report/html/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "results/measure/base/json_values.h"
#include "results/measure/figures/metric.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/notes/notes.h"
#include "results/report/table/confirm_screen.h"
#include "results/report/table/fleet_table.h"
#include "results/report/table/table.h"
#include "results/report/table/verdict_screen.h"

#define ROUNDS_MAX 1024u /* of which a point's median is made */

/* ---- resident over time --------------------------------------------------------------------- */

/* Median over the rounds, at each sample, and what was held from the start; NAN where no run has a sample. The runs are
 * those that the resident figures are of: of the memory pass, where there was one. */
static double *median_series(const struct res_result_entry *entry, size_t count)
{
    const struct res_run *runs = entry->memory_count > 0 ? entry->memory_runs : entry->runs;
    const size_t run_count = entry->memory_count > 0 ? entry->memory_count : entry->run_count;
    const size_t rounds = run_count < ROUNDS_MAX ? run_count : ROUNDS_MAX;
    const double start = isfinite(entry->figures.own_start_bytes) ? entry->figures.own_start_bytes : 0;
    double *series = res_calloc(count + 1, sizeof *series);
    double *samples = res_calloc(rounds + 1, sizeof *samples);
    for (size_t i = 0; i < count; i++) {
        size_t sample_count = 0;
        for (size_t round = 0; round < rounds; round++) {
            const json_t *of_run = json_object_get(runs[round].json, "samples");
            const json_t *value = json_array_get(json_object_get(of_run, "resident_bytes"), i);
            if (json_is_number(value))
                samples[sample_count++] = json_number_value(value);
        }
        series[i] = sample_count > 0 ? start + res_median(samples, sample_count) : NAN;
    }
    free(samples);
    return series;
}

static double *plain_series(const json_t *array, size_t count)
{
    double *series = res_calloc(count + 1, sizeof *series);
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, i);
        series[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return series;
}

/* Where parts begin; each yields two points, so that all series keep their extremes at shared times. */
static size_t part_begin(size_t part, size_t parts, size_t count)
{
    return (size_t)((__uint128_t)part * count / parts);
}

static json_t *points_of(const double *series, size_t count)
{
    json_t *array = json_array();
    const size_t parts = RES_HTML_POINTS_MAX / 2;
    for (size_t i = 0; count <= RES_HTML_POINTS_MAX && i < count; i++)
        json_array_append_new(array, res_json_number(series[i]));
    for (size_t part = 0; count > RES_HTML_POINTS_MAX && part < parts; part++) {
        const size_t end = part_begin(part + 1, parts, count);
        size_t least = part_begin(part, parts, count), greatest = least;
        for (size_t i = least; i < end; i++) {
            least = !(series[least] <= series[i]) ? i : least;
            greatest = !(series[greatest] >= series[i]) ? i : greatest;
        }
        json_array_append_new(array, res_json_number(series[least < greatest ? least : greatest]));
        json_array_append_new(array, res_json_number(series[least < greatest ? greatest : least]));
    }
    return array;
}

/* Times are those of a part's first and last window, whatever window in it had the extreme. They must not fall: charts
 * search in them. */
static json_t *times_of(double *times, size_t count)
{
    const size_t parts = RES_HTML_POINTS_MAX / 2;
    for (size_t i = 0; i < count; i++)
        if (i > 0 && !(times[i] >= times[i - 1]))
            times[i] = times[i - 1];
    if (count <= RES_HTML_POINTS_MAX)
        return points_of(times, count);
    json_t *array = json_array();
    for (size_t part = 0; part < parts; part++) {
        json_array_append_new(array, res_json_number(times[part_begin(part, parts, count)]));
        json_array_append_new(array, res_json_number(times[part_begin(part + 1, parts, count) - 1]));
    }
    return array;
}

static json_t *series_object(const struct res_result_workload *workload)
{
    /* Results of former versions have one list for both kinds of runs. */
    const json_t *samples = json_is_object(workload->memory_samples) ? workload->memory_samples
                                                                     : workload->samples;
    const size_t count = json_array_size(json_object_get(samples, "time_ns"));
    if (count < 2)
        return json_null();
    double *times = plain_series(json_object_get(samples, "time_ns"), count);
    double *live = plain_series(json_object_get(samples, "live_bytes"), count);
    json_t *series = json_object(), *resident = json_array();
    for (size_t i = 0; i < workload->candidate_count; i++) {
        double *bytes = median_series(&workload->candidates[i], count);
        json_array_append_new(resident, points_of(bytes, count));
        free(bytes);
    }
    if (isfinite(times[0])) {
        json_object_set_new(series, "time_ns", times_of(times, count));
        json_object_set_new(series, "live_bytes", points_of(live, count));
        json_object_set(series, "resident_bytes", resident);
        json_object_set_new(series, "windows", json_integer((json_int_t)count));
    }
    json_decref(resident);
    free(times);
    free(live);
    return series;
}

/* ---- everything else ------------------------------------------------------------------------ */

/* Of the passes the page shows the first one's histogram and map: one pass is a real distribution, a mean of several is
 * none. */
static json_t *latency_object(const struct res_latency_figures *latency)
{
    static const char *const raw[] = {"runs", "by_call_and_size_class", NULL};
    if (latency == NULL)
        return json_null();
    json_t *object = res_described_write_less(&RES_LATENCY, latency, raw);
    const json_t *first = latency->run_count > 0 ? latency->runs[0].json : NULL;
    const json_t *of_run = json_object_get(first, "latency");
    const json_t *shown = json_is_object(of_run) ? of_run : first;
    json_t *histogram = json_object_get(shown, "histogram"), *map = json_object_get(shown, "map");
    json_object_set(object, "histogram", histogram != NULL ? histogram : json_null());
    json_object_set(object, "map", map != NULL ? map : json_null());
    return object;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* What each round says of an entry's ratio to the baseline. */
static json_t *round_ratios(const struct res_result_workload *workload, const struct res_result_entry *entry)
{
    struct res_series series = res_series_of(workload, entry, RES_METRIC_TIME);
    struct res_series base = res_series_of(workload, &workload->candidates[0], RES_METRIC_TIME);
    const size_t count = series.time.batches.round_count;
    double *says = res_calloc(count + 1, sizeof *says);
    json_t *array = json_array();
    for (size_t round = 0; round < count; round++)
        says[round] = NAN;
    const double value = res_series_rounds(&series, &base, says).value;
    for (size_t round = 0; round < count && round < ROUNDS_MAX; round++)
        json_array_append_new(array, res_json_number(exp(value + says[round])));
    free(says);
    res_series_release(&series);
    res_series_release(&base);
    return array;
}

/* described: RES_RESULT_ENTRY or RES_RESULT_FLOOR. */
static json_t *entry_object(const struct res_described *described, const struct res_result_entry *entry)
{
    static const char *const raw[] = {"runs", "memory_runs", "latency", NULL};
    json_t *object = res_described_write_less(described, entry, raw);
    json_object_set_new(object, "latency", latency_object(entry->latency));
    return object;
}

/* Those that the page has no part for that shows them. */
static json_t *notes_array(const struct res_note *notes, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        if (!notes[i].on_page)
            json_array_append_new(array, res_described_write(&RES_NOTE, &notes[i]));
    return array;
}

/* Sentences are made here, as for the table; NULL: there is nothing to say. */
static void set_words(json_t *object, const char *key, char *words)
{
    char *plain = words != NULL ? res_text_plain(words) : NULL;
    json_object_set_new(object, key, plain != NULL ? json_string(plain) : json_null());
    free(plain);
    free(words);
}

static json_t *workload_object(const struct res_result *result, const struct res_result_workload *workload)
{
    static const char *const raw[] = {"samples", "memory_samples", "candidates", "control",
                                      "floor",   "notes",          NULL};
    json_t *object = res_described_write_less(&RES_RESULT_WORKLOAD, workload, raw);
    json_t *candidates = json_array();
    json_t *control = entry_object(&RES_RESULT_ENTRY, &workload->control);
    for (size_t i = 0; i < workload->candidate_count; i++) {
        json_t *candidate = entry_object(&RES_RESULT_ENTRY, &workload->candidates[i]);
        json_object_set_new(candidate, "round_ratios", round_ratios(workload, &workload->candidates[i]));
        json_array_append_new(candidates, candidate);
    }
    json_object_set_new(control, "round_ratios", round_ratios(workload, &workload->control));
    json_object_set_new(object, "notes", notes_array(workload->notes, workload->note_count));
    set_words(object, "program_words", res_notes_program(workload));
    set_words(object, "share_words", res_verdict_share(result, workload));
    json_object_set_new(object, "columns", res_columns_json(result, workload));
    json_object_set_new(object, "candidates", candidates);
    json_object_set_new(object, "control", control);
    json_object_set_new(object, "floor",
                        workload->floor != NULL ? entry_object(&RES_RESULT_FLOOR, workload->floor)
                                                : json_null());
    json_object_set_new(object, "series", series_object(workload));
    return object;
}

static json_t *result_object(const struct res_html_source *source)
{
    static const char *const raw[] = {"workloads", "notes", NULL};
    const struct res_result *result = source->result;
    json_t *object = res_described_write_less(&RES_RESULT, result, raw), *workloads = json_array();
    for (size_t i = 0; i < result->workload_count; i++)
        json_array_append_new(workloads, workload_object(result, &result->workloads[i]));
    json_object_set_new(object, "file", res_json_text(source->name));
    json_object_set_new(object, "workloads", workloads);
    json_object_set_new(object, "notes", notes_array(result->notes, result->note_count));
    const bool is_alone = result->workload_count == 0 && result->confirmation != NULL;
    json_object_set_new(object, "confirm_table", is_alone ? res_confirm_json(result) : json_null());
    return object;
}

json_t *res_html_data(const struct res_html_source *sources, size_t count)
{
    json_t *results = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(results, result_object(&sources[i]));
    return json_pack("{s:s, s:s, s:o}", "schema", "mallab-report/1", "mallab_version", MALLAB_VERSION,
                     "results", results);
}

/* ---- the page -------------------------------------------------------------------------------- */

/* Made by embed.py. */
extern const char res_html_page[];
extern const size_t res_html_page_length;
extern const size_t res_html_page_gaps[]; /* offsets at which text and data go */

/* The character that an escape stands for, of one beyond 16 bits its half; 0: an escape of two bytes. */
static uint32_t escaped_character(const char *escape)
{
    char digits[5] = "";
    if (escape[1] != 'u')
        return 0;
    memcpy(digits, escape + 2, 4); /* jansson writes four */
    return (uint32_t)strtoul(digits, NULL, 16);
}

/* Tags, U+E0000 to U+E03FF, begin with this half. */
#define TAG_HALF 0xdb40u

char *res_html_escaped(const json_t *data)
{
    struct res_text text = {0};
    char *plain = json_dumps(data, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
    /* Outside of strings JSON has none of these four. */
    const char *rest = plain != NULL ? plain : "null";
    uint32_t last = 0;
    while (*rest != '\0') {
        const size_t harmless = strcspn(rest, "<>&\\");
        res_text_add(&text, rest, harmless);
        rest += harmless;
        if (*rest == '\\') {
            /* A character that is not seen is shown as its escape. Other escapes are two bytes, or so begin. */
            const uint32_t character = escaped_character(rest);
            if (character != 0 &&
                (fp_character_is_hidden(character) || character == TAG_HALF || last == TAG_HALF))
                res_text_add(&text, "\\", 1);
            res_text_add(&text, rest, 2);
            rest += 2;
            last = character;
        } else if (*rest != '\0') {
            res_text_printf(&text, "\\u%04x", (unsigned)(unsigned char)*rest++);
        }
    }
    free(plain);
    return text.text;
}

/* Text of an element: lines as on the screen, for who has no scripts. */
static void add_text(struct res_text *page, const char *text)
{
    static const char MARKS[] = "<>&";
    while (*text != '\0') {
        const size_t harmless = strcspn(text, MARKS);
        res_text_add(page, text, harmless);
        text += harmless;
        if (*text != '\0')
            res_text_printf(page, "&#%d;", *text++);
    }
}

/* Takes over the reference, and the text. */
static char *page_of(json_t *data, char *text)
{
    struct res_text page = {0};
    const size_t *gaps = res_html_page_gaps;
    char *escaped = res_html_escaped(data);
    res_text_add(&page, res_html_page, gaps[0]);
    add_text(&page, text);
    res_text_add(&page, res_html_page + gaps[0], gaps[1] - gaps[0]);
    res_text_add(&page, escaped, strlen(escaped));
    res_text_add(&page, res_html_page + gaps[1], res_html_page_length - gaps[1]);
    free(escaped);
    free(text);
    json_decref(data);
    return page.text;
}

char *res_html(const struct res_html_source *sources, size_t count)
{
    const struct res_style style = {.utf8 = true};
    struct res_text text = {0};
    for (size_t i = 0; i < count; i++) {
        const struct res_result *result = sources[i].result;
        char *table = res_result_is_fleet(result) ? res_fleet_text(result->fleet, &style)
                                                  : res_table_text(result, &style);
        res_text_printf(&text, "%s%s", i > 0 ? "\n" : "", table);
        free(table);
    }
    return page_of(res_html_data(sources, count), text.text != NULL ? text.text : res_strdup(""));
}

char *res_html_history(const json_t *history)
{
    return page_of(json_pack("{s:s, s:s, s:O}", "schema", "mallab-report/1", "mallab_version", MALLAB_VERSION,
                             "history", history),
                   res_strdup("The same as text: mallab report DIR"));
}
