/* test_results_check.c - outcomes against limits of known samples, and estimates whose truth is known; a candidate in two experiments: the machine's
 * shift is taken out, a change of its own is not. Samples without noise but a jitter of a thousandth, so that every figure is known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/base/random.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/beside/beside.h"
#include "unit/harness.h"
#include "unit/typed.h"

static const struct res_interval QUIET = {1, 1}, NOISY = {0.96, 1.04};

static const char *judged(double low, double value, double high, double limit, struct res_interval noise)
{
    const char *why = NULL;
    const struct res_estimate estimate = {.value = value, .interval = {low, high}};
    return res_outcome_name(res_judge_limit(&estimate, limit, noise, (struct res_tails){0, 0}, &why));
}

TEST(limits_judge_the_whole_interval)
{
    CHECK_STR(judged(1.00, 1.01, 1.02, 1.03, QUIET), "within");
    CHECK_STR(judged(1.00, 1.02, 1.03, 1.03, QUIET), "within"); /* at most: the limit itself is allowed */
    CHECK_STR(judged(1.02, 1.03, 1.04, 1.03, QUIET), "inconclusive");
    CHECK_STR(judged(1.035, 1.04, 1.05, 1.03, QUIET), "over");
    CHECK_STR(judged(1, 1, 1, 1, QUIET), "within");
    CHECK_STR(judged(0, 0, 0, 0, QUIET), "within");
    CHECK_STR(judged(1, 1, 1, 0, QUIET), "over");
    CHECK_STR(judged(NAN, NAN, NAN, 1.03, QUIET), "inconclusive");
}

TEST(noise_makes_what_is_near_the_limit_inconclusive)
{
    CHECK_STR(judged(1.00, 1.01, 1.02, 1.03, NOISY), "inconclusive");
    CHECK_STR(judged(1.05, 1.06, 1.07, 1.03, NOISY), "inconclusive");
    CHECK_STR(judged(1.08, 1.09, 1.10, 1.03, NOISY), "over");
    CHECK_STR(judged(0.90, 0.91, 0.92, 1.03, NOISY), "within");
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
    const struct res_estimate paired = res_logarithm_estimate(res_series_logarithm(&one, &two));
    const struct res_estimate unpaired = res_logarithm_estimate(res_series_across(&one, &two));
    CHECK(paired.interval.low >= 1.05 && paired.interval.high <= 1.052);
    CHECK(unpaired.interval.low < 1 && unpaired.interval.high > 1.1);
}

TEST(few_passes_have_students_interval)
{
    /* By hand: logarithms ln 1.00, ln 1.02, ln 1.04: their mean 0.0196743, standard error 0.0113231, t(2) 4.303. */
    double ratios[] = {1.00, 1.02, 1.04}, ones[] = {1, 1, 1};
    const struct res_series one = series_of(ratios, 3, true), two = series_of(ones, 3, true);
    const struct res_estimate estimate = res_logarithm_estimate(res_series_logarithm(&one, &two));
    CHECK(fabs(log(estimate.value) - 0.0196743) < 1e-6);
    CHECK(fabs(log(estimate.interval.high) - 0.0196743 - 4.303 * 0.0113231) < 1e-4);
    CHECK_U64(res_series_rounds_needed(&one), 3);
}

/* Two batches, four runs; one run of each side was disturbed as a whole, in different rounds. */
static json_t *entry_with_batches(const char *name, int first, int second, size_t disturbed, size_t batches)
{
    json_t *runs = json_array();
    for (size_t i = 0; i < 4; i++) {
        const int factor = i == disturbed ? 5 : 1;
        json_t *times = json_pack("[i, i]", first * factor, second * factor);
        if (i == 3 && batches < 2)
            json_array_remove(times, 1);
        json_array_append_new(
            runs, json_pack("{s:f, s:o}", "ns_per_op", (first + second) * factor / 10.0, "batch_ns", times));
    }
    return json_pack("{s:s, s:o}", "name", name, "runs", runs);
}

