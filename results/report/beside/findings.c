/* findings.c - rules meet candidates, candidates meet themselves. */
#include "results/report/beside/beside.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RES_WHY_NOISE   "nearer to the limit than the noise (A/A)"
#define RES_WHY_CROSSES "the interval crosses the limit"
#define RES_WHY_SAME    "the same bytes in both results: it moved by noise alone"
#define RES_SHOWN_LEAST 0.0005 /* part by which figures must differ, or they read +0.0 % */

/* ---- what is told ---------------------------------------------------------------------------- */

static const char *const OUTCOMES[] = {"within", "over", "inconclusive"};

#define OWNER struct res_finding
static const struct res_field FINDING_FIELDS[] = {
    RES_ROW(LENT, "workload", workload, NULL),
    RES_ROW(LENT, "candidate", candidate, NULL),
    RES_ROW(LENT, "metric", metric, NULL),
    RES_ROW(LENT, "unit", unit, NULL),
    RES_ROW_AS(LENT, OMITTED, "budget", rule.text, NULL),
    RES_ROW(TRUTH, "relative", rule.relative, NULL),
    RES_ROW(NUMBER, "limit", rule.limit, NULL),
    RES_ROW(NUMBER, "value", value, NULL),
    RES_ROW_AS(NUMBER, OMITTED, "then", then, NULL),
    RES_ROW(NUMBER, "measured", estimate.value, NULL),
    RES_ROW(NUMBER, "measured_low", estimate.interval.low, NULL),
    RES_ROW(NUMBER, "measured_high", estimate.interval.high, NULL),
    RES_ROW(NUMBER, "noise_low", noise.low, NULL),
    RES_ROW(NUMBER, "noise_high", noise.high, NULL),
    RES_ROW_AS(NUMBER, OMITTED, "resolves", resolves, NULL),
    RES_WORD("bridge", bridge, RES_BRIDGE_WORDS, NULL),
    RES_ROW(NUMBER, "bridge_ratio", bridge_ratio, NULL),
    RES_ROW_AS(LENT, OMITTED, "bridged_by", bridged_by, NULL),
    RES_ROW_AS(TRUTH, OMITTED, "is_yardstick", is_yardstick, NULL),
    RES_ROW(NUMBER, "p_above", tails.above, NULL),
    RES_ROW(NUMBER, "p_above_corrected", above_corrected, NULL),
    RES_ROW(NUMBER, "p_below", tails.below, NULL),
    RES_ROW(COUNT, "rounds", rounds, NULL),
    RES_ROW(LENT, "outcome", word, NULL),
    RES_ROW_AS(TEXT, ZERO_IS_NULL, "reason", reason, NULL),
};
static const struct res_described FINDING = RES_DESCRIBE_WHOLLY("a finding", FINDING_FIELDS);
#undef OWNER

#define OWNER struct res_differing
static const struct res_field DIFFERING_FIELDS[] = {
    RES_ROW(LENT, "what", what, NULL),
    RES_ROW(LENT, "key", key, NULL),
    RES_ROW(TEXT, "then", then, NULL),
    RES_ROW(TEXT, "now", now, NULL),
};
static const struct res_described DIFFERING = RES_DESCRIBE_WHOLLY("a difference", DIFFERING_FIELDS);
#undef OWNER

#define OWNER struct res_beside
static const struct res_field BESIDE_FIELDS[] = {
    RES_HEAD_ROWS,
    RES_ROW_AS(LENT, OMITTED, "outcome", word, NULL),
    RES_ROW_AS(COUNT, OMITTED, "exit_code", exit_code, NULL),
    RES_ROW(LENT, "baseline", baseline, NULL),
    RES_ROW_AS(LENT, OMITTED, "against", against, NULL),
    RES_ROW_AS(TEXTS, OMITTED, "changed_libraries", changed_libraries, NULL),
    RES_LIST(LIST, OMITTED, "differences", differences, difference_count, &DIFFERING, NULL),
    RES_ROW_AS(TEXTS, OMITTED, "told", told, NULL),
    RES_ROW_AS(COUNT, OMITTED, "counts.within", counts[RES_WITHIN], NULL),
    RES_ROW_AS(COUNT, OMITTED, "counts.over", counts[RES_OVER], NULL),
    RES_ROW_AS(COUNT, OMITTED, "counts.inconclusive", counts[RES_INCONCLUSIVE], NULL),
    RES_LIST(LIST, PLAIN, "findings", findings, finding_count, &FINDING, NULL),
};
const struct res_described RES_BESIDE = RES_DESCRIBE_WHOLLY("a comparison", BESIDE_FIELDS);
#undef OWNER

