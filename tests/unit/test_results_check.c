/* test_results_check.c - outcomes against limits of known samples, and estimates whose truth is known. Samples without noise but a jitter of a thousandth, so that every figure is known. */
#include <math.h>

#include "footprint/base/support.h"
#include "results/measure/base/random.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/beside/beside.h"
#include "unit/harness.h"
#include "unit/typed.h"

#define QUIET                                                                                                \
    {                                                                                                        \
        1, 1                                                                                                 \
    }
#define NOISY                                                                                                \
    {                                                                                                        \
        0.96, 1.04                                                                                           \
    }

TEST(limits_judge_the_whole_interval)
{
    static const struct {
        double low, value, high, limit;
        struct res_interval noise;
        struct res_tails tails;
        enum res_outcome outcome;
    } CASES[] = {
        {1.00, 1.01, 1.02, 1.03, QUIET, {0, 0}, RES_WITHIN},
        {1.00, 1.02, 1.03, 1.03, QUIET, {0, 0}, RES_WITHIN}, /* at most: the limit itself is allowed */
        {1.02, 1.03, 1.04, 1.03, QUIET, {0, 0}, RES_INCONCLUSIVE},
        {1.035, 1.04, 1.05, 1.03, QUIET, {0, 0}, RES_OVER},
        {1, 1, 1, 1, QUIET, {0, 0}, RES_WITHIN},
        {0, 0, 0, 0, QUIET, {0, 0}, RES_WITHIN},
        {1, 1, 1, 0, QUIET, {0, 0}, RES_OVER},
        {NAN, NAN, NAN, 1.03, QUIET, {0, 0}, RES_INCONCLUSIVE},
        /* Noise makes what is near the limit inconclusive. */
        {1.00, 1.01, 1.02, 1.03, NOISY, {0, 0}, RES_INCONCLUSIVE},
        {1.05, 1.06, 1.07, 1.03, NOISY, {0, 0}, RES_INCONCLUSIVE},
        {1.08, 1.09, 1.10, 1.03, NOISY, {0, 0}, RES_OVER},
        {0.90, 0.91, 0.92, 1.03, NOISY, {0, 0}, RES_WITHIN},
        /* So does chance at the limit. */
        {1.04, 1.05, 1.06, 1.03, QUIET, {0.04, 1}, RES_OVER},
        {1.04, 1.05, 1.06, 1.03, QUIET, {0.06, 1}, RES_INCONCLUSIVE},
        {1.00, 1.01, 1.02, 1.03, QUIET, {1, 0.04}, RES_WITHIN},
        {1.00, 1.01, 1.02, 1.03, QUIET, {1, 0.06}, RES_INCONCLUSIVE},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        const char *why = "";
        const struct res_estimate estimate = {.value = CASES[i].value,
                                              .interval = {CASES[i].low, CASES[i].high}};
        CHECK_STR(res_outcome_name(
                      res_judge_limit(&estimate, CASES[i].limit, CASES[i].noise, CASES[i].tails, &why)),
                  res_outcome_name(CASES[i].outcome));
        if (CASES[i].tails.above == 0.06)
            CHECK_STR(why, "the test at the limit does not exclude chance");
    }
}

static struct res_series series_of(double *values, size_t count, bool of_passes)
{
    return (struct res_series){.values = values, .count = count, .of_passes = of_passes};
}

TEST(pairing_takes_out_what_both_sides_share)
{
    double base[12], other[12];
    for (size_t i = 0; i < 12; i++) {
        base[i] = 100 + 40.0 * (double)(i % 4); /* the machine: up to 120 % */
        other[i] = base[i] * (1.05 + (double)(i % 3) * 0.001);
    }
    const struct res_series one = series_of(other, 12, false), two = series_of(base, 12, false);
    CHECK(res_series_rounds_needed(&one) > 3);
    CHECK_U64(res_series_rounds_needed(&(struct res_series){.count = 3, .of_passes = true}), 3);
    const struct res_estimate paired = res_logarithm_estimate(res_series_logarithm(&one, &two));
    const struct res_estimate unpaired = res_logarithm_estimate(res_series_across(&one, &two));
    CHECK(paired.interval.low >= 1.05 && paired.interval.high <= 1.052);
    CHECK(unpaired.interval.low < 1 && unpaired.interval.high > 1.1);
}

/* Two batches, four runs; one run of each side was disturbed as a whole, in different rounds. */
static json_t *entry_with_batches(const char *name, int first, int second, size_t disturbed, size_t batches)
{
    json_t *entry = json_of("{'name': '%s', 'runs': []}", name);
    for (size_t i = 0; i < 4; i++) {
        const int factor = i == disturbed ? 5 : 1;
        json_t *run = json_of("{'ns_per_op': %g, 'batch_ns': [%d, %d]}", (first + second) * factor / 10.0,
                              first * factor, second * factor);
        if (i == 3 && batches < 2)
            json_array_remove(json_at(run, "batch_ns"), 1);
        json_array_append_new(json_at(entry, "runs"), run);
    }
    return entry;
}

