/* compare_results.c - pair up two results, and say what differs between them. */
#include "results/report/gate/compare_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/figures/verdict.h"

/* ---- what is told ---------------------------------------------------------------------------- */

#define OWNER struct res_compared_metric
static const struct res_field METRIC_FIELDS[] = {
    RES_ROW(LENT, "metric", metric, NULL),
    RES_ROW(LENT, "unit", unit, NULL),
    RES_ROW(LENT, "figure", figure, NULL),
    RES_ROW(NUMBER, "old", old, NULL),
    RES_ROW(NUMBER, "new", new, NULL),
    RES_ROW(NUMBER, "plain_ratio", plain_ratio, NULL),
    RES_WORD("bridge", bridge, RES_BRIDGE_WORDS, NULL),
    RES_ROW(NUMBER, "bridge_ratio", bridge_ratio, NULL),
    RES_ROW(TRUTH, "is_yardstick", is_yardstick, NULL),
    RES_RATIO_ROWS("", ratio, interval.low, interval.high, NULL, NULL),
    RES_ROW(NUMBER, "noise_low", noise.low, NULL),
    RES_ROW(NUMBER, "noise_high", noise.high, NULL),
    RES_ROW(NUMBER, "resolves", resolves, NULL),
    RES_ROW(COUNT, "rounds_old", rounds_old, NULL),
    RES_ROW(COUNT, "rounds_new", rounds_new, NULL),
    RES_ROW(LENT, "verdict", verdict, NULL),
};
static const struct res_described COMPARE_METRIC = RES_DESCRIBE_WHOLLY("a metric", METRIC_FIELDS);
#undef OWNER

#define OWNER struct res_compared_candidate
static const struct res_field CANDIDATE_FIELDS[] = {
    RES_ROW(LENT, "name", name, NULL),
    RES_ROW(LENT, "version_old", version_old, NULL),
    RES_ROW(LENT, "version_new", version_new, NULL),
    RES_ROW(TRUTH, "settings_differ", settings_differ, NULL),
    RES_ROW(LENT, "failed_old", failed_old, NULL),
    RES_ROW(LENT, "failed_new", failed_new, NULL),
    RES_LIST(LIST, PLAIN, "metrics", metrics, metric_count, &COMPARE_METRIC, NULL),
};
static const struct res_described CANDIDATE = RES_DESCRIBE_WHOLLY("a candidate", CANDIDATE_FIELDS);
#undef OWNER

#define OWNER struct res_compared_workload
static const struct res_field WORKLOAD_FIELDS[] = {
    RES_ROW(LENT, "name", name, NULL),
    RES_ROW(TRUTH, "same_workload", same_workload, NULL),
    RES_LIST(LIST, PLAIN, "candidates", candidates, candidate_count, &CANDIDATE, NULL),
    RES_ROW(TEXTS, "only_old", only_old, NULL),
    RES_ROW(TEXTS, "only_new", only_new, NULL),
};
static const struct res_described WORKLOAD = RES_DESCRIBE_WHOLLY("a workload", WORKLOAD_FIELDS);
#undef OWNER

#define OWNER struct res_compared_difference
static const struct res_field DIFFERENCE_FIELDS[] = {
    RES_ROW(LENT, "what", what, NULL),
    RES_ROW(LENT, "key", key, NULL),
    RES_ROW(TEXT, "old", old, NULL),
    RES_ROW(TEXT, "new", new, NULL),
};
static const struct res_described DIFFERENCE = RES_DESCRIBE_WHOLLY("a difference", DIFFERENCE_FIELDS);
#undef OWNER

#define OWNER struct res_compare
static const struct res_field COMPARE_FIELDS[] = {
    RES_HEAD_ROWS,
    RES_ROW(LENT, "baseline", baseline, NULL),
    RES_ROW_AS(TEXTS, OMITTED, "changed_libraries", changed_libraries, NULL),
    RES_LIST(LIST, PLAIN, "differences", differences, difference_count, &DIFFERENCE, NULL),
    RES_LIST(LIST, PLAIN, "workloads", workloads, workload_count, &WORKLOAD, NULL),
    RES_ROW(TEXTS, "workloads_only_old", workloads_only_old, NULL),
    RES_ROW(TEXTS, "workloads_only_new", workloads_only_new, NULL),
};
const struct res_described RES_COMPARE = RES_DESCRIBE_WHOLLY("a comparison", COMPARE_FIELDS);
#undef OWNER

/* ---- partners ------------------------------------------------------------------------------- */

static bool same_text(const char *one, const char *other)
{
    return one != NULL && other != NULL && strcmp(one, other) == 0;
}