const char *res_outcome_name(enum res_outcome outcome)
{
    return OUTCOMES[outcome];
}

/* ---- one figure ------------------------------------------------------------------------------ */

enum res_outcome res_judge_limit(const struct res_estimate *estimate, double limit, struct res_interval noise,
                                 struct res_tails tails, const char **ret_why)
{
    const struct res_interval interval = estimate->interval;
    *ret_why = "no figure";
    if (!isfinite(estimate->value))
        return RES_INCONCLUSIVE;
    if (interval.low <= limit && interval.high > limit) {
        *ret_why = RES_WHY_CROSSES;
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

static const struct res_result_entry *baseline_of(const struct res_partners *partners)
{
    return res_result_entry_named(partners->now, partners->result->baseline);
}

/* As res_across_partners, within one result. */
static void estimate(const struct res_partners *partners, const struct res_result_entry *entry,
                     struct res_finding *finding)
{
    const struct res_rule *rule = &finding->rule;
    struct res_series own = res_series_of(partners->now, entry, rule->metric);
    struct res_series other = {0};
    if (rule->relative)
        other = res_series_of(partners->now, baseline_of(partners), rule->metric);
    const struct res_logarithm figure = res_series_logarithm(&own, rule->relative ? &other : NULL);
    finding->estimate = res_logarithm_estimate(figure);
    finding->tails = res_logarithm_tails(figure, rule->limit);
    const struct res_interval of_time = partners->now->control.figures.time.interval; /* as reported */
    finding->noise = rule->metric == RES_METRIC_TIME && isfinite(of_time.low) && isfinite(of_time.high)
                         ? of_time
                         : res_control_noise(partners->now, partners->result->baseline, rule->metric);
    finding->rounds_needed = res_series_rounds_needed(&own);
    finding->rounds = rule->relative && other.count < own.count ? other.count : own.count;
    res_series_release(&own);
    res_series_release(&other);
}

static const struct res_result_entry *yardstick(const struct res_partners *partners,
                                                const struct res_result_entry *entry)
{
    return partners->then != NULL ? res_result_entry_named(partners->then, entry->name)
                                  : baseline_of(partners);
}

/* Memory of a pass on the recorded clock that is known not to be the program's. */
static bool not_predicted(const struct res_result_entry *entry)
{
    return entry->memory_count > 0 && !entry->predicted;
}

static struct res_finding finding_of(const struct res_result_workload *workload,
                                     const struct res_result_entry *entry, const struct res_rule *rule)
{
    return (struct res_finding){.rule = *rule,
                                .metric = RES_METRICS[rule->metric].name,
                                .unit = RES_METRICS[rule->metric].unit_name,
                                .workload = workload->name,
                                .candidate = entry->name,
                                .outcome = RES_INCONCLUSIVE,
                                .estimate = {NAN, {NAN, NAN}, 0},
                                .noise = {1, 1},
                                .tails = {1, 1},
                                .bridge_ratio = NAN,
                                .resolves = NAN,
                                .then = NAN,
                                .value = res_metric_value(workload, entry, rule->metric)};
}

/* A time beside an earlier one, and no allocator is the same in both. */
static bool is_unbridged(const struct res_finding *finding)
{
    return finding->bridge == RES_BRIDGE_NONE && RES_METRICS[finding->rule.metric].unit == RES_UNIT_NS;
}

/* Nothing but the allocator can have changed. */
static bool is_same_place(const struct res_partners *partners)
{
    static const char *const KEYS[] = {"cpu", "kernel", "libc", "transparent_huge_pages"};
    const struct res_machine *now = &partners->result->machine, *then = &partners->earlier->machine;
    bool is_same = !res_builds_differ(&now->libc_build, &then->libc_build);
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++)
        is_same &= res_described_same(&RES_MACHINE, now, then, KEYS[i]);
    return is_same;
}

/* Without an outcome where the figures are to give it: reason stays NULL then. */
static struct res_finding find(const struct res_partners *partners, const struct res_result_entry *entry,
                               const struct res_rule *rule)
{
    struct res_finding finding = finding_of(partners->now, entry, rule);
    const struct res_result_entry *other = yardstick(partners, entry);
    const bool across = rule->relative && partners->then != NULL;
    if (across)
        res_across_partners(partners, &finding);
    else
        estimate(partners, entry, &finding);
    const uint64_t needed = finding.rounds_needed;
    if (entry->failed != NULL) {
        finding.outcome = RES_OVER;
        finding.reason = res_printf("the candidate failed: %s", entry->failed);
    } else if (rule->relative && other != NULL && other->failed != NULL) {
        finding.reason = res_strdup("what it is compared with failed");
    } else if (finding.rounds < needed) {
        finding.reason = needed == RES_ROUNDS_OF_PASSES
                             ? res_printf("%" PRIu64 " passes, a verdict takes %" PRIu64 ": run %s",
                                          finding.rounds, needed,
                                          RES_METRICS[rule->metric].unit == RES_UNIT_BYTES
                                              ? "'mallab ab -n 3' or more"
                                              : RES_METRICS[rule->metric].remedy)
                             : res_printf("%" PRIu64 " rounds, a verdict takes %" PRIu64
                                          ": run 'mallab ab -n %" PRIu64 "' or more",
                                          finding.rounds, needed, needed);
    } else if (RES_METRICS[rule->metric].unit == RES_UNIT_BYTES && not_predicted(entry)) {
        finding.reason = res_strdup(
            "its memory on the recorded clock is no prediction ('mallab report' says why)");
    } else if (finding.is_yardstick) {
        finding.reason = res_strdup("it is the same in both results, so what its time moved by "
                                    "is taken for the machine's; for a verdict on it measure with another "
                                    "baseline (-b)");
    } else if (finding.is_unchanged && rule->limit >= 1 && is_same_place(partners)) {
        finding.outcome = RES_WITHIN;
        finding.reason = res_strdup(RES_WHY_SAME);
    } else if (across && is_unbridged(&finding)) {
        finding.reason = res_strdup(
            "no allocator that is the same in both results tells whether the machine is slower: measure "
            "one beside it as baseline");
    }
    if (finding.reason != NULL || !isfinite(finding.estimate.value))
        finding.tails = (struct res_tails){1, 1};
    finding.above_corrected = finding.tails.above;
    return finding;
}

/* The outcome of the judging, in words. */
static char *reason_of(const struct res_beside *check, const struct res_finding *finding, const char *why,
                       bool over_alone, size_t tested)
{
    if (over_alone && finding->outcome == RES_INCONCLUSIVE)
        return res_printf("over by itself, but one of %zu findings may be by chance "
                          "(p %.2g, for all together %.2g): more rounds decide",
                          tested, finding->tails.above, finding->above_corrected);
    if (finding->machine_moved && strcmp(why, RES_WHY_NOISE) == 0) {
        return res_printf(
            "nearer to the limit than the machine itself moved (%s, unevenly): measure both anew",
            RES_PERCENT(finding->noise.high));
    }
    return res_strdup(why);
}

/* The noise that a figure has to differ from the limit by. Within a result the interval of a time has the control in it. */
static struct res_interval noise_at_limit(const struct res_beside *check, const struct res_finding *finding)
{
    const bool is_in_interval = finding->rule.metric == RES_METRIC_TIME &&
                                !(check->then != NULL && finding->rule.relative);
    return is_in_interval ? (struct res_interval){1, 1} : finding->noise;
}

/* Outcomes from the figures, once all are there. */
static void judge_all(struct res_beside *check)
{
    RES_FREED double *chances = res_calloc(check->finding_count + 1, sizeof *chances);
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
            const double limit = finding->rule.limit;
            const struct res_interval noise = noise_at_limit(check, finding);
            const enum res_outcome alone = res_judge_limit(&finding->estimate, limit, noise, finding->tails,
                                                           &why);
            finding->outcome = res_judge_limit(&finding->estimate, limit, noise, corrected, &why);
            finding->reason = reason_of(check, finding, why, alone == RES_OVER, tested);
        }
        finding->word = res_outcome_name(finding->outcome);
        check->counts[finding->outcome]++;
    }
}