TEST(time_is_compared_by_its_steady_batches)
{
    json_t *json = json_pack("{s:o, s:[o, o, o]}", "floor", entry_with_batches("none", 10, 10, 2, 2),
                             "candidates", entry_with_batches("base", 110, 110, 0, 2),
                             entry_with_batches("other", 160, 160, 1, 2),
                             entry_with_batches("cut", 160, 160, 1, 1));
    const struct res_result_workload *workload = typed_workload(json, "base");
    const struct res_result_entry *entries = workload->candidates;
    OWNED(res_series) base = res_series_of(workload, &entries[0], RES_METRIC_TIME);
    OWNED(res_series) other = res_series_of(workload, &entries[1], RES_METRIC_TIME);
    OWNED(res_series) cut = res_series_of(workload, &entries[2], RES_METRIC_TIME);
    CHECK(base.time.batches.batch_count == 2 && base.floor.batches.batch_count == 2);
    CHECK(fabs(exp(res_series_logarithm(&other, &base).value) - 1.5) < 1e-9);
    CHECK(fabs(exp(res_series_across(&other, &base).value) - 1.5) < 1e-9);
    CHECK(cut.time.batches.batch_count == 1 &&
          cut.count == 4); /* a run lacks a batch: whole runs are its batches */
}

static json_t *result_with(size_t rounds, int slower)
{
    json_t *result = json_of("{'baseline': 'base', 'seed': 1, 'workloads': [{'name': 'w', 'digest': 'd', "
                             "'ops': 110, 'inherited_ops': 10, 'candidates': []}]}");
    json_t *workload = json_at(result, "workloads.0"),
           *base = entry_with_batches("base", 1100 + slower, 1100, 0, 2);
    json_t *runs = json_at(base, "runs");
    while (json_array_size(runs) < rounds)
        json_array_append_new(runs, json_deep_copy(json_array_get(runs, 1)));
    json_object_set_new(workload, "floor", entry_with_batches("none", 100, 100, 2, 2));
    json_array_append_new(json_at(workload, "candidates"), base);
    return result;
}

/* The comparison; its text, too. */
static struct res_beside compare(json_t *then, json_t *now, char **ret_text)
{
    struct res_beside comparison;
    res_compare_run(typed_judged(then), typed_judged(now), &comparison);
    *ret_text = res_beside_document(&comparison, &(struct res_style){0});
    return comparison;
}

static void beside_drop(struct res_beside *beside)
{
    res_described_release(&RES_BESIDE, beside);
}

#define BESIDE __attribute__((cleanup(beside_drop), unused)) struct res_beside

TEST(what_an_older_result_lacks_is_no_zero)
{
    json_auto_t *then = result_with(4, 0), *now = result_with(4, 0);
    for (int told = 0; told < 2; told++) {
        if (told)
            json_object_set_new(now, "memory_rounds_asked", json_integer(0));
        OWNED_TEXT *text;
        BESIDE comparison = compare(then, now, &text);
        CHECK((strstr(text, "memory_rounds_asked was not recorded, is 0") != NULL) == told);
        CHECK(strstr(text, "memory_idle_ms") == NULL);
    }
}

TEST(the_change_is_of_the_figures_beside_it)
{
    for (size_t rounds = 4; rounds <= 6; rounds += 2) {
        json_auto_t *then = result_with(rounds, 0), *now = result_with(rounds, 500);
        OWNED_TEXT *text;
        BESIDE comparison = compare(then, now, &text);
        const struct res_finding *time = &comparison.findings[0];
        CHECK_STR(time->metric, "time");
        CHECK(fabs(time->then - 20) < 1e-9); /* (2200 - 200) / 100 */
        CHECK(fabs(time->value - 25) < 1e-9);
        CHECK(fabs(time->estimate.value - 1.25) < 1e-9);
        CHECK(isnan(time->estimate.interval.low) == (rounds < RES_ROUNDS_FOR_INTERVAL));
        CHECK((strstr(text, "+25.0% ?") != NULL) == (rounds < RES_ROUNDS_FOR_INTERVAL));
    }
}

/* `base` by the same bytes without a version, on a day on which all took half as long again; beside it another build of `other`. */
static json_t *day_of(int slower, bool has_other)
{
    json_t *result = result_with(8, slower);
    json_t *workload = json_array_get(json_object_get(result, "workloads"), 0);
    json_t *entries = json_object_get(workload, "candidates"), *base = json_array_get(entries, 0);
    json_object_set_new(base, "build", json_pack("{s:s}", "digest", "feed"));
    if (has_other) {
        json_t *other = json_deep_copy(base);
        json_object_set_new(other, "name", json_string("other"));
        json_object_set_new(other, "build", json_pack("{s:s}", "digest", slower > 0 ? "new" : "old"));
        json_array_append_new(entries, other);
    }
    return result;
}