/* Of several hosts' that called the same, the one of this workload's host; a label that one of both lacks tells nothing. */
static const struct res_result_workload *with_digest(const struct res_result *result,
                                                     const struct res_result_workload *workload)
{
    const struct res_result_workload *found = NULL;
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_workload *one = &result->workloads[i];
        if (!same_text(one->digest, workload->digest))
            continue;
        if (same_text(one->label, workload->label))
            return one;
        if (found == NULL && (one->label == NULL || workload->label == NULL))
            found = one;
    }
    return found;
}

/* of_host: of the same one. */
static bool any_common(const struct res_result *earlier, const struct res_result *result, bool of_host)
{
    for (size_t i = 0; i < result->workload_count; i++) {
        struct res_result_workload workload = result->workloads[i];
        if (!of_host)
            workload.label = NULL;
        if (with_digest(earlier, &workload) != NULL)
            return true;
    }
    return false;
}

const struct res_result_workload *res_compare_partner(const struct res_result *earlier,
                                                      const struct res_result *result,
                                                      const struct res_result_workload *workload)
{
    if (any_common(earlier, result, true))
        return with_digest(earlier, workload);
    if (earlier->workload_count == 1 && result->workload_count == 1)
        return &earlier->workloads[0];
    for (size_t i = 0; i < earlier->workload_count; i++) {
        if (strcmp(earlier->workloads[i].name, workload->name) == 0)
            return &earlier->workloads[i];
    }
    return NULL;
}

static const char *first_name(const struct res_result *result)
{
    return result->workload_count > 0 ? result->workloads[0].name : "none";
}

char *res_compare_workloads_problem(const struct res_result *earlier, const struct res_result *result)
{
    if (any_common(earlier, result, true))
        return NULL;
    return res_printf("they replayed different workloads (then '%s', now '%s': %s), so their "
                      "figures do not compare; replay the same .wl file, or add --any-workload",
                      first_name(earlier), first_name(result),
                      any_common(earlier, result, false) ? "of another host" : "no digest in common");
}

/* ---- what differs --------------------------------------------------------------------------- */

/* A struct of each result, and the rows of both. */
struct two {
    const struct res_described *described;
    const void *then, *now;
};

static struct two machines_of(const struct res_result *earlier, const struct res_result *result)
{
    return (struct two){&RES_MACHINE, &earlier->machine, &result->machine};
}

/* A value for messages: JSON in one line. */
static char *value_text(const struct res_described *described, const void *from, const char *key)
{
    json_t *value = res_described_value(described, from, key);
    char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    char *cut = res_strndup(dumped != NULL ? dumped : "null", 80);
    char *plain = res_text_plain(cut);
    json_decref(value);
    free(dumped);
    free(cut);
    return plain;
}

char *res_compare_machine_problem(const struct res_result *earlier, const struct res_result *result)
{
    static const char *const KEYS[] = {"cpu", "cpus", "cores", "architecture"};
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        const struct two machines = machines_of(earlier, result);
        if (res_described_same(machines.described, machines.then, machines.now, KEYS[i]))
            continue;
        char *words[] = {value_text(machines.described, machines.then, KEYS[i]),
                         value_text(machines.described, machines.now, KEYS[i])};
        char *problem = res_printf(
            "they come from different machines (%s: then %s, now %s); measure both on one, check "
            "against the baseline of the same run, or add --any-machine",
            KEYS[i], words[0], words[1]);
        free(words[0]);
        free(words[1]);
        return problem;
    }
    return NULL;
}

static void add_difference(struct res_compare *comparison, const char *what, struct two two, const char *key)
{
    if (res_described_same(two.described, two.then, two.now, key))
        return;
    comparison->differences = res_realloc(comparison->differences, comparison->difference_count + 1,
                                          sizeof *comparison->differences);
    comparison->differences[comparison->difference_count++] = (struct res_compared_difference){
        .what = what,
        .key = key,
        .old = value_text(two.described, two.then, key),
        .new = value_text(two.described, two.now, key),
    };
}

static void add_differences(struct res_compare *comparison, const struct res_result *earlier,
                            const struct res_result *result)
{
    static const char *const SETTINGS[] = {"label", "commit", "baseline", "rounds", "memory_rounds_asked", "memory_idle_ms", "one_thread"};
    static const char *const MACHINE[] = {"cpu",          "cpus",           "cores", "architecture",
                                          "memory_bytes", "kernel",         "libc",  "transparent_huge_pages",
                                          "governor",     "virtual_machine"};
    const struct two results = {&RES_RESULT, earlier, result};
    add_difference(comparison, "mallab", results, "mallab_version");
    for (size_t i = 0; i < sizeof SETTINGS / sizeof SETTINGS[0]; i++)
        add_difference(comparison, "settings", results, SETTINGS[i]);
    for (size_t i = 0; i < sizeof MACHINE / sizeof MACHINE[0]; i++)
        add_difference(comparison, "machine", machines_of(earlier, result), MACHINE[i]);
}

