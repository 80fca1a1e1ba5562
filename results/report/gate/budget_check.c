/* budget_check.c - rules meet candidates. */
#include "results/report/gate/budget_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/measure/base/support.h"
#include "results/measure/figures/metric_limit.h"
#include "results/report/gate/bridge.h"
#include "results/report/gate/compare_results.h"
#include "results/report/grid/cells.h"

#define RES_WHY_NOISE "nearer to the limit than the noise (A/A)"

const char *res_outcome_name(enum res_outcome outcome)
{
    static const char *const names[] = {"within", "over", "inconclusive"};
    return names[outcome];
}

enum res_outcome res_judge_limit(const struct res_estimate *estimate, double limit, struct res_interval noise,
                                 struct res_tails tails, const char **ret_why)
{
    const struct res_interval interval = estimate->interval;
    *ret_why = "no figure";
    if (!isfinite(estimate->value))
        return RES_INCONCLUSIVE;
    if (interval.low <= limit && interval.high > limit) {
        *ret_why = "the interval crosses the limit";
        return RES_INCONCLUSIVE;
    }
    const double distance = limit > 0 ? estimate->value / limit : 1;
    if (distance > noise.low && distance < noise.high && noise.low < noise.high) {
        *ret_why = RES_WHY_NOISE;
        return RES_INCONCLUSIVE;
    }
    const enum res_outcome outcome = interval.high <= limit ? RES_WITHIN : RES_OVER;
    const double chance = outcome == RES_WITHIN ? tails.below : tails.above;
    *ret_why = chance > RES_P_VALUE_MOST ? "the test at the limit does not exclude chance" : "";
    return chance > RES_P_VALUE_MOST ? RES_INCONCLUSIVE : outcome;
}

/* ---- one finding ---------------------------------------------------------------------------- */

/* What a finding is made of, of one workload. */
struct scene {
    const json_t *workload, *base;  /* base: the baseline's entry; NULL: there is none */
    const json_t *earlier_workload; /* NULL: no earlier result */
    const char *workload_name, *baseline, *baseline_then;
    uint64_t seed;
};

static struct res_partners partners_of(const struct scene *scene)
{
    return (struct res_partners){.now = scene->workload,
                                 .then = scene->earlier_workload,
                                 .baseline = scene->baseline,
                                 .baseline_then = scene->baseline_then,
                                 .seed = scene->seed};
}

/* Fills estimate, noise, tails and rounds of the finding; returns how many rounds it needs. */
static size_t estimate_across(const struct scene *scene, struct res_finding *finding)
{
    const struct res_partners partners = partners_of(scene);
    const struct res_across across = res_across_partners(&partners, finding->candidate, finding->rule->metric,
                                                         finding->rule->limit);
    finding->estimate = across.estimate;
    finding->tails = across.tails;
    finding->noise = across.noise;
    finding->rounds = across.rounds;
    finding->bridge = across.bridge;
    finding->bridge_ratio = across.bridge_ratio;
    finding->machine_moved = across.moved;
    finding->untold = across.untold;
    finding->is_yardstick = across.is_yardstick;
    return across.rounds_needed;
}

/* The same within one result. */
static size_t estimate(const struct scene *scene, const json_t *entry, struct res_finding *finding)
{
    const struct res_rule *rule = finding->rule;
    struct res_series own = res_series_of(scene->workload, entry, rule->metric);
    struct res_series other = {0};
    const size_t needed = res_series_rounds_needed(&own);
    if (!rule->relative) {
        finding->estimate = res_estimate_value(&own, scene->seed);
        finding->tails = res_limit_value(&own, rule->limit);
    } else {
        other = res_series_of(scene->workload, scene->base, rule->metric);
        finding->estimate = res_estimate_paired(&own, &other, scene->seed);
        finding->tails = res_limit_paired(&own, &other, rule->limit, scene->seed);
    }
    finding->noise = res_compare_control_noise(scene->workload, scene->baseline, rule->metric, scene->seed);
    finding->rounds = rule->relative && other.count < own.count ? other.count : own.count;
    res_series_release(&own);
    res_series_release(&other);
    return needed;
}