TEST(time_is_compared_by_its_steady_batches)
{
    json_t *json = json_pack("{s:o, s:[o, o, o]}", "floor", entry_with_batches("none", 10, 10, 2, 2),
                             "candidates", entry_with_batches("base", 110, 110, 0, 2),
                             entry_with_batches("other", 160, 160, 1, 2),
                             entry_with_batches("cut", 160, 160, 1, 1));
    const struct res_result_workload *workload = typed_workload(json, "base");
    const struct res_result_entry *entries = workload->candidates;
    struct res_series base = res_series_of(workload, &entries[0], RES_METRIC_TIME);
    struct res_series other = res_series_of(workload, &entries[1], RES_METRIC_TIME);
    struct res_series cut = res_series_of(workload, &entries[2], RES_METRIC_TIME);
    CHECK(base.time.batches.batch_count == 2 && base.floor.batches.batch_count == 2);
    CHECK(fabs(exp(res_series_logarithm(&other, &base).value) - 1.5) < 1e-9);
    CHECK(fabs(exp(res_series_across(&other, &base).value) - 1.5) < 1e-9);
    CHECK(cut.time.batches.batch_count == 1 &&
          cut.count == 4); /* a run lacks a batch: whole runs are its batches */
    res_series_release(&base);
    res_series_release(&other);
    res_series_release(&cut);
    json_decref(json);
}

static json_t *result_with(size_t rounds, int slower)
{
    json_t *workload = json_pack("{s:s, s:s, s:i, s:i, s:o, s:[o]}", "name", "w", "digest", "d", "ops", 110,
                                 "inherited_ops", 10, "floor", entry_with_batches("none", 100, 100, 2, 2),
                                 "candidates", entry_with_batches("base", 1100 + slower, 1100, 0, 2));
    json_t *runs = json_object_get(json_array_get(json_object_get(workload, "candidates"), 0), "runs");
    const json_t *first = json_array_get(runs, 1);
    while (json_array_size(runs) < rounds)
        json_array_append_new(runs, json_deep_copy(first));
    return json_pack("{s:s, s:i, s:[o]}", "baseline", "base", "seed", 1, "workloads", workload);
}

static void compare(json_t *then, json_t *now, struct res_beside *ret_comparison, char **ret_text)
{
    res_compare_run(typed_judged(then), typed_judged(now), ret_comparison);
    *ret_text = res_beside_document(ret_comparison, &(struct res_style){0});
}

TEST(what_an_older_result_lacks_is_no_zero)
{
    json_t *then = result_with(4, 0), *now = result_with(4, 0);
    struct res_beside comparison;
    char *text;
    for (int told = 0; told < 2; told++) {
        if (told)
            json_object_set_new(now, "memory_rounds_asked", json_integer(0));
        compare(then, now, &comparison, &text);
        CHECK((strstr(text, "memory_rounds_asked was not recorded, is 0") != NULL) == told);
        CHECK(strstr(text, "memory_idle_ms") == NULL);
        free(text);
        res_described_release(&RES_BESIDE, &comparison);
    }
    json_decref(then);
    json_decref(now);
}

TEST(the_change_is_of_the_figures_beside_it)
{
    for (size_t rounds = 4; rounds <= 6; rounds += 2) {
        json_t *then = result_with(rounds, 0), *now = result_with(rounds, 500);
        struct res_beside comparison;
        char *text;
        compare(then, now, &comparison, &text);
        const struct res_finding *time = &comparison.findings[0];
        CHECK_STR(time->metric, "time");
        CHECK(fabs(time->then - 20) < 1e-9); /* (2200 - 200) / 100 */
        CHECK(fabs(time->value - 25) < 1e-9);
        CHECK(fabs(time->estimate.value - 1.25) < 1e-9);
        CHECK(isnan(time->estimate.interval.low) == (rounds < RES_ROUNDS_FOR_INTERVAL));
        CHECK((strstr(text, "+25.0% ?") != NULL) == (rounds < RES_ROUNDS_FOR_INTERVAL));
        free(text);
        res_described_release(&RES_BESIDE, &comparison);
        json_decref(then);
        json_decref(now);
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
        struct res_beside comparison;
        char *text;
        compare(then, now, &comparison, &text);
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
        free(text);
        res_described_release(&RES_BESIDE, &comparison);
        json_decref(then);
        json_decref(now);
    }
}

