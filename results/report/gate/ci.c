/* ci.c - a check for GitHub, as JUnit's XML, and for people: aligned text, and Markdown for a job's summary. */
#include "results/report/gate/ci.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/base/json_values.h"
#include "results/report/grid/cells.h"
#include "results/report/grid/document.h"

/* ---- words of a finding ----------------------------------------------------------------------- */

/* "+4.1% [+3.6 +4.9]" or "61.2 MB [60.9 61.4]". */
static char *seen_words(const struct res_finding *finding)
{
    const struct res_estimate estimate = finding->estimate;
    /* Of rounds, not of passes, which need fewer. */
    const bool few = finding->rule.of_fleet == RES_FLEET_NONE && finding->rounds < RES_ROUNDS_FOR_INTERVAL &&
                     (finding->rule.metric == RES_METRIC_TIME || finding->rule.metric == RES_METRIC_FAULTS);
    if (finding->rule.of_fleet == RES_FLEET_LOSERS)
        return res_printf("%.0f proven, some %s", finding->value,
                          isfinite(estimate.value) ? RES_SHARE(estimate.value) : "?");
    if (!isfinite(estimate.value))
        return res_strdup("-");
    if (finding->rule.of_fleet != RES_FLEET_NONE && !isfinite(estimate.interval.high))
        return res_printf("%s ?", RES_PERCENT(estimate.value));
    if (finding->rule.relative)
        return res_printf("%s %s", RES_PERCENT(estimate.value),
                          few ? "?" : RES_INTERVAL(estimate.interval.low, estimate.interval.high));
    return res_printf("%s [%s to %s]", RES_METRIC(finding->rule.metric, estimate.value),
                      RES_METRIC(finding->rule.metric, estimate.interval.low),
                      RES_METRIC(finding->rule.metric, estimate.interval.high));
}

/* "+3%", "512MiB" as the budget has it. */
static const char *limit_words(const struct res_finding *finding)
{
    return strstr(finding->rule.text, "<=") + 2;
}

/* "2 within, 1 over, 0 inconclusive: over budget". */
static char *summary_words(const struct res_check *check)
{
    static const char *const words[] = {"within budget", "over budget", "inconclusive"};
    return res_printf("%" PRIu64 " within, %" PRIu64 " over, %" PRIu64 " inconclusive: %s",
                      check->counts[RES_WITHIN], check->counts[RES_OVER], check->counts[RES_INCONCLUSIVE],
                      words[check->outcome]);
}

/* ---- GitHub: commands ------------------------------------------------------------------------ */

/* A '%' would begin an escape. Line ends cannot be there: res_text_plain. */
static void add_command_words(struct res_text *text, const char *words)
{
    char *plain = res_text_plain(words);
    for (const char *byte = plain; *byte != '\0'; byte++)
        res_text_add(text, *byte == '%' ? "%25" : byte, *byte == '%' ? 3 : 1);
    free(plain);
}

static const char *command_of(const struct res_finding *finding, enum res_doubt doubt)
{
    if (finding->outcome == RES_OVER || doubt == RES_DOUBT_FAILS)
        return "error";
    return doubt == RES_DOUBT_PASSES ? "notice" : "warning";
}

char *res_check_github(const struct res_check *check, enum res_doubt doubt)
{
    struct res_text text = {0};
    for (size_t i = 0; i < check->changed_libraries.count; i++) {
        res_text_printf(&text, "::notice title=mallab check%%3A changed since then::");
        add_command_words(&text, check->changed_libraries.items[i]);
        res_text_printf(&text, "\n");
    }
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct res_finding *finding = &check->findings[i];
        if (finding->outcome == RES_WITHIN)
            continue;
        char *seen = seen_words(finding);
        char *words = res_printf("%s on %s: %s %s, limit %s%s%s", finding->candidate, finding->workload,
                                 finding->metric, seen, limit_words(finding),
                                 *finding->reason != '\0' ? "; " : "", finding->reason);
        res_text_printf(&text, "::%s title=mallab check%%3A %s::", command_of(finding, doubt),
                        finding->outcome == RES_OVER ? "over budget" : "inconclusive");
        add_command_words(&text, words);
        res_text_printf(&text, "\n");
        free(words);
        free(seen);
    }
    char *summary = summary_words(check);
    res_text_printf(&text, "::notice title=mallab check::");
    add_command_words(&text, summary);
    res_text_printf(&text, "\n");
    free(summary);
    return text.text;
}