static double median_of(const json_t *workload, const json_t *entry, enum res_metric metric)
{
    struct res_series series = res_series_of(workload, entry, metric);
    const double median = series.count > 0 ? res_median(series.values, series.count) : NAN;
    res_series_release(&series);
    return median;
}

static bool failed(const json_t *entry)
{
    return json_is_string(json_object_get(entry, "failed"));
}

static const json_t *yardstick(const struct scene *scene, const json_t *entry)
{
    return scene->earlier_workload != NULL
               ? res_workload_candidate(scene->earlier_workload,
                                        json_string_value(json_object_get(entry, "name")))
               : scene->base;
}

/* Memory of a pass on the recorded clock that is known not to be the program's. */
static bool not_predicted(const json_t *entry)
{
    return json_array_size(json_object_get(entry, "memory_runs")) > 0 &&
           json_is_false(json_object_get(json_object_get(entry, "resident"), "predicted"));
}

/* Without an outcome where the figures are to give it: reason stays NULL then. */
static struct res_finding find(const struct scene *scene, const json_t *entry, const struct res_rule *rule)
{
    struct res_finding finding = {.rule = rule,
                                  .workload = scene->workload_name,
                                  .candidate = json_string_value(json_object_get(entry, "name")),
                                  .outcome = RES_INCONCLUSIVE,
                                  .bridge_ratio = NAN,
                                  .value = median_of(scene->workload, entry, rule->metric)};
    const bool across = rule->relative && scene->earlier_workload != NULL;
    const size_t needed = across ? estimate_across(scene, &finding) : estimate(scene, entry, &finding);
    if (failed(entry)) {
        finding.outcome = RES_OVER;
        char *words = res_cell_plain(entry, "failed", "");
        finding.reason = res_printf("the candidate failed: %s", words);
        free(words);
    } else if (rule->relative && failed(yardstick(scene, entry))) {
        finding.reason = res_strdup("what it is compared with failed");
    } else if (finding.rounds < needed) {
        finding.reason = needed == RES_ROUNDS_OF_PASSES
                             ? res_printf("%zu passes, a verdict takes %zu: run %s", finding.rounds, needed,
                                          res_metric_unit(rule->metric) == RES_UNIT_BYTES
                                              ? "'mallab ab --memory-rounds 3' or more"
                                              : res_metric_remedy(rule->metric))
                             : res_printf("%zu rounds, a verdict takes %zu: run 'mallab ab -n %zu' or more",
                                          finding.rounds, needed, needed);
    } else if (res_metric_unit(rule->metric) == RES_UNIT_BYTES && not_predicted(entry)) {
        finding.reason = res_strdup(
            "its memory on the recorded clock is no prediction ('mallab report' says why)");
    } else if (finding.is_yardstick) {
        finding.reason = res_strdup(
            "it is the same in both results, and the baseline: what its time moved by "
            "is taken for the machine's; for a verdict on it measure with another "
            "baseline (-b)");
    } else if (finding.untold) {
        finding.reason = res_strdup(
            "nothing that is the same in both results tells whether the machine is slower: measure "
            "an allocator beside it as baseline");
    }
    if (finding.reason != NULL || !isfinite(finding.estimate.value))
        finding.tails = (struct res_tails){1, 1};
    finding.above_corrected = finding.tails.above;
    return finding;
}

/* What came out of the judging, in words. */
static char *reason_of(const struct res_finding *finding, const char *why, bool over_alone, size_t tested)
{
    if (over_alone && finding->outcome == RES_INCONCLUSIVE)
        return res_printf("over by itself, but one of %zu findings may be by chance "
                          "(p %.2g, for all together %.2g): more rounds decide",
                          tested, finding->tails.above, finding->above_corrected);
    if (finding->machine_moved && strcmp(why, RES_WHY_NOISE) == 0) {
        const char *percent = RES_PERCENT(finding->noise.high);
        char *words = res_printf(
            "nearer to the limit than the machine itself moved (%s%s): measure both anew", percent,
            finding->bridge == RES_BRIDGE_BASELINE ? ", unevenly" : "");
        return words;
    }
    return res_strdup(why);
}