/* `other` is a tenth slower than then: what has other bytes is over, what has the same the machine moved. */
TEST(the_same_bytes_are_within_whatever_the_machine_did)
{
    struct res_budget budget = {0};
    char *problem = NULL;
    CHECK(res_budget_add_text(&budget, "other:time<=+3%", &problem));
    for (int turn = 0; turn < 4; turn++) { /* other bytes; the same; of other calls; on another kernel */
        json_t *then = day_of(0, true), *now = day_of(0, true), *slow = result_with(8, 500);
        json_t *workload = json_array_get(json_object_get(now, "workloads"), 0);
        json_t *other = json_array_get(json_object_get(workload, "candidates"), 1);
        json_t *slower = json_array_get(json_object_get(slow, "workloads"), 0);
        json_object_set(other, "runs",
                        json_object_get(json_array_get(json_object_get(slower, "candidates"), 0), "runs"));
        json_object_set_new(json_object_get(other, "build"), "digest", json_string(turn > 0 ? "old" : "new"));
        json_object_set_new(workload, "digest", json_string(turn == 2 ? "e" : "d"));
        json_object_set_new(now, "machine", json_pack("{s:s}", "kernel", turn == 3 ? "7" : "6"));
        json_object_set_new(then, "machine", json_pack("{s:s}", "kernel", "6"));
        struct res_beside check;
        CHECK(res_check_run(typed_judged(now), typed_judged(then), &budget, &check, &problem));
        CHECK(check.findings[0].outcome == (turn == 1 ? RES_WITHIN : RES_OVER));
        struct res_beside comparison;
        char *text;
        compare(then, now, &comparison, &text);
        CHECK((strstr(text, "slower") == NULL) == (turn == 1));
        free(text);
        res_described_release(&RES_BESIDE, &comparison);
        res_described_release(&RES_BESIDE, &check);
        json_decref(then);
        json_decref(now);
        json_decref(slow);
    }
    res_budget_release(&budget);
}

