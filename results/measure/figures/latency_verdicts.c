/* latency_verdicts.c - p99 and p99.9, judged. */
#include "results/measure/figures/latency_verdicts.h"

#include <math.h>
#include <stdio.h>

#include "results/measure/base/values.h"
#include "results/measure/figures/metric.h"
#include "results/measure/statistics/statistics.h"

static void add_metric(const json_t *workload, json_t *entry, enum res_metric metric, const char *prefix,
                       uint64_t seed)
{
    const json_t *candidates = json_object_get(workload, "candidates");
    const json_t *control = json_object_get(workload, "control");
    json_t *latency = json_object_get(entry, "latency");
    struct res_series own = res_series_of(workload, entry, metric);
    struct res_series base = res_series_of(workload, json_array_get(candidates, 0), metric);
    struct res_series noise = res_series_of(workload, control, metric);
    const struct res_estimate ratio = res_estimate_paired(&own, &base, seed);
    const struct res_estimate aa = res_estimate_paired(&noise, &base, seed);
    const struct res_comparison comparison = {
        .ratio = ratio.value,
        .interval = ratio.interval,
        .quiet_ratio = NAN,
        .typical = {NAN, NAN},
        .rounds = own.count < base.count ? own.count : base.count,
        .rounds_needed = RES_ROUNDS_OF_PASSES,
        .has_control = entry != control && isfinite(aa.value),
        .control = aa.interval,
    };
    const bool has_noise = entry == control || (isfinite(aa.value) && noise.count >= RES_ROUNDS_OF_PASSES);
    const enum res_verdict verdict = has_noise ? res_judge(&comparison) : RES_UNDECIDED;
    const struct {
        const char *suffix;
        json_t *value;
    } keys[] = {
        {"ratio", res_value_number(ratio.value)},
        {"ratio_low", res_value_number(ratio.interval.low)},
        {"ratio_high", res_value_number(ratio.interval.high)},
        {"verdict", json_string(res_verdict_name(verdict))},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char key[32];
        snprintf(key, sizeof key, "%s_%s", prefix, keys[i].suffix);
        json_object_set_new(latency, key, keys[i].value);
    }
    res_series_release(&own);
    res_series_release(&base);
    res_series_release(&noise);
}

static void add_entry(const json_t *workload, json_t *entry, uint64_t seed)
{
    if (!json_is_array(json_object_get(json_object_get(entry, "latency"), "runs")))
        return;
    add_metric(workload, entry, RES_METRIC_P99, "p99", seed);
    add_metric(workload, entry, RES_METRIC_P99_9, "p99_9", seed);
}

void res_latency_verdicts_add(json_t *workload, uint64_t seed)
{
    size_t index;
    json_t *candidate;
    json_array_foreach(json_object_get(workload, "candidates"), index, candidate)
    {
        if (index > 0)
            add_entry(workload, candidate, seed);
    }
    add_entry(workload, json_object_get(workload, "control"), seed);
}