TEST(equal_bytes_are_the_same_allocator_and_bridge_a_busy_day)
{
    for (int has_other = 0; has_other < 2; has_other++) {
        json_t *then = day_of(0, has_other), *now = day_of(1000, has_other);
        OWNED_TEXT *text;
        BESIDE comparison = compare(then, now, &text);
        CHECK(comparison.findings[0].is_yardstick);
        CHECK(strstr(text, "slower") == NULL && strstr(text, "no other allocator") == NULL);
        CHECK(strstr(text, "base is the same in both") != NULL);
        for (size_t i = 0; i < comparison.finding_count && has_other; i++) {
            const struct res_finding *finding = &comparison.findings[i];
            if (strcmp(finding->candidate, "other") != 0 || finding->rule.metric != RES_METRIC_TIME)
                continue;
            CHECK_STR(finding->bridged_by, "base");
            CHECK(fabs(finding->estimate.value - 1) < 1e-9 && fabs(finding->bridge_ratio - 1.5) < 1e-9);
        }
        json_decref(then);
        json_decref(now);
    }
}

/* `other` is a tenth slower than then: what has other bytes is over, what has the same the machine moved. */
TEST(the_same_bytes_are_within_whatever_the_machine_did)
{
    OWNED(res_budget) budget = {0};
    char *problem = NULL;
    CHECK(res_budget_add_text(&budget, "other:time<=+3%", &problem));
    for (int turn = 0; turn < 4; turn++) { /* other bytes; the same; of other calls; on another kernel */
        json_auto_t *then = day_of(0, true), *now = day_of(0, true), *slow = result_with(8, 500);
        json_t *workload = json_array_get(json_object_get(now, "workloads"), 0);
        json_t *other = json_array_get(json_object_get(workload, "candidates"), 1);
        json_t *slower = json_array_get(json_object_get(slow, "workloads"), 0);
        json_object_set(other, "runs",
                        json_object_get(json_array_get(json_object_get(slower, "candidates"), 0), "runs"));
        json_object_set_new(json_object_get(other, "build"), "digest", json_string(turn > 0 ? "old" : "new"));
        json_object_set_new(workload, "digest", json_string(turn == 2 ? "e" : "d"));
        json_object_set_new(now, "machine", json_pack("{s:s}", "kernel", turn == 3 ? "7" : "6"));
        json_object_set_new(then, "machine", json_pack("{s:s}", "kernel", "6"));
        BESIDE check;
        CHECK(res_check_run(typed_judged(now), typed_judged(then), &budget, &check, &problem));
        CHECK(check.findings[0].outcome == (turn == 1 ? RES_WITHIN : RES_OVER));
        OWNED_TEXT *text;
        BESIDE comparison = compare(then, now, &text);
        CHECK((strstr(text, "slower") == NULL) == (turn == 1));
        CHECK((strstr(text, "  same bytes\n") != NULL && strstr(text, "Same bytes: ") != NULL) ==
              (turn == 1));
    }
}

/* A fault more of many thousands reads +0.0 %, and is no verdict; a hundredth is one. */
TEST(what_does_not_show_is_no_difference)
{
    static const int FAULTS[] = {8072, 8152};
    for (size_t turn = 0; turn < 2; turn++) {
        json_auto_t *then = result_with(8, 0), *now = result_with(8, 0);
        json_t *const days[] = {then, now};
        for (size_t day = 0; day < 2; day++) {
            size_t index;
            json_t *run;
            json_array_foreach(json_at(days[day], "workloads.0.candidates.0.runs"), index, run)
            {
                json_object_set_new(run, "faults_minor", json_integer(day > 0 ? FAULTS[turn] : 8071));
            }
        }
        OWNED_TEXT *text;
        BESIDE comparison = compare(then, now, &text);
        const struct res_finding *faults = &comparison.findings[comparison.finding_count - 1];
        CHECK_STR(faults->metric, "faults");
        CHECK_STR(faults->word, turn > 0 ? "more" : "same");
    }
}

/* The baseline is another build: the other, which is the same, is the bridge. */
TEST(what_is_the_same_in_both_bridges_a_baseline_that_is_not)
{
    json_t *days[] = {day_of(0, true), day_of(1000, true)};
    for (size_t i = 0; i < 2; i++) {
        json_object_set_new(days[i], "baseline", json_string("other"));
        OWNED_TEXT *text;
        BESIDE comparison = compare(days[0], days[i], &text);
        const struct res_finding *finding = &comparison.findings[0];
        CHECK(finding->is_yardstick == (i == 1)); /* day 0 beside itself: the baseline is the bridge */
        CHECK_STR(finding->candidate, "base");
    }
    json_decref(days[0]);
    json_decref(days[1]);
}

