/* test_results_steady.c - steady times and their intervals of known samples; when rounds are enough. */
#include <math.h>

#include "results/measure/base/random.h"
#include "results/measure/experiment/experiment.h"
#include "results/measure/figures/figures.h"
#include "results/measure/statistics/statistics.h"
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

TEST(steady_is_the_mean_of_the_fastest_part_of_each_batch)
{
    struct table table = {0};
    struct res_batches batches = batches_of(&table);
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t batch = 0; batch < 2; batch++)
            table.ns[round][batch] = batch == 0 ? 10 * (round + 1) : 5 + 100 * (round > 3);
    batches.batch_count = 2;
    CHECK(NEAR(res_steady_net_ns(&batches, NULL), 15 + 5)); /* a quarter: (10 + 20) / 2, and 5 */
    batches.round_count = 5;                                /* one and a quarter of a round */
    CHECK(NEAR(res_steady_net_ns(&batches, NULL), (10 + 0.25 * 20) / 1.25 + 5));
    batches.round_count = 1;
    CHECK(NEAR(res_steady_net_ns(&batches, NULL), 10 + 5));
    const uint64_t *rows[16];
    for (size_t round = 0; round < 16; round++)
        rows[round] = table.ns[round % ROUNDS];
    const struct res_batches many = {.rounds = rows, .round_count = 16, .batch_count = 2};
    CHECK(NEAR(res_steady_net_ns(&many, NULL), 15 + 5)); /* a quarter of 16: (10 + 10 + 20 + 20) / 4 */
    const struct res_batches floor = {.rounds = rows, .round_count = 1, .batch_count = 2};
    CHECK(NEAR(res_steady_net_ns(&many, &floor), 5));
    CHECK(isnan(res_steady_net_ns(&floor, &many)));
}

static struct res_estimate compared(const struct res_batches *other, const struct res_batches *base,
                                    const struct res_batches *control, const struct res_batches *floor)
{
    const struct res_steady_sides sides = {other, base, control, floor};
    return res_logarithm_estimate(res_steady_logarithm(&sides));
}

TEST(what_disturbs_single_batches_is_left_out)
{
    struct table one, two, three;
    const struct res_batches base = disturbed(&one, 1, 1), other = disturbed(&two, 1.1, 2),
                             control = disturbed(&three, 1, 3);
    const struct res_estimate ratio = compared(&other, &base, NULL, NULL);
    CHECK(fabs(ratio.value - 1.1) < 0.02);
    CHECK(ratio.interval.low < 1.1 && ratio.interval.high > 1.1 && ratio.interval.low > 1);
    CHECK(ratio.p_value < 0.001);
    const struct res_estimate both = compared(&other, &base, &control, NULL);
    CHECK(both.interval.low < 1.1 && both.interval.high > 1.1);
    /* the baseline's own error goes into the ratio by half */
    CHECK(NEAR(log(both.value), (log(ratio.value) + log(compared(&other, &control, NULL, NULL).value)) / 2));
}

/* Rounds slow both sides alike: their ratio is as sure as if they had not. */
TEST(what_a_round_does_to_both_goes_out)
{
    struct table tables[2] = {0};
    struct res_random random = res_random_from(3);
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t batch = 0; batch < BATCHES; batch++)
            for (size_t side = 0; side < 2; side++)
                tables[side].ns[round][batch] = (1000000 + res_random_below(&random, 1000)) * (1 + round % 3);
    const struct res_batches base = batches_of(&tables[0]), other = batches_of(&tables[1]);
    const struct res_estimate ratio = compared(&other, &base, NULL, NULL);
    CHECK(fabs(ratio.value - 1) < 0.001 && ratio.interval.high - ratio.interval.low < 0.002);
}