/* The baseline is another build: the other, which is the same, is the bridge. */
TEST(what_is_the_same_in_both_bridges_a_baseline_that_is_not)
{
    json_t *days[] = {day_of(0, true), day_of(1000, true)};
    struct res_beside comparison;
    char *text;
    for (size_t i = 0; i < 2; i++) {
        json_object_set_new(days[i], "baseline", json_string("other"));
        compare(days[0], days[i], &comparison, &text);
        const struct res_finding *finding = &comparison.findings[0];
        CHECK(finding->is_yardstick == (i == 1)); /* day 0 beside itself: the baseline is the bridge */
        CHECK_STR(finding->candidate, "base");
        free(text);
        res_described_release(&RES_BESIDE, &comparison);
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
    struct res_budget budget = {0};
    struct res_beside check;
    char *problem = NULL;
    json_t *list = json_pack("[o, o]", entry_of("base", 100, 0), entry_of("sure", 104, 0));
    for (size_t i = 0; i < candidates; i++)
        json_array_append_new(list, entry_of((char[]){(char)('a' + (int)i), 0}, 103.45, 0.3));
    json_t *result = json_pack("{s:s, s:i, s:[{s:s, s:o, s:o, s:n}]}", "baseline", "base", "seed", 1,
                               "workloads", "name", "w", "candidates", list, "control",
                               entry_of("base", 100, 0), "floor");
    CHECK(res_budget_add_text(&budget, "time<=+3%", &problem));
    CHECK(res_check_run(typed(result), NULL, &budget, &check, &problem));
    *ret_over = check.counts[RES_OVER];
    *ret_reason = res_strdup(check.findings[check.finding_count - 1].reason);
    res_described_release(&RES_BESIDE, &check);
    res_budget_release(&budget);
    json_decref(result);
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

TEST(chance_at_the_limit_is_inconclusive)
{
    const struct res_estimate above = {.value = 1.05, .interval = {1.04, 1.06}};
    const struct res_estimate below = {.value = 1.01, .interval = {1.00, 1.02}};
    const char *why;
    CHECK_U64(res_judge_limit(&above, 1.03, QUIET, (struct res_tails){0.04, 1}, &why), RES_OVER);
    CHECK_U64(res_judge_limit(&above, 1.03, QUIET, (struct res_tails){0.06, 1}, &why), RES_INCONCLUSIVE);
    CHECK_STR(why, "the test at the limit does not exclude chance");
    CHECK_U64(res_judge_limit(&below, 1.03, QUIET, (struct res_tails){1, 0.04}, &why), RES_WITHIN);
    CHECK_U64(res_judge_limit(&below, 1.03, QUIET, (struct res_tails){1, 0.06}, &why), RES_INCONCLUSIVE);
}

#define ROUNDS  10u
#define BATCHES 8u
#define FLOOR   10000.0 /* ns of a batch */

/* The net time is `net` times the floor's first one; all of it on a machine that is slower by a factor. */
static struct res_series shifted_series(double net, double slower, struct res_random *random)
{
    struct res_series series = {
        .values = res_calloc(ROUNDS, sizeof *series.values), .count = ROUNDS, .ops = 1000};
    struct res_run runs[ROUNDS] = {0}, floor = {.batch_count = BATCHES};
    floor.batch_ns = res_calloc(BATCHES, sizeof *floor.batch_ns);
    for (size_t batch = 0; batch < BATCHES; batch++)
        floor.batch_ns[batch] = (uint64_t)(FLOOR * slower);
    for (size_t round = 0; round < ROUNDS; round++) {
        uint64_t *batches = res_calloc(BATCHES, sizeof *batches);
        runs[round] = (struct res_run){.batch_ns = batches, .batch_count = BATCHES};
        for (size_t batch = 0; batch < BATCHES; batch++) {
            const double jitter = 1 + (double)res_random_below(random, 1000) * 1e-6;
            batches[batch] = (uint64_t)(FLOOR * (1 + net) * slower * jitter);
            series.values[round] += (double)batches[batch] / series.ops;
        }
    }
    series.time = res_run_batches_of(runs, ROUNDS);
    series.floor = res_run_batches_of(&floor, 1);
    series.ns_per_op = net * slower;
    return series;
}

/* floor_slower: what the harness feels. */
static struct res_session session_of(double candidate, double slower, double floor_slower,
                                     struct res_random *random)
{
    struct res_session session = {.own = shifted_series(candidate, slower, random),
                                  .baseline = shifted_series(10, slower, random),
                                  .control = shifted_series(10, slower, random),
                                  .controlled = shifted_series(10, slower, random),
                                  .harness = shifted_series(0, floor_slower, random)};
    return session;
}

/* The batches are this test's. */
static void drop(struct res_series *series)
{
    for (size_t i = 0; i < series->time.batches.round_count; i++)
        free((void *)(uintptr_t)series->time.rounds[i]);
    for (size_t i = 0; i < series->floor.batches.round_count; i++)
        free((void *)(uintptr_t)series->floor.rounds[i]);
    res_series_release(series);
}

static void release(struct res_session *session)
{
    drop(&session->own);
    drop(&session->baseline);
    drop(&session->control);
    drop(&session->controlled);
    drop(&session->harness);
}

enum bridging { BASELINE, NOTHING };

static struct res_finding across_of(double change, double slower, double floor_slower, enum bridging by,
                                    double limit)
{
    struct res_random random = res_random_from(8);
    struct res_session then = session_of(8, 1, 1, &random);
    struct res_session now = session_of(8 * change, slower, floor_slower, &random);
    if (by != BASELINE)
        drop(&now.baseline);
    struct res_finding across = {.rule = {.metric = RES_METRIC_TIME, .limit = limit}, .bridge_ratio = NAN};
    res_across_sessions(&now, &then, &across);
    release(&then);
    release(&now);
    return across;
}

static const char *outcome_of(const struct res_finding *across, double limit)
{
    const char *why;
    return res_outcome_name(res_judge_limit(&across->estimate, limit, across->noise, across->tails, &why));
}

#define NEAR(one, other) (fabs((one) / (other)-1) < 0.005)

TEST(a_slower_machine_is_no_change)
{
    const struct res_finding same = across_of(1, 1.1, 1.1, BASELINE, 1.03);
    CHECK_U64(same.bridge, RES_BRIDGE_BASELINE);
    CHECK(NEAR(same.estimate.value, 1) && NEAR(same.bridge_ratio, 1.1));
    CHECK(!same.machine_moved && same.noise.high < 1.01);
    CHECK_U64(same.rounds, ROUNDS);
    CHECK_STR(outcome_of(&same, 1.03), "within");
}

TEST(a_change_of_its_own_is_found_on_a_slower_and_on_a_faster_machine)
{
    const double machines[] = {0.9, 1, 1.1};
    for (size_t i = 0; i < 3; i++) {
        const struct res_finding slower = across_of(1.05, machines[i], machines[i], BASELINE, 1.03);
        CHECK(NEAR(slower.estimate.value, 1.05));
        CHECK(slower.estimate.interval.low > 1.04 && slower.estimate.interval.high < 1.06);
        CHECK_STR(outcome_of(&slower, 1.03), "over");
    }
}

/* A baseline and a harness that moved differently: so may two allocators. */
TEST(an_uneven_machine_is_noise)
{
    const struct res_finding uneven = across_of(1.05, 1.1, 1, BASELINE, 1.03);
    CHECK(uneven.machine_moved && uneven.noise.high > 1.08);
    CHECK_STR(outcome_of(&uneven, 1.03), "inconclusive");
}

TEST(without_a_bridge_nothing_is_told)
{
    const struct res_finding none = across_of(1, 1.1, 1.1, NOTHING, 1.03);
    CHECK(none.bridge == RES_BRIDGE_NONE && isnan(none.bridge_ratio));
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
