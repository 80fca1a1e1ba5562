/* workload_charts.c - the charts of a workload: rounds, resident memory, single calls, what the program asks for. */
#include <stdlib.h>
#include <string.h>

#include "footprint/base/words.h"
#include "results/measure/figures/figures.h"
#include "results/report/html/html.h"

#define ROUNDS_MAX 1024u /* of which a point's median is made */

/* ---- series ---------------------------------------------------------------------------------- */

/* Median over the rounds, at each sample, and what was held from the start; NAN where no run has a sample. The runs are
 * those that the resident figures are of: of the memory pass, where there was one. */
static double *median_series(const struct res_result_entry *entry, size_t count)
{
    const struct res_run *runs = entry->memory_count > 0 ? entry->memory_runs : entry->runs;
    const size_t run_count = entry->memory_count > 0 ? entry->memory_count : entry->run_count;
    const size_t rounds = run_count < ROUNDS_MAX ? run_count : ROUNDS_MAX;
    const double start = isfinite(entry->figures.own_start_bytes) ? entry->figures.own_start_bytes : 0;
    double *series = res_calloc(count + 1, sizeof *series);
    RES_FREED double *samples = res_calloc(rounds + 1, sizeof *samples);
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
    return series;
}

/* A long series is drawn by the greatest value of equal parts. */
static json_t *points_of(const double *series, size_t count)
{
    json_t *array = json_array();
    const size_t parts = count < RES_HTML_POINTS_MAX ? count : RES_HTML_POINTS_MAX;
    for (size_t part = 0, at = 0; part < parts; part++) {
        const size_t end = (size_t)((__uint128_t)(part + 1) * count / parts);
        double greatest = series[at];
        for (; at < end; at++)
            greatest = fmax(greatest, series[at]);
        json_array_append_new(array, res_json_number(greatest));
    }
    return array;
}

/* Times must not fall: charts search in them. */
static json_t *times_of(double *times, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (!(times[i] >= times[i - 1]))
            times[i] = times[i - 1];
    return points_of(times, count);
}

/* A line or bars of a chart. */
static json_t *line_of(const char *label, json_t *values, size_t colour)
{
    return json_pack("{s:o, s:o, s:i}", "label", res_json_text(label), "values", values, "colour",
                     (int)colour);
}

/* ---- resident over time ---------------------------------------------------------------------- */

static void add_resident(struct res_page *page, const struct res_result_workload *workload,
                         const json_t *samples, size_t count)
{
    RES_FREED double *times = res_json_numbers(json_object_get(samples, "time_ns"), count);
    RES_FREED double *live = res_json_numbers(json_object_get(samples, "live_bytes"), count);
    json_t *lines = json_array(), *live_line = line_of("live bytes", points_of(live, count), 0);
    json_object_set_new(live_line, "is_live", json_true());
    json_array_append_new(lines, live_line);
    for (size_t i = 0; i < workload->candidate_count; i++) {
        const struct res_result_entry *entry = &workload->candidates[i];
        RES_FREED double *bytes = entry->failed == NULL ? median_series(entry, count) : NULL;
        if (bytes != NULL)
            json_array_append_new(
                lines, line_of(entry->name, points_of(bytes, count), res_page_colour(page, entry->name)));
    }
    json_t *x = times_of(times, count);
    res_page_chart(page, "Resident memory over recorded time", true,
                   json_pack("{s:s, s:o, s:s, s:s, s:s, s:o}", "kind", "lines", "x", x, "x_as", "time",
                             "y_as", "bytes", "x_label", "recorded time", "series", lines));
}

void res_page_resident(struct res_page *page, const struct res_result_workload *workload)
{
    /* Results of former versions have one list for both kinds of runs. */
    const json_t *samples = json_is_object(workload->memory_samples) ? workload->memory_samples
                                                                     : workload->samples;
    const size_t count = json_array_size(json_object_get(samples, "time_ns"));
    const bool is_known = count >= 2 &&
                          json_is_number(json_array_get(json_object_get(samples, "time_ns"), 0));
    if (!is_known)
        return;
    res_page_part(page, "Resident memory over recorded time",
                  "Median of the rounds, with what is held from the start, over what the program had asked "
                  "for and not yet freed. Click a name to hide its line.");
    add_resident(page, workload, samples, count);
    res_page_mark(page, "</section>\n");
}