TEST(the_floor_is_subtracted_of_both_sides)
{
    struct table tables[3] = {0};
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t batch = 0; batch < BATCHES; batch++)
            for (size_t side = 0; side < 3; side++)
                tables[side].ns[round][batch] = side == 0 ? 30 : side == 1 ? 50 : 10;
    const struct res_batches base = batches_of(&tables[0]), other = batches_of(&tables[1]),
                             floor = batches_of(&tables[2]);
    const struct res_estimate ratio = compared(&other, &base, NULL, &floor);
    CHECK(NEAR(ratio.value, 2) && NEAR(ratio.interval.low, 2) && NEAR(ratio.interval.high, 2));
    CHECK(isnan(compared(&other, &base, NULL, &base).value)); /* nothing is left of the baseline */
}

TEST(what_is_not_of_the_same_batches_is_not_compared)
{
    struct table one, two;
    const struct res_batches base = disturbed(&one, 1, 1);
    struct res_batches other = disturbed(&two, 1, 2);
    other.batch_count--;
    CHECK(isnan(compared(&other, &base, NULL, NULL).value));
    CHECK(isfinite(compared(&other, NULL, NULL, NULL).value)); /* its own time */
    other.round_count = 0;
    CHECK(isnan(compared(&other, &base, NULL, NULL).interval.low));
}

TEST(quantiles_of_student)
{
    CHECK(fabs(res_student_quantile(100) - 1.98397) < 3e-4);
    CHECK(fabs(res_student_quantile(31) - 2.03951) < 3e-4);
}

/* ---- when rounds are enough ----------------------------------------------------------------- */