/* ---- GitHub: benchmarks ---------------------------------------------------------------------- */

/* A ratio to the baseline of the same run, which a slower machine does not change. */
static void add_ratio(json_t *array, const struct res_result *result,
                      const struct res_result_workload *workload, const struct res_result_entry *entry,
                      enum res_metric metric)
{
    const struct res_result_entry *baseline = res_result_entry_named(workload, result->baseline);
    struct res_series own = res_series_of(workload, entry, metric);
    struct res_series other = res_series_of(workload, baseline, metric);
    const struct res_estimate estimate = res_logarithm_estimate(res_series_logarithm(&own, &other));
    if (entry != baseline && isfinite(estimate.value)) {
        char *name = res_printf("%s / %s / %s, ratio to %s", workload->name, entry->name,
                                res_metric_name(metric), result->baseline);
        char *range = res_printf("%.4f to %.4f", estimate.interval.low, estimate.interval.high);
        json_array_append_new(array, json_pack("{s:s, s:s, s:o, s:s, s:s}", "name", name, "unit", "ratio",
                                               "value", res_json_number(estimate.value), "range", range,
                                               "extra", "of the same run; its 95 % interval"));
        free(name);
        free(range);
    }
    res_series_release(&own);
    res_series_release(&other);
}

static void add_benchmark(json_t *array, const struct res_result_workload *workload,
                          const struct res_result_entry *entry, enum res_metric metric)
{
    struct res_series series = res_series_of(workload, entry, metric);
    if (series.count > 0) {
        char *name = res_printf("%s / %s / %s", workload->name, entry->name, res_metric_name(metric));
        char *range = res_printf("\u00b1 %.6g", res_median_deviation(series.values, series.count));
        char *extra = res_printf("median of %zu runs, \u00b1 median absolute deviation; %s %s", series.count,
                                 entry->name, entry->version != NULL ? entry->version : "unknown");
        json_array_append_new(array, json_pack("{s:s, s:s, s:o, s:s, s:s}", "name", name, "unit",
                                               res_metric_unit_name(metric), "value",
                                               res_json_number(res_series_value(&series)), "range", range,
                                               "extra", extra));
        free(name);
        free(range);
        free(extra);
    }
    res_series_release(&series);
}

/* What many workloads say together of one candidate. */
static void add_common(json_t *array, const struct res_fleet *fleet,
                       const struct res_fleet_candidate *candidate, const char *metric,
                       const struct res_interval *range, double ratio)
{
    if (!isfinite(ratio))
        return;
    char *name = res_printf("fleet / %s / %s, ratio to %s", candidate->name, metric, fleet->baseline);
    char *interval = res_printf("%.4f to %.4f", range->low, range->high);
    json_array_append_new(array, json_pack("{s:s, s:s, s:o, s:s, s:s}", "name", name, "unit", "ratio",
                                           "value", res_json_number(ratio), "range",
                                           isfinite(range->high) ? interval : "not known", "extra",
                                           "of all workloads together; its 95 % interval"));
    free(name);
    free(interval);
}

static void add_fleet(json_t *array, const struct res_fleet *fleet)
{
    for (size_t i = 1; i < fleet->candidate_count; i++) {
        const struct res_fleet_candidate *one = &fleet->candidates[i];
        add_common(array, fleet, one, "time", &(struct res_interval){one->time.low, one->time.high},
                   one->time.ratio);
        add_common(array, fleet, one, "peak", &(struct res_interval){one->peaks.low, one->peaks.high},
                   one->peaks.ratio);
    }
}