/* ---- libraries ------------------------------------------------------------------------------ */

/* Takes the words; none, and what was told of another workload, are dropped. */
static void add_once(struct res_texts *lines, char *words)
{
    bool told = words == NULL;
    for (size_t i = 0; i < lines->count && !told; i++)
        told = strcmp(lines->items[i], words) == 0;
    if (!told)
        res_texts_add(lines, words);
    free(words);
}

static char *library_change(const struct res_result_entry *then, const struct res_result_entry *now)
{
    const char *old = then->version != NULL ? then->version : "-";
    const char *new = now->version != NULL ? now->version : "-";
    if (strcmp(old, new) != 0)
        return res_printf("%s: version %s then, %s now", now->name, old, new);
    return res_build_change(now->library != NULL ? now->library : now->name, now->version, &then->build,
                            &now->build);
}

struct res_texts res_compare_libraries(const struct res_result *earlier, const struct res_result *result)
{
    struct res_texts lines = {.known = true};
    const struct res_machine *before = &earlier->machine, *machine = &result->machine;
    bool unknown = false;
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_workload *workload = &result->workloads[i];
        const struct res_result_workload *partner = res_compare_partner(earlier, result, workload);
        for (size_t k = 0; partner != NULL && k < workload->candidate_count; k++) {
            const struct res_result_entry *now = &workload->candidates[k];
            const struct res_result_entry *then = res_result_entry_named(partner, now->name);
            if (then == NULL)
                continue;
            add_once(&lines, library_change(then, now));
            unknown |= then->build.digest == NULL && now->build.digest != NULL;
        }
    }
    if (machine->libc != NULL && same_text(before->libc, machine->libc))
        add_once(&lines, res_build_change("libc.so.6", machine->libc + strcspn(machine->libc, "0123456789"),
                                          &before->libc_build, &machine->libc_build));
    if (unknown)
        res_texts_add(&lines, "which builds of the libraries the earlier result measured is not known");
    return lines;
}

/* ---- figures -------------------------------------------------------------------------------- */

struct res_interval res_compare_control_noise(const struct res_result_workload *workload,
                                              const char *baseline, enum res_metric metric)
{
    struct res_series control = res_series_of(workload, &workload->control, metric);
    struct res_series base = res_series_of(workload, res_result_entry_named(workload, baseline), metric);
    const struct res_interval aa = res_logarithm_estimate(res_series_logarithm(&control, &base)).interval;
    res_series_release(&control);
    res_series_release(&base);
    return res_noise(&aa);
}

static double worth_of(enum res_metric metric)
{
    return res_metric_unit(metric) == RES_UNIT_BYTES ? RES_MEMORY_WORTH : 0;
}

/* As the gate judges at a limit of 1 (budget_check.h), on both sides of it. */
static const char *verdict_of(const struct res_across *across, enum res_metric metric)
{
    const struct res_estimate *ratio = &across->estimate;
    const struct res_interval noise = across->noise;
    if (across->rounds < across->rounds_needed || !isfinite(ratio->value) || across->untold ||
        across->is_yardstick)
        return RES_TIME_VERDICTS[RES_UNDECIDED];
    const double worth = worth_of(metric);
    const double chance = fmin(across->tails.above, across->tails.below);
    if ((ratio->interval.low <= 1 && ratio->interval.high >= 1) || fabs(ratio->value - 1) < worth ||
        (ratio->value >= noise.low && ratio->value <= noise.high) || chance > RES_P_VALUE_MOST)
        return RES_TIME_VERDICTS[RES_SAME];
    const enum res_verdict verdict = ratio->value < 1 ? RES_LESS : RES_MORE;
    return res_metric_unit(metric) == RES_UNIT_NS ? RES_TIME_VERDICTS[verdict] : RES_MEMORY_VERDICTS[verdict];
}