/* A trial of a baseline, a candidate and the control, whose runs have two batches that stray by `spread` over the rounds. */
static void trial_of(double spread, unsigned rounds, struct res_run *runs, uint64_t *ns,
                     struct res_result_workload *told, struct res_trial *ret_trial)
{
    static struct res_result_entry candidates[2];
    struct res_random random = res_random_from(9);
    *ret_trial = (struct res_trial){.told = told};
    *told = (struct res_result_workload){.candidates = candidates, .candidate_count = 2, .rounds = rounds};
    for (size_t i = 0; i < 3; i++) {
        struct res_result_entry *entry = i < 2 ? &candidates[i] : &told->control;
        *entry = (struct res_result_entry){.runs = &runs[i * rounds], .run_count = rounds};
        for (size_t round = 0; round < rounds; round++) {
            uint64_t *batches = &ns[2 * (i * rounds + round)];
            for (size_t batch = 0; batch < 2; batch++)
                batches[batch] = (uint64_t)(1e6 *
                                            (1 + spread * (double)res_random_below(&random, 1000) / 1000));
            entry->runs[round] = (struct res_run){.ops = 1000,
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
    struct res_result_workload told;
    struct res_trial trial;
    trial_of(spread, rounds, runs, ns, &told, &trial);
    return res_until_ended(&trial, options, share_ns, elapsed_ns, 100) ? RES_ENDED[told.stopped_by] : "on";
}

TEST(rounds_end_for_width_time_or_number)
{
    const struct res_options plain = {.rounds = 10}, until = {.rounds = 40, .until = 0.02},
                             timed = {.rounds = 40}, bound = {.rounds = 40, .rounds_least = 1};
    CHECK_STR(ended(0.5, 9, &plain, 0, 0), "on");
    CHECK_STR(ended(0.5, 10, &plain, 0, 0), "rounds");
    CHECK_STR(ended(0, 15, &until, 0, 0), "on"); /* narrow, but fewer than 16 */
    CHECK_STR(ended(0, 16, &until, 0, 0), "until");
    CHECK_STR(ended(0.5, 16, &until, 0, 0), "on");
    CHECK_STR(ended(0.5, 40, &until, 0, 0), "rounds_max");
    CHECK_STR(ended(0.5, 8, &timed, 900, 700), "on");
    CHECK_STR(ended(0.5, 8, &timed, 900, 801), "time_budget"); /* a round takes 100: one more would not fit */
    CHECK_STR(ended(0.5, 7, &timed, 900, 5000), "on");         /* spent, but fewer than 8 */
    CHECK_STR(ended(0.5, 1, &bound, 900, 5000), "time_budget");
    CHECK_STR(ended(0.5, 3, &bound, 900, 800), "on");
    CHECK_STR(ended(0, 16, &until, 900, 899), "until");
    CHECK_STR(ended(0, 17, &until, 0, 0), "on"); /* looked at with 16 and 18 */
    CHECK_STR(ended(0, 18, &until, 0, 0), "until");
}

static enum res_need needs(void *context, struct res_result_workload *workload)
{
    unsigned *looks = context;
    return ++*looks == 2 ? RES_NEED_NOTHING : workload->rounds == 16 ? RES_NEED_PASSES : RES_NEED_ROUNDS;
}

TEST(rounds_end_when_all_is_decided)
{
    unsigned looks = 0;
    const struct res_options options = {.rounds = 40, .until = 0.02, .decided = needs, .context = &looks};
    struct res_run runs[3 * 40] = {0};
    uint64_t ns[2 * 3 * 40];
    struct res_result_workload told;
    struct res_trial trial;
    trial_of(0, 15, runs, ns, &told, &trial);
    CHECK(!res_until_ended(&trial, &options, 0, 0, 0) && looks == 0); /* narrow, but fewer than 16 */
    trial_of(0, 16, runs, ns, &told, &trial);
    CHECK(!res_until_ended(&trial, &options, 0, 0, 0) && looks == 1 && trial.need == RES_NEED_PASSES);
    trial_of(0.5, 18, runs, ns, &told, &trial);
    CHECK(res_until_ended(&trial, &options, 0, 0, 0) && looks == 2); /* wide, and decided */
    CHECK_STR(RES_ENDED[told.stopped_by], "decided");
}

/* A machine that is fast for a quarter of the time, as it was met: 16 rounds of two equals, in which one had no fast one. */
TEST(what_chance_makes_large_ends_nothing)
{
    static const uint8_t fast[3][16] = {
        [0] = {[3] = 1, [4] = 1, [6] = 1, [11] = 1, [15] = 1}, [2] = {[2] = 1, [3] = 1, [6] = 1, [14] = 1}};
    const struct res_options options = {.rounds = 40, .until = 0.02};
    struct res_run runs[3 * 16] = {0};
    uint64_t ns[2 * 3 * 16];
    struct res_result_workload told;
    struct res_trial trial;
    trial_of(0.3, 16, runs, ns, &told, &trial);
    for (size_t i = 0; i < 3 * 16; i++)
        for (size_t batch = 0; batch < 2; batch++)
            if (fast[i / 16][i % 16])
                ns[2 * i + batch] = ns[2 * i + batch] * 3 / 4;
    res_workload_judge(&told);
    CHECK(told.candidates[1].figures.time.interval.low > 1.05);
    CHECK(!res_until_ended(&trial, &options, 0, 0, 0));
    for (size_t i = 2 * 16; i < 2 * 2 * 16; i++) /* the candidate: really slower */
        ns[i] *= 2;
    CHECK(res_until_ended(&trial, &options, 0, 0, 0));
}

static void plans(const struct res_options *options, uint64_t share_ns, unsigned least, double least_ns,
                  double most_ns)
{
    const struct res_until_plan plan = res_until_plan(options, share_ns, 10);
    CHECK_U64(plan.least, least);
    CHECK(plan.least_ns == least_ns && plan.most_ns == most_ns);
}

TEST(rounds_are_foretold)
{
    const struct res_options plain = {.rounds = 10}, until = {.rounds = 40, .until = 0.02},
                             timed = {.rounds = 1000}, bound = {.rounds = 1000, .rounds_least = 1};
    plans(&plain, 0, 10, 100, 100);
    plans(&until, 0, 16, 160, 400);
    plans(&until, 305, 16, 160, 300);
    plans(&until, 125, 12, 120, 120);
    plans(&timed, 305, 8, 80, 300);
    plans(&timed, 35, 8, 80, 80); /* a verdict takes them */
    plans(&bound, 35, 1, 10, 30);
}