/* ---- all of them ---------------------------------------------------------------------------- */

static bool measured(const struct res_result *result, enum res_metric metric)
{
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_result_workload *workload = &result->workloads[i];
        for (size_t k = 0; k < workload->candidate_count; k++)
            if (isfinite(res_metric_value(workload, &workload->candidates[k], metric)))
                return true;
    }
    return false;
}

static bool any_ran(const struct res_result *result)
{
    return measured(result, RES_METRIC_TIME);
}

/* A metric that nobody measured is a mistake in the command line, not a doubt about the candidate. */
static char *unmeasured_problem(const struct res_result *result, const struct res_result *earlier,
                                const struct res_budget *budget)
{
    for (size_t i = 0; i < budget->rule_count && any_ran(result); i++) {
        const struct res_rule *rule = &budget->rules[i];
        const bool now = measured(result, rule->metric);
        if (!now ||
            (earlier != NULL && rule->relative && any_ran(earlier) && !measured(earlier, rule->metric)))
            return res_printf("'%s' (%s): the %sresult has no '%s'; for that run %s", rule->text, rule->place,
                              now ? "earlier " : "", RES_METRICS[rule->metric].name,
                              RES_METRICS[rule->metric].remedy);
    }
    return NULL;
}

static bool fits(const struct res_partners *partners, const char *name, const struct res_rule *rule)
{
    const bool is_alone = partners->now->candidate_count == 1;
    if (rule->candidate != NULL)
        return true;
    if (partners->then != NULL) /* times of others are held against the yardstick's */
        return res_result_entry_named(partners->then, name) != NULL &&
               !(rule->relative && res_partners_yardstick(partners, name, rule->metric));
    return strcmp(name, partners->result->baseline) != 0 || (is_alone && !rule->relative);
}