/* Two entries of the same candidate. */
static void add_metric(struct res_compared_candidate *candidate, const struct res_partners *pair,
                       const struct res_result_entry *then, const struct res_result_entry *now,
                       enum res_metric which)
{
    struct res_series old = res_series_of(pair->then, then, which);
    struct res_series new = res_series_of(pair->now, now, which);
    if (old.count > 0 || new.count > 0) {
        const struct res_across across = res_across_partners(pair, now->name, which, 1);
        const bool few = across.rounds < RES_ROUNDS_FOR_INTERVAL &&
                         across.rounds_needed == RES_ROUNDS_FOR_VERDICT;
        struct res_compared_metric *metric = &candidate->metrics[candidate->metric_count++];
        *metric = (struct res_compared_metric){
            .which = which,
            .metric = res_metric_name(which),
            .unit = res_metric_unit_name(which),
            .plain_ratio = across.plain_ratio,
            .bridge = across.bridge,
            .bridge_ratio = across.bridge_ratio,
            .is_yardstick = across.is_yardstick,
            .ratio = across.estimate.value,
            .interval = few ? (struct res_interval){NAN, NAN} : across.estimate.interval,
            .noise = across.noise,
            .old = res_series_value(&old),
            .new = res_series_value(&new),
            .figure = which == RES_METRIC_TIME ? "steady" : "median",
            .rounds_old = old.count,
            .rounds_new = new.count,
            .verdict = verdict_of(&across, which),
        };
        metric->resolves = metric->verdict == RES_TIME_VERDICTS[RES_UNDECIDED]
                               ? NAN
                               : res_resolves(metric->ratio, metric->interval, metric->noise,
                                              worth_of(which));
    }
    res_series_release(&old);
    res_series_release(&new);
}

static void add_candidate(struct res_compared_workload *workload, const struct res_partners *pair,
                          const struct res_result_entry *then, const struct res_result_entry *now)
{
    struct res_compared_candidate *candidate = &workload->candidates[workload->candidate_count++];
    *candidate = (struct res_compared_candidate){
        .name = now->name,
        .version_old = then->version,
        .version_new = now->version,
        .settings_differ = !res_described_same(&RES_RESULT_ENTRY, then, now, "environment"),
        .failed_old = then->failed,
        .failed_new = now->failed,
        .metrics = res_calloc(RES_METRIC_COUNT, sizeof *candidate->metrics),
    };
    for (int metric = 0; metric < RES_METRIC_COUNT; metric++)
        add_metric(candidate, pair, then, now, (enum res_metric)metric);
}

/* Names in the one and not in the other. */
static struct res_texts only_in(const struct res_result_workload *one,
                                const struct res_result_workload *other)
{
    struct res_texts names = {.known = true};
    for (size_t i = 0; i < one->candidate_count; i++) {
        if (res_result_entry_named(other, one->candidates[i].name) == NULL)
            res_texts_add(&names, one->candidates[i].name);
    }
    return names;
}

static void add_workload(struct res_compare *comparison, const struct res_partners *pair)
{
    struct res_compared_workload *workload = &comparison->workloads[comparison->workload_count++];
    *workload = (struct res_compared_workload){
        .name = pair->now->name,
        .same_workload = same_text(pair->now->digest, pair->then->digest),
        .candidates = res_calloc(pair->now->candidate_count + 1, sizeof *workload->candidates),
        .only_old = only_in(pair->then, pair->now),
        .only_new = only_in(pair->now, pair->then),
    };
    for (size_t i = 0; i < pair->now->candidate_count; i++) {
        const struct res_result_entry *now = &pair->now->candidates[i];
        const struct res_result_entry *then = res_result_entry_named(pair->then, now->name);
        if (then != NULL)
            add_candidate(workload, pair, then, now);
    }
}

/* Workloads of `one` without a partner in `other`. */
static struct res_texts alone(const struct res_result *one, const struct res_result *other)
{
    struct res_texts names = {.known = true};
    for (size_t i = 0; i < one->workload_count; i++) {
        if (res_compare_partner(other, one, &one->workloads[i]) == NULL)
            res_texts_add(&names, one->workloads[i].name);
    }
    return names;
}

void res_compare_results(const struct res_result *earlier, const struct res_result *result,
                         struct res_compare *ret_comparison)
{
    struct res_compare comparison = {
        .schema = RES_COMPARE_SCHEMA,
        .mallab_version = MALLAB_VERSION,
        .baseline = result->baseline,
        .changed_libraries = res_compare_libraries(earlier, result),
        .workloads = res_calloc(result->workload_count + 1, sizeof *comparison.workloads),
        .workloads_only_old = alone(earlier, result),
        .workloads_only_new = alone(result, earlier),
    };
    struct res_partners pair = {.baseline = result->baseline, .baseline_then = earlier->baseline};
    add_differences(&comparison, earlier, result);
    for (size_t i = 0; i < result->workload_count; i++) {
        pair.now = &result->workloads[i];
        pair.then = res_compare_partner(earlier, result, pair.now);
        if (pair.then != NULL)
            add_workload(&comparison, &pair);
    }
    *ret_comparison = comparison;
}