TEST(ratios_to_nothing_are_no_figures)
{
    double zeros[8] = {0}, ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, negative[8] = {-1, 1, 1, 1, 1, 1, 1, 1};
    const struct res_series none = series_of(zeros, 8, false), one = series_of(ones, 8, false);
    const struct res_series below = series_of(negative, 8, false), empty = {0};
    const struct res_logarithm same = res_series_logarithm(&none, &none);
    CHECK(same.value == 0 && same.error == 0);
    CHECK(isnan(res_series_logarithm(&one, &none).value));
    CHECK(isnan(res_series_logarithm(&below, &one).value));
    CHECK(isnan(res_series_logarithm(&empty, &one).value));
    CHECK(!isfinite(res_logarithm_estimate(res_series_across(&one, &none)).value));
    CHECK(isnan(res_series_across(&one, &empty).value));
    CHECK(isnan(res_series_logarithm(&empty, NULL).value));
    CHECK(res_series_across(&none, &none).value == 0);
    /* Nothing where the other has something is surely less, and at most nothing. */
    const struct res_logarithm nothing = res_series_logarithm(&none, &one);
    CHECK(res_logarithm_estimate(nothing).value == 0 && res_logarithm_estimate(nothing).interval.high == 0);
    CHECK(res_logarithm_tails(nothing, 0.5).below == 0 && res_logarithm_tails(nothing, 0).above == 1);
}

TEST(noise_counts_in_both_directions)
{
    const struct res_interval aa = {1.01, 1.04}, none = {NAN, NAN};
    CHECK(fabs(res_noise(&aa).low - 1 / 1.04) < 1e-12 && fabs(res_noise(&aa).high - 1.04) < 1e-12);
    CHECK(res_noise(&none).low == 1 && res_noise(&none).high == 1);
}

/* Twelve rounds, the first of `least` ns, each `more` slower than the one before. */
static json_t *entry_of(const char *name, double least, double more)
{
    json_t *runs = json_array();
    for (size_t i = 0; i < 12; i++)
        json_array_append_new(runs, json_pack("{s:f}", "ns_per_op", least + more * (double)i));
    return json_pack("{s:s, s:o, s:{}, s:{}}", "name", name, "runs", runs, "time", "resident");
}

/* The outcomes of `time<=+3%` where so many candidates show some +4 %, and one shows it in all rounds. */
static void check_many(size_t candidates, size_t *ret_over, char **ret_reason)
{
    OWNED(res_budget) budget = {0};
    struct res_beside check;
    char *problem = NULL;
    json_t *list = json_pack("[o, o]", entry_of("base", 100, 0), entry_of("sure", 104, 0));
    for (size_t i = 0; i < candidates; i++)
        json_array_append_new(list, entry_of((char[]){(char)('a' + (int)i), 0}, 103.45, 0.3));
    json_auto_t *result = json_pack("{s:s, s:i, s:[{s:s, s:o, s:o, s:n}]}", "baseline", "base", "seed", 1,
                                    "workloads", "name", "w", "candidates", list, "control",
                                    entry_of("base", 100, 0), "floor");
    CHECK(res_budget_add_text(&budget, "time<=+3%", &problem));
    CHECK(res_check_run(typed(result), NULL, &budget, &check, &problem));
    *ret_over = check.counts[RES_OVER];
    *ret_reason = res_strdup(check.findings[check.finding_count - 1].reason);
    res_described_release(&RES_BESIDE, &check);
}

/* p = 0.02 is enough for two at once (the other one's is 0), not for three. */
TEST(many_findings_are_asked_for_more)
{
    size_t over;
    char *reason;
    check_many(1, &over, &reason);
    CHECK_U64(over, 2);
    CHECK_STR(reason, "");
    free(reason);
    check_many(3, &over, &reason);
    CHECK_U64(over, 1);
    CHECK_STR(reason,
              "over by itself, but one of 4 findings may be by chance (p 0.02, for all together 0.06): more "
              "rounds decide");
    free(reason);
}

/* By hand: errors 3 and 4 with 4 and 9 degrees of freedom: 5, and 625 / (81 / 4 + 256 / 9). */
TEST(freedom_is_welchs)
{
    const struct res_logarithm difference = res_logarithms_difference((struct res_logarithm){2, 3, 4},
                                                                      (struct res_logarithm){1, 4, 9});
    CHECK(difference.value == 1 && difference.error == 5);
    CHECK(fabs(difference.freedom - 625 / (81 / 4.0 + 256 / 9.0)) < 1e-9);
    const struct res_logarithm none = {NAN, NAN, 0};
    CHECK(isnan(res_logarithm_estimate(none).value) && res_logarithm_tails(none, 1).above == 1);
}
