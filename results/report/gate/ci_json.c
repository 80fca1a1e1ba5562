/* ci_json.c - a check for programs: our own JSON, and the array that benchmark-tracking actions read. */
#include <stdlib.h>

#include "results/measure/base/json_values.h"
#include "results/measure/base/support.h"
#include "results/report/gate/ci.h"
#include "results/report/grid/cells.h"

static json_t *plain(const char *words)
{
    char *copy = res_text_plain(words);
    json_t *string = json_string(copy);
    free(copy);
    return string;
}

static json_t *finding_object(const struct res_finding *finding)
{
    const struct res_rule *rule = finding->rule;
    json_t *object = json_object();
    json_object_set_new(object, "workload", plain(finding->workload));
    json_object_set_new(object, "candidate", plain(finding->candidate));
    json_object_set_new(object, "metric", json_string(res_metric_name(rule->metric)));
    json_object_set_new(object, "unit", json_string(res_metric_unit_name(rule->metric)));
    json_object_set_new(object, "budget", plain(rule->text));
    json_object_set_new(object, "relative", json_boolean(rule->relative));
    json_object_set_new(object, "limit", res_json_number(rule->limit));
    json_object_set_new(object, "value", res_json_number(finding->value));
    json_object_set_new(object, "measured", res_json_number(finding->estimate.value));
    json_object_set_new(object, "measured_low", res_json_number(finding->estimate.interval.low));
    json_object_set_new(object, "measured_high", res_json_number(finding->estimate.interval.high));
    json_object_set_new(object, "noise_low", res_json_number(finding->noise.low));
    json_object_set_new(object, "noise_high", res_json_number(finding->noise.high));
    json_object_set_new(object, "bridge", json_string(res_bridge_name(finding->bridge)));
    json_object_set_new(object, "bridge_ratio", res_json_number(finding->bridge_ratio));
    json_object_set_new(object, "p_above", res_json_number(finding->tails.above));
    json_object_set_new(object, "p_above_corrected", res_json_number(finding->above_corrected));
    json_object_set_new(object, "p_below", res_json_number(finding->tails.below));
    json_object_set_new(object, "rounds", json_integer((json_int_t)finding->rounds));
    json_object_set_new(object, "outcome", json_string(res_outcome_name(finding->outcome)));
    json_object_set_new(object, "reason", *finding->reason != '\0' ? plain(finding->reason) : json_null());
    return object;
}

json_t *res_check_json(const struct res_check *check, int exit_code)
{
    json_t *object = json_object(), *findings = json_array(), *counts = json_object();
    for (size_t i = 0; i < check->finding_count; i++)
        json_array_append_new(findings, finding_object(&check->findings[i]));
    for (int outcome = 0; outcome < RES_OUTCOME_COUNT; outcome++)
        json_object_set_new(counts, res_outcome_name((enum res_outcome)outcome),
                            json_integer((json_int_t)check->counts[outcome]));
    json_object_set_new(object, "schema", json_string(RES_CHECK_SCHEMA));
    json_object_set_new(object, "mallab_version", json_string(MALLAB_VERSION));
    json_object_set_new(object, "outcome", json_string(res_outcome_name(res_check_outcome(check))));
    json_object_set_new(object, "exit_code", json_integer(exit_code));
    json_object_set_new(object, "baseline", plain(check->baseline));
    json_object_set_new(object, "against", json_string(check->earlier ? "earlier result" : "baseline"));
    json_object_set_new(object, "counts", counts);
    json_object_set_new(object, "findings", findings);
    return object;
}

static void add_benchmark(json_t *array, const json_t *workload, const json_t *entry, enum res_metric metric)
{
    struct res_series series = res_series_of(workload, entry, metric);
    if (series.count > 0) {
        const double deviation = res_median_deviation(series.values, series.count);
        char *names[] = {res_cell_plain(workload, "name", "?"), res_cell_plain(entry, "name", "?"),
                         res_cell_plain(entry, "version", "unknown")};
        char *name = res_printf("%s / %s / %s", names[0], names[1], res_metric_name(metric));
        char *range = res_printf("\u00b1 %.6g", deviation);
        char *extra = res_printf("median of %zu runs, \u00b1 median absolute deviation; %s %s", series.count,
                                 names[1], names[2]);
        json_t *object = json_object();
        json_object_set_new(object, "name", json_string(name));
        json_object_set_new(object, "unit", json_string(res_metric_unit_name(metric)));
        json_object_set_new(object, "value", res_json_number(res_median(series.values, series.count)));
        json_object_set_new(object, "range", json_string(range));
        json_object_set_new(object, "extra", json_string(extra));
        json_array_append_new(array, object);
        free(name);
        free(range);
        free(extra);
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            free(names[i]);
    }
    res_series_release(&series);
}

json_t *res_check_benchmark(const struct res_result *typed_result)
{
    const json_t *result = typed_result->json;
    json_t *array = json_array();
    size_t index, place;
    json_t *workload, *entry;
    json_array_foreach(json_object_get(result, "workloads"), index, workload)
    {
        json_array_foreach(json_object_get(workload, "candidates"), place, entry)
        {
            for (int metric = 0; metric < RES_METRIC_COUNT; metric++)
                add_benchmark(array, workload, entry, (enum res_metric)metric);
        }
    }
    return array;
}