json_t *res_check_benchmark(const struct res_result *result)
{
    json_t *array = json_array();
    if (result->fleet != NULL)
        add_fleet(array, result->fleet);
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_workload *workload = &result->workloads[i];
        for (size_t k = 0; k < workload->candidate_count; k++)
            for (int metric = 0; metric < RES_METRIC_COUNT; metric++) {
                add_ratio(array, result, workload, &workload->candidates[k], (enum res_metric)metric);
                add_benchmark(array, workload, &workload->candidates[k], (enum res_metric)metric);
            }
    }
    return array;
}

/* ---- JUnit ----------------------------------------------------------------------------------- */

/* res_text_plain has taken out what XML 1.0 cannot hold: control characters and malformed UTF-8. */
static void add_xml(struct res_text *text, const char *words)
{
    char *plain = res_text_plain(words);
    for (const char *byte = plain; *byte != '\0'; byte++) {
        const char *entity = *byte == '&'   ? "&amp;"
                             : *byte == '<' ? "&lt;"
                             : *byte == '>' ? "&gt;"
                             : *byte == '"' ? "&quot;"
                                            : NULL;
        res_text_add(text, entity != NULL ? entity : byte, entity != NULL ? strlen(entity) : 1);
    }
    free(plain);
}

enum mark { MARK_PASSED, MARK_FAILED, MARK_SKIPPED };

static enum mark mark_of(const struct res_finding *finding, enum res_doubt doubt)
{
    if (finding->outcome == RES_WITHIN)
        return MARK_PASSED;
    if (finding->outcome == RES_OVER || doubt == RES_DOUBT_FAILS)
        return MARK_FAILED;
    return doubt == RES_DOUBT_PASSES ? MARK_PASSED : MARK_SKIPPED;
}

/* Marks of findings first .. end-1. */
static size_t marked(const struct res_check *check, size_t first, size_t end, enum mark mark,
                     enum res_doubt doubt)
{
    size_t count = 0;
    for (size_t i = first; i < end; i++)
        count += mark_of(&check->findings[i], doubt) == mark;
    return count;
}

static void add_counts(struct res_text *text, const struct res_check *check, size_t first, size_t end,
                       enum res_doubt doubt)
{
    res_text_printf(text, " tests=\"%zu\" failures=\"%zu\" errors=\"0\"", end - first,
                    marked(check, first, end, MARK_FAILED, doubt));
}

static void add_case(struct res_text *text, const struct res_finding *finding, enum res_doubt doubt)
{
    const enum mark mark = mark_of(finding, doubt);
    char *seen = seen_words(finding);
    char *message = res_printf("%s %s, limit %s: %s%s%s", finding->metric, seen, limit_words(finding),
                               res_outcome_name(finding->outcome), *finding->reason != '\0' ? ", " : "",
                               finding->reason);
    res_text_printf(text, "    <testcase classname=\"");
    add_xml(text, finding->workload);
    res_text_printf(text, "\" name=\"");
    add_xml(text, finding->candidate);
    res_text_printf(text, ": ");
    add_xml(text, finding->rule.text);
    res_text_printf(text, "\">\n");
    if (mark != MARK_PASSED) {
        res_text_printf(text, "      <%s message=\"", mark == MARK_FAILED ? "failure" : "skipped");
        add_xml(text, message);
        res_text_printf(text, "\"/>\n");
    }
    res_text_printf(text, "      <system-out>");
    add_xml(text, message);
    res_text_printf(text, "</system-out>\n    </testcase>\n");
    free(message);
    free(seen);
}

static void add_properties(struct res_text *text, const struct res_texts *changed)
{
    if (changed->count > 0)
        res_text_printf(text, "    <properties>\n");
    for (size_t i = 0; i < changed->count; i++) {
        res_text_printf(text, "      <property name=\"changed since then\" value=\"");
        add_xml(text, changed->items[i]);
        res_text_printf(text, "\"/>\n");
    }
    if (changed->count > 0)
        res_text_printf(text, "    </properties>\n");
}

