/* compare_results.c - pair up two results, and say what differs between them. */
#include "results/report/gate/compare_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/base/json_values.h"
#include "results/measure/base/support.h"
#include "results/report/gate/bridge.h"
#include "results/report/grid/cells.h"

/* ---- partners ------------------------------------------------------------------------------- */

static bool same_string(const json_t *one, const json_t *other, const char *key)
{
    const char *left = json_string_value(json_object_get(one, key));
    const char *right = json_string_value(json_object_get(other, key));
    return left != NULL && right != NULL && strcmp(left, right) == 0;
}

const json_t *res_workload_candidate(const json_t *workload, const char *name)
{
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(workload, "candidates"), index, entry)
    {
        if (name != NULL && strcmp(json_string_value(json_object_get(entry, "name")), name) == 0)
            return entry;
    }
    return NULL;
}

static const json_t *workload_with(const json_t *result, const json_t *like, const char *key)
{
    size_t index;
    json_t *workload;
    json_array_foreach(json_object_get(result, "workloads"), index, workload)
    {
        if (same_string(workload, like, key))
            return workload;
    }
    return NULL;
}

static bool any_same_digest(const json_t *earlier, const json_t *result)
{
    size_t index;
    json_t *workload;
    json_array_foreach(json_object_get(result, "workloads"), index, workload)
    {
        if (workload_with(earlier, workload, "digest") != NULL)
            return true;
    }
    return false;
}

const json_t *res_compare_partner(const json_t *earlier, const json_t *result, const json_t *workload)
{
    const json_t *there = json_object_get(earlier, "workloads");
    if (any_same_digest(earlier, result))
        return workload_with(earlier, workload, "digest");
    if (json_array_size(there) == 1 && json_array_size(json_object_get(result, "workloads")) == 1)
        return json_array_get(there, 0);
    return workload_with(earlier, workload, "name");
}

char *res_compare_workloads_problem(const json_t *earlier, const json_t *result)
{
    if (any_same_digest(earlier, result))
        return NULL;
    char *then = res_cell_plain(json_array_get(json_object_get(earlier, "workloads"), 0), "name", "none");
    char *now = res_cell_plain(json_array_get(json_object_get(result, "workloads"), 0), "name", "none");
    char *problem = res_printf(
        "they replayed different workloads (then '%s', now '%s': no digest in common), so their "
        "figures do not compare; replay the same .wl file, or add --any-workload",
        then, now);
    free(then);
    free(now);
    return problem;
}

/* ---- what differs --------------------------------------------------------------------------- */

/* A value for messages: JSON in one line. */
static char *value_text(const json_t *value)
{
    char *dumped = value != NULL ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    char *cut = res_strndup(dumped != NULL ? dumped : "null", 80);
    char *plain = res_text_plain(cut);
    free(dumped);
    free(cut);
    return plain;
}

static const char *const MACHINE_KEYS[] = {"cpu", "cpus", "cores", "architecture"};

char *res_compare_machine_problem(const json_t *earlier, const json_t *result)
{
    const json_t *then = json_object_get(earlier, "machine"), *now = json_object_get(result, "machine");
    for (size_t i = 0; i < sizeof MACHINE_KEYS / sizeof MACHINE_KEYS[0]; i++) {
        const json_t *one = json_object_get(then, MACHINE_KEYS[i]),
                     *other = json_object_get(now, MACHINE_KEYS[i]);
        if (one == NULL || other == NULL || json_equal(one, other))
            continue;
        char *words[] = {value_text(one), value_text(other)};
        char *problem = res_printf(
            "they come from different machines (%s: then %s, now %s); measure both on one, check "
            "against the baseline of the same run, or add --any-machine",
            MACHINE_KEYS[i], words[0], words[1]);
        free(words[0]);
        free(words[1]);
        return problem;
    }
    return NULL;
}

static void add_difference(json_t *differences, const char *scope, const char *key, const json_t *then,
                           const json_t *now)
{
    then = json_object_get(then, key);
    now = json_object_get(now, key);
    if ((then == NULL && now == NULL) || (then != NULL && now != NULL && json_equal(then, now)))
        return;
    char *words[] = {value_text(then), value_text(now)};
    json_t *difference = json_object();
    json_object_set_new(difference, "what", json_string(scope));
    json_object_set_new(difference, "key", json_string(key));
    json_object_set_new(difference, "old", json_string(words[0]));
    json_object_set_new(difference, "new", json_string(words[1]));
    json_array_append_new(differences, difference);
    free(words[0]);
    free(words[1]);
}

