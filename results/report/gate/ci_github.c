/* ci_github.c - a check as GitHub's workflow commands, which it shows as annotations of the run; and a result as the array that
 * benchmark-tracking actions read. */
#include <stdlib.h>

#include "footprint/base/support.h"
#include "results/measure/base/json_values.h"
#include "results/report/gate/ci.h"

/* A '%' would begin an escape. Line ends cannot be there: res_text_plain. */
static void add_escaped(struct res_text *text, const char *words)
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
    for (size_t i = 0; i < check->finding_count; i++) {
        const struct res_finding *finding = &check->findings[i];
        if (finding->outcome == RES_WITHIN)
            continue;
        char *seen = res_finding_seen(finding);
        char *words = res_printf("%s on %s: %s %s, limit %s%s%s", finding->candidate, finding->workload,
                                 res_metric_name(finding->rule.metric), seen, res_finding_limit(finding),
                                 *finding->reason != '\0' ? "; " : "", finding->reason);
        res_text_printf(&text, "::%s title=mallab check%%3A %s::", command_of(finding, doubt),
                        finding->outcome == RES_OVER ? "over budget" : "inconclusive");
        add_escaped(&text, words);
        res_text_printf(&text, "\n");
        free(words);
        free(seen);
    }
    char *summary = res_check_summary(check);
    res_text_printf(&text, "::notice title=mallab check::");
    add_escaped(&text, summary);
    res_text_printf(&text, "\n");
    free(summary);
    return text.text;
}

/* ---- benchmarks ------------------------------------------------------------------------------ */

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
                                               res_json_number(res_median(series.values, series.count)),
                                               "range", range, "extra", extra));
        free(name);
        free(range);
        free(extra);
    }
    res_series_release(&series);
}

json_t *res_check_benchmark(const struct res_result *result)
{
    json_t *array = json_array();
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_workload *workload = &result->workloads[i];
        for (size_t k = 0; k < workload->candidate_count; k++)
            for (int metric = 0; metric < RES_METRIC_COUNT; metric++)
                add_benchmark(array, workload, &workload->candidates[k], (enum res_metric)metric);
    }
    return array;
}