/* ---- time ------------------------------------------------------------------------------------ */

/* "35.0 % less", "+3.0% not shown": in words for who sees no colours. */
static void add_range(struct res_page *page, json_t *rows, const struct res_result_entry *entry,
                      const char *name, bool is_control)
{
    const struct res_difference *time = &entry->figures.time;
    if (!isfinite(time->ratio))
        return;
    const bool is_shown = !is_control && (time->verdict == RES_LESS || time->verdict == RES_MORE);
    RES_FREED char *words =
        is_shown
            ? res_printf("%.1f %% %s", 100 * fabs(time->ratio - 1), RES_MEMORY_VERDICTS[time->verdict])
            : res_printf("%s %s", RES_PERCENT(time->ratio),
                         is_control
                             ? ""
                             : res_verdict_shown(time->verdict, time->interval.low, time->interval.high));
    json_array_append_new(rows, json_pack("{s:o, s:s, s:o, s:o, s:o, s:i, s:b}", "name", res_json_text(name),
                                          "words", words, "ratio", res_json_number(time->ratio), "low",
                                          res_json_number(time->interval.low), "high",
                                          res_json_number(time->interval.high), "colour",
                                          (int)res_page_colour(page, entry->name), "is_control", is_control));
}

void res_page_time(struct res_page *page, const struct res_result *result,
                   const struct res_result_workload *workload)
{
    json_t *rows = json_array();
    for (size_t i = 1; i < workload->candidate_count; i++)
        add_range(page, rows, &workload->candidates[i], workload->candidates[i].name, false);
    RES_FREED char *again = res_printf("%s again, which shows chance", result->baseline);
    add_range(page, rows, &workload->control, again, true);
    if (json_array_size(rows) > 0) {
        RES_FREED char *title = res_printf("Time in malloc against %s", result->baseline);
        res_page_part(page, title,
                      "The change of each candidate, with its 95 % range. The axis is logarithmic.");
        res_page_chart(page, title, true,
                       json_pack("{s:s, s:O, s:s, s:s}", "kind", "ranges", "rows", rows, "less", "faster",
                                 "more", "slower"));
        res_page_mark(page, "</section>\n");
    }
    json_decref(rows);
}

/* ---- single calls ---------------------------------------------------------------------------- */

/* The page shows the first pass's histogram and map: one pass is a real distribution, a mean of several is none. */
static const json_t *first_pass(const struct res_result_entry *entry)
{
    const struct res_latency_figures *latency = entry->latency;
    const json_t *first = latency != NULL && latency->run_count > 0 ? latency->runs[0].json : NULL;
    const json_t *of_run = json_object_get(first, "latency");
    return json_is_object(of_run) ? of_run : first;
}

/* The parts that each candidate's pass has by this name. */
static json_t *parts_of(struct res_page *page, const struct res_result_workload *workload, const char *key)
{
    json_t *parts = json_array();
    for (size_t i = 0; i < workload->candidate_count; i++) {
        const struct res_result_entry *entry = &workload->candidates[i];
        json_t *part = json_object_get(first_pass(entry), key);
        if (json_is_object(part))
            json_array_append_new(
                parts, line_of(entry->name, json_incref(part), res_page_colour(page, entry->name)));
    }
    return parts;
}

void res_page_latency(struct res_page *page, const struct res_result_workload *workload)
{
    json_t *lines = parts_of(page, workload, "histogram"), *maps = parts_of(page, workload, "map");
    if (json_array_size(lines) == 0 && json_array_size(maps) == 0) {
        json_decref(lines);
        json_decref(maps);
        return;
    }
    res_page_part(
        page, "Latency of single calls",
        "Passes of their own, each call timed by itself, less the harness' own; not in it: first "
        "touches of new memory by the program. Pictures are of the first pass; axes of latency and of "
        "percentiles are logarithmic.");
    if (json_array_size(lines) > 0)
        res_page_chart(page, "Latency of single calls by percentile", false,
                       json_pack("{s:s, s:O, s:s}", "kind", "percentiles", "series", lines, "x_label",
                                 "share of calls that are not slower"));
    if (json_array_size(maps) > 0)
        res_page_chart(page, "Calls by latency over recorded time", false,
                       json_pack("{s:s, s:O}", "kind", "map", "series", maps));
    res_page_mark(page, "</section>\n");
    json_decref(lines);
    json_decref(maps);
}