/* Outcomes from the figures, once all are there. */
static void judge_all(struct res_check *check)
{
    double *chances = res_calloc(check->finding_count + 1, sizeof *chances);
    size_t tested = 0;
    for (size_t i = 0; i < check->finding_count; i++) {
        chances[i] = check->findings[i].reason == NULL ? check->findings[i].tails.above : NAN;
        tested += check->findings[i].reason == NULL;
    }
    res_holm(chances, check->finding_count);
    for (size_t i = 0; i < check->finding_count; i++) {
        struct res_finding *finding = &check->findings[i];
        const char *why = "";
        if (finding->reason == NULL) {
            finding->above_corrected = chances[i];
            const struct res_tails corrected = {.above = chances[i], .below = finding->tails.below};
            const double limit = finding->rule->limit;
            const enum res_outcome alone = res_judge_limit(&finding->estimate, limit, finding->noise,
                                                           finding->tails, &why);
            finding->outcome = res_judge_limit(&finding->estimate, limit, finding->noise, corrected, &why);
            finding->reason = reason_of(finding, why, alone == RES_OVER, tested);
        }
        check->counts[finding->outcome]++;
    }
    free(chances);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static bool measured(const json_t *result, enum res_metric metric)
{
    size_t index, place;
    json_t *workload, *entry;
    json_array_foreach(json_object_get(result, "workloads"), index, workload)
    {
        json_array_foreach(json_object_get(workload, "candidates"), place, entry)
        {
            if (isfinite(median_of(workload, entry, metric)))
                return true;
        }
    }
    return false;
}

static bool any_ran(const json_t *result)
{
    return measured(result, RES_METRIC_TIME);
}

/* A metric that nobody measured is a mistake in the command line, not a doubt about the candidate. */
static char *unmeasured_problem(const json_t *result, const json_t *earlier, const struct res_budget *budget)
{
    for (size_t i = 0; i < budget->rule_count && any_ran(result); i++) {
        const struct res_rule *rule = &budget->rules[i];
        const bool now = measured(result, rule->metric);
        if (!now ||
            (earlier != NULL && rule->relative && any_ran(earlier) && !measured(earlier, rule->metric)))
            return res_printf("'%s' (%s): the %sresult has no '%s'; for that run %s", rule->text, rule->place,
                              now ? "earlier " : "", res_metric_name(rule->metric),
                              res_metric_remedy(rule->metric));
    }
    return NULL;
}

/* Times of others are held against it. */
static bool is_yardstick(const struct scene *scene, const char *name, const struct res_rule *rule)
{
    const struct res_partners partners = partners_of(scene);
    return rule->relative && res_partners_yardstick(&partners, name, rule->metric);
}

static bool fits(const struct scene *scene, const json_t *entry, const struct res_rule *rule, bool is_alone)
{
    const char *name = json_string_value(json_object_get(entry, "name"));
    if (scene->earlier_workload != NULL)
        return rule->candidate != NULL || (res_workload_candidate(scene->earlier_workload, name) != NULL &&
                                           !is_yardstick(scene, name, rule));
    return rule->candidate != NULL || strcmp(name, scene->baseline) != 0 || (is_alone && !rule->relative);
}

static void add(struct res_check *check, const struct res_finding *finding)
{
    check->findings = res_realloc(check->findings, check->finding_count + 1, sizeof *check->findings);
    check->findings[check->finding_count++] = *finding;
}

static void check_workload(struct res_check *check, const struct scene *scene,
                           const struct res_budget *budget)
{
    const json_t *candidates = json_object_get(scene->workload, "candidates");
    size_t index;
    json_t *entry;
    json_array_foreach(candidates, index, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        for (int which = 0; which < 2 * RES_METRIC_COUNT && check->finding_count < RES_FINDINGS_MAX;
             which++) {
            const struct res_rule *rule = res_budget_find(budget, (enum res_metric)(which / 2),
                                                          which % 2 == 0, scene->workload_name, name);
            if (rule == NULL || !fits(scene, entry, rule, json_array_size(candidates) == 1))
                continue;
            const struct res_finding finding = find(scene, entry, rule);
            add(check, &finding);
        }
    }
}

/* A rule may be overruled by a nearer one everywhere; what it names must be there all the same. */
static char *unused_problem(const json_t *result, const json_t *earlier, const struct res_check *check,
                            const struct res_budget *budget)
{
    for (size_t i = 0; i < budget->rule_count; i++) {
        const struct res_rule *rule = &budget->rules[i];
        bool there = false;
        size_t index, place;
        json_t *workload, *entry;
        json_array_foreach(json_object_get(result, "workloads"), index, workload)
        {
            if (rule->workload != NULL &&
                strcmp(rule->workload, json_string_value(json_object_get(workload, "name"))) != 0)
                continue;
            json_array_foreach(json_object_get(workload, "candidates"), place, entry)
            {
                there = there || rule->candidate == NULL ||
                        strcmp(rule->candidate, json_string_value(json_object_get(entry, "name"))) == 0;
            }
        }
        if (!there)
            return res_printf(
                "'%s' (%s) fits nothing: the result has no %s '%s'%s%s%s; 'mallab report' shows what it has",
                rule->text, rule->place, rule->candidate != NULL ? "candidate" : "workload",
                rule->candidate != NULL ? rule->candidate : rule->workload,
                rule->candidate != NULL && rule->workload != NULL ? " on workload '" : "",
                rule->candidate != NULL && rule->workload != NULL ? rule->workload : "",
                rule->candidate != NULL && rule->workload != NULL ? "'" : "");
    }
    if (check->finding_count == 0)
        return res_strdup(earlier != NULL ? "no candidate is in both results: nothing to check"
                                          : "the result holds only its baseline: add a candidate to 'mallab "
                                            "ab -a', give --baseline, or "
                                            "an absolute limit");
    if (check->finding_count >= RES_FINDINGS_MAX)
        return res_strdup("more findings than a check takes");
    return NULL;
}

bool res_check_run(const struct res_result *typed_result, const struct res_result *typed_earlier,
                   const struct res_budget *budget, struct res_check *ret_check, char **ret_problem)
{
    const json_t *result = typed_result->json;
    const json_t *earlier = typed_earlier != NULL ? typed_earlier->json : NULL;
    struct res_check check = {.baseline = json_string_value(json_object_get(result, "baseline")),
                              .earlier = earlier != NULL};
    size_t index;
    json_t *workload;
    *ret_problem = unmeasured_problem(result, earlier, budget);
    json_array_foreach(json_object_get(result, "workloads"), index, workload)
    {
        const struct scene scene = {
            .workload = workload,
            .base = res_workload_candidate(workload, check.baseline),
            .earlier_workload = earlier != NULL ? res_compare_partner(earlier, result, workload) : NULL,
            .workload_name = json_string_value(json_object_get(workload, "name")),
            .baseline = check.baseline,
            .baseline_then = json_string_value(json_object_get(earlier, "baseline")),
            .seed = (uint64_t)json_integer_value(json_object_get(result, "seed")),
        };
        if (*ret_problem == NULL && (earlier == NULL || scene.earlier_workload != NULL))
            check_workload(&check, &scene, budget);
    }
    if (*ret_problem == NULL)
        *ret_problem = unused_problem(result, earlier, &check, budget);
    if (*ret_problem != NULL) {
        res_check_release(&check);
        return false;
    }
    judge_all(&check);
    *ret_check = check;
    return true;
}

void res_check_release(struct res_check *check)
{
    for (size_t i = 0; i < check->finding_count; i++)
        free(check->findings[i].reason);
    free(check->findings);
    *check = (struct res_check){0};
}

enum res_outcome res_check_outcome(const struct res_check *check)
{
    if (check->counts[RES_OVER] > 0)
        return RES_OVER;
    return check->counts[RES_INCONCLUSIVE] > 0 ? RES_INCONCLUSIVE : RES_WITHIN;
}
