/* test_results_sessions.c - a candidate in two experiments: the machine's shift is taken out, a change of its own is not, and what cannot be told is not
 * claimed. Samples without noise but a jitter of a thousandth, so that every figure is known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/base/random.h"
#include "results/measure/statistics/statistics.h"
#include "results/report/beside/beside.h"
#include "unit/harness.h"

#define ROUNDS  10u
#define BATCHES 8u
#define FLOOR   10000.0 /* ns of a batch */

/* The net time is `net` times the floor's first one; all of it on a machine that is slower by a factor. */
static struct res_series series_of(double net, double slower, struct res_random *random)
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
    struct res_session session = {.own = series_of(candidate, slower, random),
                                  .baseline = series_of(10, slower, random),
                                  .control = series_of(10, slower, random),
                                  .controlled = series_of(10, slower, random),
                                  .harness = series_of(0, floor_slower, random)};
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