static json_t *differences_of(const json_t *earlier, const json_t *result)
{
    static const char *const settings[] = {"baseline", "touch", "rounds", "memory_rounds_asked",
                                           "memory_idle_ms"};
    static const char *const machine[] = {"cpu",          "cpus",           "cores", "architecture",
                                          "memory_bytes", "kernel",         "libc",  "transparent_huge_pages",
                                          "governor",     "virtual_machine"};
    json_t *differences = json_array();
    add_difference(differences, "mallab", "mallab_version", earlier, result);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        add_difference(differences, "settings", settings[i], earlier, result);
    /* Results of before do not have it: they were made on the recorded threads. */
    if (json_is_true(json_object_get(earlier, "one_thread")) !=
        json_is_true(json_object_get(result, "one_thread")))
        add_difference(differences, "settings", "one_thread", earlier, result);
    for (size_t i = 0; i < sizeof machine / sizeof machine[0]; i++)
        add_difference(differences, "machine", machine[i], json_object_get(earlier, "machine"),
                       json_object_get(result, "machine"));
    return differences;
}

/* ---- figures -------------------------------------------------------------------------------- */

struct res_interval res_compare_control_noise(const json_t *workload, const char *baseline,
                                              enum res_metric metric, uint64_t seed)
{
    struct res_series control = res_series_of(workload, json_object_get(workload, "control"), metric);
    struct res_series base = res_series_of(workload, res_workload_candidate(workload, baseline), metric);
    const struct res_estimate aa = res_estimate_paired(&control, &base, seed);
    res_series_release(&control);
    res_series_release(&base);
    return res_estimate_noise(&aa);
}

static json_t *plain_string(const json_t *object, const char *key)
{
    if (!json_is_string(json_object_get(object, key)))
        return json_null();
    char *plain = res_cell_plain(object, key, "");
    json_t *string = json_string(plain);
    free(plain);
    return string;
}

/* As the gate judges at a limit of 1 (budget_check.h), on both sides of it. */
static const char *verdict_of(const struct res_across *across, enum res_metric metric)
{
    const struct res_estimate *ratio = &across->estimate;
    const struct res_interval noise = across->noise;
    if (across->rounds < across->rounds_needed || !isfinite(ratio->value) || across->untold ||
        across->is_yardstick)
        return res_verdict_name(RES_UNDECIDED);
    const double worth = res_metric_unit(metric) == RES_UNIT_BYTES ? RES_MEMORY_WORTH : 0;
    const double chance = fmin(across->tails.above, across->tails.below);
    if ((ratio->interval.low <= 1 && ratio->interval.high >= 1) || fabs(ratio->value - 1) < worth ||
        (ratio->value >= noise.low && ratio->value <= noise.high) || chance > RES_P_VALUE_MOST)
        return res_verdict_name(RES_SAME);
    const enum res_verdict verdict = ratio->value < 1 ? RES_FASTER : RES_SLOWER;
    return res_metric_unit(metric) == RES_UNIT_NS ? res_verdict_name(verdict)
                                                  : res_verdict_memory_name(verdict);
}

/* What stands beside the change: figures whose ratio it is. */
struct sides {
    double old, new;
    bool steady;
};

static struct sides sides_of(const struct res_series *old, const struct res_series *new)
{
    struct sides sides = {.old = res_series_steady_ns(old), .new = res_series_steady_ns(new)};
    sides.steady = isfinite(sides.old) && isfinite(sides.new) && old->batch_count == new->batch_count;
    if (!sides.steady) {
        sides.old = old->count > 0 ? res_median(old->values, old->count) : NAN;
        sides.new = new->count > 0 ? res_median(new->values, new->count) : NAN;
    }
    return sides;
}

/* A reference, or NULL when neither has the metric. */
static json_t *metric_object(const struct res_partners *pair, const json_t *then, const json_t *now,
                             enum res_metric metric)
{
    struct res_series old = res_series_of(pair->then, then, metric);
    struct res_series new = res_series_of(pair->now, now, metric);
    json_t *object = NULL;
    if (old.count > 0 || new.count > 0) {
        const char *name = json_string_value(json_object_get(now, "name"));
        const struct res_across across = res_across_partners(pair, name, metric, 1);
        const bool few = across.rounds < RES_ROUNDS_FOR_INTERVAL &&
                         across.rounds_needed == RES_ROUNDS_FOR_VERDICT;
        const struct sides sides = sides_of(&old, &new);
        object = json_object();
        json_object_set_new(object, "metric", json_string(res_metric_name(metric)));
        json_object_set_new(object, "unit", json_string(res_metric_unit_name(metric)));
        json_object_set_new(object, "figure", json_string(sides.steady ? "steady" : "median"));
        json_object_set_new(object, "old", res_json_number(sides.old));
        json_object_set_new(object, "new", res_json_number(sides.new));
        json_object_set_new(object, "plain_ratio", res_json_number(across.plain_ratio));
        json_object_set_new(object, "bridge", json_string(res_bridge_name(across.bridge)));
        json_object_set_new(object, "bridge_ratio", res_json_number(across.bridge_ratio));
        json_object_set_new(object, "is_yardstick", json_boolean(across.is_yardstick));
        json_object_set_new(object, "ratio", res_json_number(across.estimate.value));
        json_object_set_new(object, "ratio_low", res_json_number(few ? NAN : across.estimate.interval.low));
        json_object_set_new(object, "ratio_high", res_json_number(few ? NAN : across.estimate.interval.high));
        json_object_set_new(object, "noise_low", res_json_number(across.noise.low));
        json_object_set_new(object, "noise_high", res_json_number(across.noise.high));
        json_object_set_new(object, "rounds_old", json_integer((json_int_t)old.count));
        json_object_set_new(object, "rounds_new", json_integer((json_int_t) new.count));
        json_object_set_new(object, "verdict", json_string(verdict_of(&across, metric)));
    }
    res_series_release(&old);
    res_series_release(&new);
    return object;
}