static void add_finding(struct res_beside *beside, const struct res_finding *finding)
{
    const size_t count = beside->finding_count;
    if ((count & (count - 1)) == 0) /* full at powers of two */
        beside->findings = res_realloc(beside->findings, 2 * count + 1, sizeof *beside->findings);
    beside->findings[beside->finding_count++] = *finding;
}

static void check_workload(struct res_beside *check, const struct res_partners *partners,
                           const struct res_budget *budget)
{
    for (size_t i = 0; i < partners->now->candidate_count; i++) {
        const struct res_result_entry *entry = &partners->now->candidates[i];
        for (int which = 0; which < 2 * RES_METRIC_COUNT && check->finding_count < RES_FINDINGS_MAX;
             which++) {
            const struct res_rule *rule = res_budget_find(budget, (enum res_metric)(which / 2),
                                                          which % 2 == 0, entry->name);
            if (rule == NULL || !fits(partners, entry->name, rule))
                continue;
            const struct res_finding finding = find(partners, entry, rule);
            add_finding(check, &finding);
        }
    }
}

static bool names_something(const struct res_rule *rule, const struct res_result *result)
{
    for (size_t i = 0; i < result->workload_count; i++)
        if (rule->candidate == NULL || res_result_entry_named(&result->workloads[i], rule->candidate) != NULL)
            return true;
    return false;
}