char *res_check_junit(const struct res_check *check, enum res_doubt doubt)
{
    struct res_text text = {0};
    res_text_printf(&text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"mallab check\"");
    add_counts(&text, check, 0, check->finding_count, doubt);
    res_text_printf(&text, ">\n");
    for (size_t first = 0, end; first < check->finding_count; first = end) {
        for (end = first + 1; end < check->finding_count; end++)
            if (strcmp(check->findings[end].workload, check->findings[first].workload) != 0)
                break;
        res_text_printf(&text, "  <testsuite name=\"");
        add_xml(&text, check->findings[first].workload);
        res_text_printf(&text, "\"");
        add_counts(&text, check, first, end, doubt);
        res_text_printf(&text, " skipped=\"%zu\">\n", marked(check, first, end, MARK_SKIPPED, doubt));
        add_properties(&text, &check->changed_libraries);
        for (size_t i = first; i < end; i++)
            add_case(&text, &check->findings[i], doubt);
        res_text_printf(&text, "  </testsuite>\n");
    }
    res_text_printf(&text, "</testsuites>\n");
    return text.text;
}

/* What was taken out of the times of a workload, told once; NULL: nothing. first: its first finding. */
static char *bridge_words(const struct res_check *check, size_t first)
{
    for (size_t i = first; i < check->finding_count; i++) {
        const struct res_finding *finding = &check->findings[i];
        if (strcmp(finding->workload, check->findings[first].workload) != 0)
            break;
        if (!isfinite(finding->bridge_ratio) || finding->rule.metric != RES_METRIC_TIME ||
            finding->is_yardstick)
            continue;
        const char *percent = RES_PERCENT(finding->bridge_ratio);
        char *baseline = res_text_plain(check->baseline);
        char *words =
            finding->bridge == RES_BRIDGE_BASELINE
                ? res_printf(
                      "times are less what the machine moved by since then: %s, as the unchanged %s did",
                      percent, baseline)
                : res_printf("times are less what the machine moved by since then: %s, as the harness did; "
                             "allocators need not follow it, so that counts as noise, too",
                             percent);
        free(baseline);
        return words;
    }
    return NULL;
}

/* ---- the table ------------------------------------------------------------------------------ */

static bool is_first_of_workload(const struct res_check *check, size_t at)
{
    return at == 0 || strcmp(check->findings[at].workload, check->findings[at - 1].workload) != 0;
}

static void grid_begin(struct res_grid *grid, const struct res_check *check)
{
    char *seen = res_printf("measured, against %s (95 %%)",
                            check->earlier ? "the earlier result" : check->baseline);
    const struct res_column columns[] = {
        {.heading = "candidate", .own_line = true, .gap = 2}, {.heading = "metric", .gap = 2},
        {.heading = "measured", .alone = seen, .gap = 2},     {.heading = "limit", .gap = 2},
        {.heading = "outcome", .gap = 2, .open = true},
    };
    res_grid_begin(grid, columns, sizeof columns / sizeof columns[0]);
    free(seen);
}

/* "over: it crashed". Markdown has no colour, so what is over is loud there, and says why in any case. */
static char *outcome_words(const struct res_finding *finding, bool markdown)
{
    const bool loud = markdown && finding->outcome == RES_OVER;
    const char *outcome = loud ? "OVER" : res_outcome_name(finding->outcome);
    const char *reason = loud && *finding->reason == '\0' ? "the whole interval is above" : finding->reason;
    return *reason != '\0' ? res_printf("%s: %s", outcome, reason) : res_strdup(outcome);
}

/* All findings of a workload, the first of which is at `first`. Returns where the next workload's begin. */
static size_t add_rows(struct res_grid *grid, const struct res_check *check, size_t first, bool markdown)
{
    size_t at = first;
    do {
        const struct res_finding *finding = &check->findings[at];
        res_grid_add(grid, finding->candidate);
        res_grid_add(grid, finding->metric);
        res_grid_own(grid, seen_words(finding));
        res_grid_add(grid, limit_words(finding));
        res_grid_own(grid, outcome_words(finding, markdown));
        res_grid_role(grid, res_cell_role(res_outcome_name(finding->outcome)));
    } while (++at < check->finding_count && !is_first_of_workload(check, at));
    return at;
}