static json_t *candidate_object(const struct res_partners *pair, const json_t *then, const json_t *now)
{
    json_t *object = json_object(), *metrics = json_array();
    json_object_set_new(object, "name", plain_string(now, "name"));
    json_object_set_new(object, "version_old", plain_string(then, "version"));
    json_object_set_new(object, "version_new", plain_string(now, "version"));
    const json_t *settings[] = {json_object_get(then, "environment"), json_object_get(now, "environment")};
    json_object_set_new(
        object, "settings_differ",
        json_boolean(settings[0] != NULL && settings[1] != NULL && !json_equal(settings[0], settings[1])));
    json_object_set_new(object, "failed_old", plain_string(then, "failed"));
    json_object_set_new(object, "failed_new", plain_string(now, "failed"));
    for (int metric = 0; metric < RES_METRIC_COUNT; metric++) {
        json_t *one = metric_object(pair, then, now, (enum res_metric)metric);
        if (one != NULL)
            json_array_append_new(metrics, one);
    }
    json_object_set_new(object, "metrics", metrics);
    return object;
}

/* Names in the one and not in the other. */
static json_t *only_in(const json_t *one, const json_t *other)
{
    json_t *names = json_array();
    size_t index;
    json_t *entry;
    json_array_foreach(json_object_get(one, "candidates"), index, entry)
    {
        if (res_workload_candidate(other, json_string_value(json_object_get(entry, "name"))) == NULL)
            json_array_append_new(names, plain_string(entry, "name"));
    }
    return names;
}

static json_t *workload_object(const struct res_partners *pair)
{
    json_t *object = json_object(), *candidates = json_array();
    size_t index;
    json_t *now;
    json_array_foreach(json_object_get(pair->now, "candidates"), index, now)
    {
        const json_t *then = res_workload_candidate(pair->then,
                                                    json_string_value(json_object_get(now, "name")));
        if (then != NULL)
            json_array_append_new(candidates, candidate_object(pair, then, now));
    }
    json_object_set_new(object, "name", plain_string(pair->now, "name"));
    json_object_set_new(object, "same_workload", json_boolean(same_string(pair->now, pair->then, "digest")));
    json_object_set_new(object, "candidates", candidates);
    json_object_set_new(object, "only_old", only_in(pair->then, pair->now));
    json_object_set_new(object, "only_new", only_in(pair->now, pair->then));
    return object;
}

/* Workloads of `one` without a partner in `other`. */
static json_t *alone(const json_t *one, const json_t *other)
{
    json_t *names = json_array();
    size_t index;
    json_t *workload;
    json_array_foreach(json_object_get(one, "workloads"), index, workload)
    {
        if (res_compare_partner(other, one, workload) == NULL)
            json_array_append_new(names, plain_string(workload, "name"));
    }
    return names;
}

json_t *res_compare_results(const struct res_result *typed_earlier, const struct res_result *typed_result)
{
    const json_t *earlier = typed_earlier != NULL ? typed_earlier->json : NULL;
    const json_t *result = typed_result->json;
    json_t *comparison = json_object(), *workloads = json_array();
    size_t index;
    json_t *workload;
    struct res_partners pair = {
        .baseline = json_string_value(json_object_get(result, "baseline")),
        .baseline_then = json_string_value(json_object_get(earlier, "baseline")),
        .seed = (uint64_t)json_integer_value(json_object_get(result, "seed")),
    };
    json_array_foreach(json_object_get(result, "workloads"), index, workload)
    {
        pair.now = workload;
        pair.then = res_compare_partner(earlier, result, workload);
        if (pair.then != NULL)
            json_array_append_new(workloads, workload_object(&pair));
    }
    json_object_set_new(comparison, "schema", json_string(RES_COMPARE_SCHEMA));
    json_object_set_new(comparison, "mallab_version", json_string(MALLAB_VERSION));
    json_object_set_new(comparison, "baseline", plain_string(result, "baseline"));
    json_object_set_new(comparison, "differences", differences_of(earlier, result));
    json_object_set_new(comparison, "workloads", workloads);
    json_object_set_new(comparison, "workloads_only_old", alone(earlier, result));
    json_object_set_new(comparison, "workloads_only_new", alone(result, earlier));
    return comparison;
}