/* A rule may be overruled by a nearer one everywhere; what it names must be there all the same. */
static char *unused_problem(const struct res_result *result, const struct res_beside *check,
                            const struct res_budget *budget)
{
    if (result->workload_count == 0)
        return res_strdup("the result has no workload to check: 'mallab ab' makes results with one");
    for (size_t i = 0; i < budget->rule_count; i++) {
        const struct res_rule *rule = &budget->rules[i];
        if (!names_something(rule, result))
            return res_printf(
                "'%s' (%s) fits nothing: the result has no candidate '%s'; 'mallab report' shows "
                "what it has",
                rule->text, rule->place, rule->candidate);
    }
    if (check->finding_count == 0)
        return res_strdup(check->then != NULL
                              ? "no candidate is in both results: nothing to check"
                              : "the result holds only its baseline: add a candidate to 'mallab "
                                "ab -a', give --baseline, or "
                                "an absolute limit");
    if (check->finding_count >= RES_FINDINGS_MAX)
        return res_strdup("more findings than a check takes");
    return NULL;
}

/* A workload beside its partner, or alone. */
static struct res_partners partners_of(const struct res_result *result, const struct res_result *earlier,
                                       size_t at)
{
    const struct res_result_workload *now = &result->workloads[at];
    return (struct res_partners){result, earlier, now,
                                 earlier != NULL ? res_partner(earlier, result, now) : NULL};
}

bool res_check_run(const struct res_result *result, const struct res_result *earlier,
                   const struct res_budget *budget, struct res_beside *ret_check, char **ret_problem)
{
    struct res_beside check = {
        .schema = RES_CHECK_SCHEMA,
        .mallab_version = MALLAB_VERSION,
        .baseline = result->baseline,
        .now = result,
        .then = earlier,
        .against = earlier != NULL ? "earlier result" : "baseline",
    };
    char *problem = unmeasured_problem(result, earlier, budget);
    for (size_t i = 0; i < result->workload_count && problem == NULL; i++) {
        const struct res_partners partners = partners_of(result, earlier, i);
        if (earlier == NULL || partners.then != NULL)
            check_workload(&check, &partners, budget);
    }
    if (problem == NULL)
        problem = unused_problem(result, &check, budget);
    if (problem == NULL && earlier != NULL)
        check.changed_libraries = res_changed_libraries(earlier, result);
    judge_all(&check);
    check.outcome = check.counts[RES_OVER] > 0           ? RES_OVER
                    : check.counts[RES_INCONCLUSIVE] > 0 ? RES_INCONCLUSIVE
                                                         : RES_WITHIN;
    check.word = res_outcome_name(check.outcome);
    *ret_problem = problem;
    if (problem != NULL)
        res_described_release(&RES_BESIDE, &check);
    else
        *ret_check = check;
    return problem == NULL;
}

/* ---- then and now ---------------------------------------------------------------------------- */

/* As a check judges at a limit of 1, on both sides of it; the same bytes moved by noise alone, whatever was resolved. Bytes have to be worth a
 * difference, others to show one. */
static void judge_change(const struct res_partners *partners, struct res_finding *finding)
{
    const struct res_estimate *ratio = &finding->estimate;
    const enum res_unit unit = RES_METRICS[finding->rule.metric].unit;
    const double worth = unit == RES_UNIT_BYTES ? RES_MEMORY_WORTH : RES_SHOWN_LEAST;
    const double chance = fmin(finding->tails.above, finding->tails.below);
    enum res_verdict verdict = ratio->value < 1 ? RES_LESS : RES_MORE;
    if (finding->rounds < finding->rounds_needed || !isfinite(ratio->value) || is_unbridged(finding) ||
        finding->is_yardstick)
        verdict = RES_UNDECIDED;
    else if (finding->is_unchanged && is_same_place(partners)) {
        verdict = RES_SAME;
        finding->reason = res_strdup(RES_WHY_SAME);
    } else if ((ratio->interval.low <= 1 && ratio->interval.high >= 1) || fabs(ratio->value - 1) < worth ||
               (ratio->value >= finding->noise.low && ratio->value <= finding->noise.high) ||
               chance > RES_P_VALUE_MOST)
        verdict = RES_SAME;
    if (verdict != RES_UNDECIDED && finding->reason == NULL)
        finding->resolves = res_resolves(ratio->value, ratio->interval, finding->noise, worth);
    finding->word = (unit == RES_UNIT_NS ? RES_TIME_VERDICTS : RES_MEMORY_VERDICTS)[verdict];
    finding->above_corrected = finding->tails.above;
}