/* ---- Markdown, for a comment on a change ------------------------------------------------------ */

/* "abc123 (nightly)"; the result's file says neither: "-". */
static char *name_of(const struct res_result *result)
{
    const char *label = result->label, *commit = result->commit;
    if (commit == NULL || label == NULL)
        return res_strdup(commit != NULL ? commit : label != NULL ? label : "-");
    return res_printf("%s (%s)", commit, label);
}

/* What is other than in the base: before any figure. */
static void add_changes(struct res_document *document, const struct res_check *check)
{
    if (check->base == NULL)
        return;
    char *now = name_of(check->of), *then = name_of(check->base);
    if (strcmp(now, then) != 0)
        res_document_line(document, "since the base: %s -> %s", then, now);
    else if (check->changed_libraries.count == 0)
        res_document_line(document, "since the base: nothing that is known");
    free(now);
    free(then);
}

/* What a reader opens who doubts. */
static void add_details(struct res_document *document, const struct res_check *check)
{
    static const struct res_column COLUMNS[] = {{.heading = "workload"},    {.heading = "candidate"},
                                                {.heading = "metric"},      {.heading = "figure"},
                                                {.heading = "noise (A/A)"}, {.heading = "rounds"}};
    const struct res_machine *machine = &check->of->machine;
    struct res_grid grid;
    res_grid_begin(&grid, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct res_finding *finding = &check->findings[i];
        res_grid_add(&grid, finding->workload);
        res_grid_add(&grid, finding->candidate);
        res_grid_add(&grid, finding->metric);
        res_grid_add(&grid, RES_METRIC(finding->rule.metric, finding->value));
        res_grid_add(&grid, RES_INTERVAL(finding->noise.low, finding->noise.high));
        res_grid_own(&grid, res_printf("%" PRIu64, finding->rounds));
    }
    res_text_printf(&document->text, "\n<details>\n<summary>How it was measured</summary>\n\n");
    res_document_table(document, &grid);
    res_document_gap(document);
    res_document_line(document, "commit: %s", check->of->commit != NULL ? check->of->commit : "not known");
    for (size_t i = 0; res_result_is_fleet(check->of) && i < check->of->fleet->machines.count; i++)
        res_document_line(document, "machines: %s", check->of->fleet->machines.items[i]);
    if (!res_result_is_fleet(check->of))
        res_document_line(document, "machine: %s, Linux %s, mallab %s",
                          machine->cpu != NULL ? machine->cpu : "?",
                          machine->kernel != NULL ? machine->kernel : "?", check->mallab_version);
    for (size_t i = 0; i < check->of->disturbance_count; i++)
        if (check->of->disturbances[i].text != NULL)
            res_document_line(document, "%s", check->of->disturbances[i].text);
    res_text_printf(&document->text, "\n</details>\n");
    res_grid_release(&grid);
}

char *res_check_document(const struct res_check *check, const struct res_style *style)
{
    struct res_document document = {.style = style};
    struct res_grid grid;
    char *baseline = res_text_plain(check->baseline), *summary = summary_words(check);
    if (style == NULL)
        res_document_heading(&document, 2, "mallab check: %s", summary);
    grid_begin(&grid, check);
    res_document_names(&document, "changed", &check->changed_libraries, 0);
    add_changes(&document, check);
    for (size_t at = 0, first = 0; at < check->finding_count; first = at) {
        char *words = bridge_words(check, first);
        res_document_heading(&document, 3, "%s, percentages against %s%s (95 %% intervals)",
                             check->findings[at].workload, check->earlier ? "the earlier result" : baseline,
                             check->earlier ? "" : " of the same run");
        at = add_rows(&grid, check, first, style == NULL);
        res_document_table(&document, &grid);
        if (words != NULL)
            res_document_line(&document, "%s", words);
        res_document_gap(&document);
        free(words);
    }
    if (style == NULL)
        add_details(&document, check);
    else
        res_document_line(&document, "%s", summary);
    res_grid_release(&grid);
    free(baseline);
    free(summary);
    return document.text.text;
}
