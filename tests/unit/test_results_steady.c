/* test_results_steady.c - steady times and their intervals of known samples; when rounds are enough; drift. */
#include <math.h>
#include <stdlib.h>

#include "results/measure/base/random.h"
#include "results/measure/experiment/until.h"
#include "results/measure/figures/entry_figures.h"
#include "results/measure/statistics/steady.h"
#include "unit/harness.h"

#define NEAR(actual, expected) (fabs((actual) - (expected)) < 1e-9)

enum { ROUNDS = 8, BATCHES = 40 };

struct table {
    uint64_t ns[ROUNDS][BATCHES];
    const uint64_t *rows[ROUNDS];
};

static struct res_batches batches_of(struct table *table)
{
    for (size_t i = 0; i < ROUNDS; i++)
        table->rows[i] = table->ns[i];
    return (struct res_batches){.rounds = table->rows, .round_count = ROUNDS, .batch_count = BATCHES};
}

/* Every batch takes 1000 ns times `effect`, and a half more or five times as long in three rounds of eight. */
static struct res_batches disturbed(struct table *table, double effect, uint64_t seed)
{
    struct res_random random = res_random_from(seed);
    for (size_t batch = 0; batch < BATCHES; batch++) {
        for (size_t round = 0; round < ROUNDS; round++) {
            const uint64_t luck = res_random_below(&random, 8);
            const double factor = luck == 0 ? 5 : luck < 3 ? 1.5 : 1 + 0.001 * (double)luck;
            table->ns[round][batch] = (uint64_t)(1e6 * effect * factor);
        }
    }
    return batches_of(table);
}

TEST(steady_is_the_mean_of_the_fastest_quarter_of_each_batch)
{
    struct table table = {0};
    struct res_batches batches = batches_of(&table);
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t batch = 0; batch < 2; batch++)
            table.ns[round][batch] = batch == 0 ? 10 * (round + 1) : 5 + 100 * (round > 2);
    batches.batch_count = 2;
    CHECK(NEAR(res_steady_ns(&batches), 15 + 5)); /* (10 + 20) / 2, and 5 */
    batches.round_count = 5;                      /* a quarter: one and a quarter of a round */
    CHECK(NEAR(res_steady_ns(&batches), (10 + 0.25 * 20) / 1.25 + 5));
    batches.round_count = 1;
    CHECK(NEAR(res_steady_ns(&batches), 10 + 5));
    batches.batch_count = 0;
    CHECK(res_steady_ns(&batches) == 0);
}

TEST(what_disturbs_single_batches_is_left_out)
{
    struct table one, two;
    const struct res_batches base = disturbed(&one, 1, 1), other = disturbed(&two, 1.1, 2);
    const struct res_estimate ratio = res_steady_paired(&other, &base, 0, 3);
    CHECK(fabs(ratio.value - 1.1) < 0.02);
    CHECK(ratio.interval.low < 1.1 && ratio.interval.high > 1.1 && ratio.interval.low > 1);
    const struct res_estimate again = res_steady_paired(&other, &base, 0, 3);
    CHECK(again.interval.low == ratio.interval.low && again.interval.high == ratio.interval.high);
    const struct res_estimate unpaired = res_steady_unpaired(&other, 0, &base, 0, 3);
    CHECK(unpaired.value == ratio.value && unpaired.interval.high > unpaired.interval.low);
}

TEST(the_floor_is_subtracted_of_both_sides)
{
    struct table one = {0}, two = {0};
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t batch = 0; batch < BATCHES; batch++) {
            one.ns[round][batch] = 30;
            two.ns[round][batch] = 50;
        }
    const struct res_batches base = batches_of(&one), other = batches_of(&two);
    const struct res_estimate ratio = res_steady_paired(&other, &base, 10 * BATCHES, 1);
    CHECK(NEAR(ratio.value, 2) && NEAR(ratio.interval.low, 2) && NEAR(ratio.interval.high, 2));
    CHECK(
        isnan(res_steady_paired(&other, &base, 30 * BATCHES, 1).value)); /* nothing is left of the baseline */
}

TEST(what_is_not_of_the_same_batches_is_not_compared)
{
    struct table one, two;
    const struct res_batches base = disturbed(&one, 1, 1);
    struct res_batches other = disturbed(&two, 1, 2);
    other.batch_count--;
    CHECK(isnan(res_steady_paired(&other, &base, 0, 1).value));
    CHECK(isnan(res_steady_unpaired(&other, 0, &base, 0, 1).interval.low));
    other.round_count = 0;
    CHECK(isnan(res_steady_paired(&other, &base, 0, 1).value));
}

/* More cells than RES_STEADY_CELLS: neighbours are put together, and nothing is lost of the sum. */
TEST(many_batches_are_put_together)
{
    const size_t count = RES_STEADY_CELLS / 2 + 7;
    uint64_t *times = malloc(count * sizeof *times);
    for (size_t i = 0; i < count; i++)
        times[i] = i % 10;
    const uint64_t *rows[4] = {times, times, times, times};
    const struct res_batches batches = {.rounds = rows, .round_count = 4, .batch_count = count};
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)times[i];
    CHECK(fabs(res_steady_ns(&batches) - sum) < 1e-3);
    free(times);
}