struct res_finding res_compare_figure(const struct res_partners *partners,
                                      const struct res_result_entry *entry, enum res_metric metric)
{
    const struct res_rule rule = {.metric = metric, .relative = true, .limit = 1};
    struct res_finding finding = finding_of(partners->now, entry, &rule);
    res_across_partners(partners, &finding);
    if (finding.rounds < RES_ROUNDS_FOR_INTERVAL && finding.rounds_needed == RES_ROUNDS_FOR_VERDICT)
        finding.estimate.interval = (struct res_interval){NAN, NAN};
    judge_change(partners, &finding);
    return finding;
}

static void compare_candidate(struct res_beside *beside, const struct res_partners *partners,
                              const struct res_result_entry *now, const struct res_result_entry *then)
{
    const char *workload = partners->now->name;
    for (int metric = 0; metric < RES_METRIC_COUNT && beside->finding_count < RES_FINDINGS_MAX; metric++) {
        struct res_finding finding = res_compare_figure(partners, now, (enum res_metric)metric);
        if (isfinite(finding.value) || isfinite(finding.then))
            add_finding(beside, &finding);
    }
    if (!res_described_same(&RES_RESULT_ENTRY, then, now, "environment"))
        res_texts_take(&beside->told,
                       res_printf("%s: %s: its settings (environment) differ", workload, now->name));
    if (then->failed != NULL)
        res_texts_take(&beside->told,
                       res_printf("%s: %s: failed then: %s", workload, now->name, then->failed));
    if (now->failed != NULL)
        res_texts_take(&beside->told, res_printf("%s: %s: failed now: %s", workload, now->name, now->failed));
}

static void tell_alone(struct res_beside *beside, const struct res_result_workload *one,
                       const struct res_result_workload *other, const char *when)
{
    for (size_t i = 0; i < one->candidate_count; i++)
        if (res_result_entry_named(other, one->candidates[i].name) == NULL)
            res_texts_take(&beside->told,
                           res_printf("%s: only %s: %s", one->name, when, one->candidates[i].name));
}

static void compare_workload(struct res_beside *beside, const struct res_partners *partners)
{
    const struct res_result_workload *now = partners->now, *then = partners->then;
    const char *key = res_workload_key(now), *key_then = res_workload_key(then);
    if (key == NULL || key_then == NULL || strcmp(key, key_then) != 0)
        res_texts_take(&beside->told,
                       res_printf("%s: these are DIFFERENT workloads: the change is also theirs", now->name));
    for (size_t i = 0; i < now->candidate_count; i++) {
        const struct res_result_entry *entry = res_result_entry_named(then, now->candidates[i].name);
        if (entry != NULL)
            compare_candidate(beside, partners, &now->candidates[i], entry);
    }
    tell_alone(beside, then, now, "then");
    tell_alone(beside, now, then, "now");
}

void res_compare_run(const struct res_result *earlier, const struct res_result *result,
                     struct res_beside *ret_comparison)
{
    struct res_beside comparison = {
        .schema = RES_COMPARE_SCHEMA,
        .mallab_version = MALLAB_VERSION,
        .baseline = result->baseline,
        .now = result,
        .then = earlier,
        .exit_code = RES_COUNT_ABSENT,
        .counts = {RES_COUNT_ABSENT, RES_COUNT_ABSENT, RES_COUNT_ABSENT},
    };
    comparison.changed_libraries = res_changed_libraries(earlier, result);
    res_differences_add(&comparison, earlier, result);
    for (size_t i = 0; i < result->workload_count; i++) {
        const struct res_partners partners = partners_of(result, earlier, i);
        if (partners.then != NULL)
            compare_workload(&comparison, &partners);
    }
    res_lone_add(&comparison, earlier, result);
    *ret_comparison = comparison;
}
