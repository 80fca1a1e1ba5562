/* test_results_html.c - what reaches the page: nothing that ends its element, no raw sample, and every peak. */
#include <math.h>

#include "results/measure/result/result.h"
#include "results/report/html/html.h"
#include "unit/harness.h"
#include "unit/typed.h"

TEST(no_byte_of_a_string_ends_the_element)
{
    json_t *data = json_pack("[s, s]", "</script><!--&amp;", "a\\\"\n\u20ac\\u202e");
    OWNED_TEXT *text = res_html_escaped(data);
    json_error_t error;
    json_auto_t *again = json_loads(text, 0, &error);
    CHECK_STR(text, "[\"\\u003c/script\\u003e\\u003c!--\\u0026amp;\",\"a\\\\\\\"\\n\\u20AC\\\\u202e\"]");
    CHECK(again != NULL && json_equal(data, again));
    json_decref(data);
}

/* U+2028 ends a line in older scripts, U+202E turns one around, and tags are not seen. */
TEST(what_is_not_seen_is_spelled_out)
{
    json_auto_t *data = json_pack("[o, o]", res_json_text("a\u2028\u202ez\x1b"),
                                  res_json_text("\U000e0041\U0001f600"));
    OWNED_TEXT *text = res_html_escaped(data);
    CHECK_STR(text, "[\"a\\\\u2028\\\\u202ez\\\\x1b\",\"\\\\ue0041\\uD83D\\uDE00\"]");
}

static json_t *entry_of(json_t *resident)
{
    return json_pack("{s:s, s:{}, s:{}, s:[{s:{s:o}, s:[i]}]}", "name", "glibc", "time", "resident", "runs",
                     "samples", "resident_bytes", resident, "batch_ns", 1);
}

static json_t *result_of(size_t windows, size_t peak_at)
{
    json_t *times = json_array(), *live = json_array(), *resident = json_array();
    for (size_t i = 0; i < windows; i++) {
        json_array_append_new(times, json_integer((json_int_t)i * 10));
        json_array_append_new(live, json_integer(5));
        json_array_append_new(resident, json_integer(i == peak_at ? 1000 : 7));
    }
    json_t *workload = json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:{s:o, s:o}, s:[o], s:o, s:n}", "name", "w",
                                 "ops", 9, "threads", 1, "duration_ns", 9, "live_peak_bytes", 5, "rounds", 1,
                                 "samples", "time_ns", times, "live_bytes", live, "candidates",
                                 entry_of(resident), "control", entry_of(json_array()), "floor");
    return json_pack("{s:s, s:s, s:i, s:i, s:{}, s:[], s:[o]}", "schema", RES_SCHEMA, "baseline", "glibc",
                     "rounds", 1, "seed", 1, "machine", "missing", "workloads", workload);
}

/* The charts of the page of a result, of which this is the first of a kind; NULL: there is none. */
static json_t *chart_of(const json_t *result, const char *kind, json_t **ret_charts)
{
    const struct res_html_source source = {.name = "r.json", .result = typed((json_t *)(uintptr_t)result)};
    OWNED_TEXT *page = res_html(&source, 1);
    const char *data = strstr(page, "id=\"data\">") + strlen("id=\"data\">");
    *ret_charts = json_loadb(data, (size_t)(strstr(data, "</script>") - data), 0, NULL);
    size_t at;
    json_t *chart, *found = NULL;
    json_array_foreach(*ret_charts, at, chart)
    {
        found = found == NULL && strcmp(json_string_value(json_object_get(chart, "kind")), kind) == 0 ? chart
                                                                                                      : found;
    }
    return found;
}

TEST(a_history_is_on_its_page)
{
    struct res_history history = {0};
    res_history_leave_out(&history, "a</script>.json", "torn");
    res_history_finish(&history);
    OWNED_TEXT *page = res_html_history(&history);
    CHECK(strstr(page, "left out: a&#60;/script&#62;.json: torn") != NULL);
    res_described_release(&RES_HISTORY, &history);
}

TEST(a_long_series_is_bounded_and_keeps_its_peak)
{
    for (size_t peak_at = 0; peak_at < 54321; peak_at += 54320 / 5) {
        json_t *data, *result = result_of(54321, peak_at);
        json_t *chart = chart_of(result, "lines", &data);
        json_t *line = json_array_get(json_object_get(chart, "series"), 1), *point;
        json_t *points = json_object_get(line, "values"), *times = json_object_get(chart, "x");
        double greatest = 0, before = -1;
        size_t index;
        CHECK_U64(json_array_size(points), RES_HTML_POINTS_MAX);
        CHECK_U64(json_array_size(times), RES_HTML_POINTS_MAX);
        json_array_foreach(points, index, point)
        {
            greatest = json_number_value(point) > greatest ? json_number_value(point) : greatest;
        }
        json_array_foreach(times, index, point)
        {
            CHECK(json_number_value(point) >= before);
            before = json_number_value(point);
        }
        CHECK_U64(greatest, 1000);
        json_decref(data);
        json_decref(result);
    }
}

/* Verdict and figures stand in the page itself, and nothing of a name is a mark. */
TEST(without_scripts_the_page_has_the_words)
{
    json_auto_t *json = result_of(3, 1);
    json_t *workload = json_array_get(json_object_get(json, "workloads"), 0);
    json_object_set_new(workload, "name", json_string("</main><script>x&y\"'"));
    const struct res_html_source source = {.name = "r.json", .result = typed(json)};
    OWNED_TEXT *page = res_html(&source, 1);
    const char *main = strstr(page, "<main"), *end = strstr(page, "</main>"), *data = strstr(page, "<script");
    CHECK(main != NULL && end > main && data > end && strstr(end + 1, "</main>") == NULL);
    CHECK(strstr(main, "&#60;/main&#62;&#60;script&#62;x&#38;y&#34;&#39;") < end);
    CHECK(strstr(main, "Verdict") < end && strstr(main, "nothing to compare glibc with") < end);
}