TEST(few_rounds_widen_an_interval)
{
    double resamples[2001];
    for (size_t i = 0; i < 2001; i++)
        resamples[i] = (double)i;
    /* By hand for 8: t(7) 2.365 times the root of 8/7 is 2.528; the normal distribution has 0.57 % below that. */
    const struct res_interval eight = res_expanded_interval(resamples, 2001, 8);
    CHECK(fabs(eight.low - 11.5) < 0.3 && fabs(eight.high - 1988.5) < 0.3);
    const struct res_interval many = res_expanded_interval(resamples, 2001, 100000);
    CHECK(fabs(many.low - 50) < 0.1 && fabs(many.high - 1950) < 0.1);
    CHECK(res_expanded_interval(resamples, 2001, 1).low == 1000);
    CHECK(fabs(res_student_quantile(100) - 1.98397) < 3e-4);
    CHECK(fabs(res_student_quantile(31) - 2.03951) < 3e-4);
}

/* ---- when rounds are enough ----------------------------------------------------------------- */

/* A trial of a baseline, a candidate and the control, whose runs have two batches that stray by `spread` over the rounds. */
static void trial_of(double spread, unsigned rounds, struct res_run *runs, uint64_t *ns,
                     struct res_entry *entries, struct res_trial *ret_trial)
{
    struct res_random random = res_random_from(9);
    *ret_trial = (struct res_trial){
        .entries = entries, .entry_count = 3, .candidate_count = 2, .rounds = rounds};
    for (size_t i = 0; i < 3; i++) {
        entries[i] = (struct res_entry){.is_control = i == 2, .runs = &runs[i * rounds], .run_count = rounds};
        for (size_t round = 0; round < rounds; round++) {
            uint64_t *batches = &ns[2 * (i * rounds + round)];
            for (size_t batch = 0; batch < 2; batch++)
                batches[batch] = (uint64_t)(1e6 *
                                            (1 + spread * (double)res_random_below(&random, 1000) / 1000));
            entries[i].runs[round] = (struct res_run){.ops = 1000,
                                                      .batch_count = 2,
                                                      .batch_ns = batches,
                                                      .ns_per_op = (double)(batches[0] + batches[1]) / 1000};
        }
    }
}

static const char *ended(double spread, unsigned rounds, const struct res_options *options, uint64_t share_ns,
                         uint64_t elapsed_ns)
{
    struct res_run runs[3 * 40] = {0};
    uint64_t ns[2 * 3 * 40];
    struct res_entry entries[3];
    struct res_trial trial;
    trial_of(spread, rounds, runs, ns, entries, &trial);
    return res_until_ended(&trial, options, share_ns, elapsed_ns) ? res_ended_name(trial.ended) : "on";
}

TEST(rounds_end_for_width_time_or_number)
{
    const struct res_options plain = {.rounds = 10}, until = {.rounds = 40, .until = 0.02},
                             timed = {.rounds = 40};
    CHECK_STR(ended(0.5, 9, &plain, 0, 0), "on");
    CHECK_STR(ended(0.5, 10, &plain, 0, 0), "rounds");
    CHECK_STR(ended(0, 15, &until, 0, 0), "on"); /* narrow, but fewer than 16 */
    CHECK_STR(ended(0, 16, &until, 0, 0), "until");
    CHECK_STR(ended(0.5, 16, &until, 0, 0), "on");
    CHECK_STR(ended(0.5, 40, &until, 0, 0), "rounds_max");
    CHECK_STR(ended(0.5, 8, &timed, 900, 700), "on");
    CHECK_STR(ended(0.5, 8, &timed, 900, 801), "time_budget"); /* a round takes 100: one more would not fit */
    CHECK_STR(ended(0.5, 7, &timed, 900, 5000), "on");         /* spent, but fewer than 8 */
    CHECK_STR(ended(0, 16, &until, 900, 899), "until");
    const struct res_options free = {.rounds = 40, .until = 0.02, .rounds_long = 20};
    CHECK_STR(ended(0.5, 19, &free, 0, RES_UNTIL_LONG_NS + 1), "on");
    CHECK_STR(ended(0.5, 20, &free, 0, RES_UNTIL_LONG_NS + 1), "rounds_max");
    CHECK_STR(ended(0.5, 39, &free, 0, RES_UNTIL_LONG_NS), "on");
    CHECK_STR(ended(0.5, 40, &free, 0, 0), "rounds_max");
    CHECK_STR(ended(0, 17, &until, 0, 0), "on"); /* looked at with 16 and 18 */
    CHECK_STR(ended(0, 18, &until, 0, 0), "until");
}

/* ---- drift ---------------------------------------------------------------------------------- */

TEST(drift_is_told_when_it_is_more_than_chance)
{
    double rising[20], level[20];
    for (size_t i = 0; i < 20; i++) {
        rising[i] = 0.01 * (double)i + 0.005 * (double)(i % 3);
        level[i] = 0.01 * (double)(i * 7 % 5);
    }
    CHECK(res_drift_of(rising, 20).significant && fabs(res_drift_of(rising, 20).share - 0.19) < 0.02);
    CHECK(!res_drift_of(level, 20).significant);
    CHECK(isnan(res_drift_of(rising, 3).share));
}

RUN_TESTS(T(steady_is_the_mean_of_the_fastest_quarter_of_each_batch),
          T(what_disturbs_single_batches_is_left_out), T(the_floor_is_subtracted_of_both_sides),
          T(what_is_not_of_the_same_batches_is_not_compared), T(many_batches_are_put_together),
          T(few_rounds_widen_an_interval), T(rounds_end_for_width_time_or_number),
          T(drift_is_told_when_it_is_more_than_chance))
