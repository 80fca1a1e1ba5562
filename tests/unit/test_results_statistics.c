/* test_results_statistics.c - medians, quantiles, spreads, ratios of pairs and verdicts: known values, and simulated
 * experiments whose truth is known. */
#include <math.h>

#include "results/measure/base/random.h"
#include "results/measure/statistics/statistics.h"
#include "unit/harness.h"

TEST(quantiles_are_those_of_definition_7)
{
    /* R: quantile(c(9, 1, 4, 16), c(0, .25, .5, .9, 1)) gives 1 3.25 6.5 13.9 16. */
    const double samples[] = {9, 1, 4, 16};
    CHECK_NEAR(res_quantile(samples, 4, 0), 1, 0);
    CHECK_NEAR(res_quantile(samples, 4, 0.25), 3.25, 1e-12);
    CHECK_NEAR(res_quantile(samples, 4, 0.5), 6.5, 1e-12);
    CHECK_NEAR(res_quantile(samples, 4, 0.9), 13.9, 1e-12);
    CHECK_NEAR(res_quantile(samples, 4, 1), 16, 0);
    CHECK_NEAR(res_quantile(samples, 1, 0.3), 9, 0);
}

TEST(medians_and_spreads_of_known_samples)
{
    const double odd[] = {5, 1, 3};
    const double even[] = {4, 1, 3, 2};
    const double outlier[] = {10, 11, 12, 13, 1000};
    CHECK_NEAR(res_median(odd, 3), 3, 0);
    CHECK_NEAR(res_median(even, 4), 2.5, 0);
    CHECK_NEAR(res_median(outlier, 5), 12, 0);
}

TEST(samples_are_left_as_they_were)
{
    double samples[] = {3, 1, 2};
    (void)res_median(samples, 3);
    (void)res_trimmed_logarithm(samples, 3);
    CHECK_NEAR(samples[0], 3, 0);
    CHECK_NEAR(samples[1], 1, 0);
    CHECK_NEAR(samples[2], 2, 0);
}

TEST(shuffles_are_repeated_by_their_seed_and_favour_nobody)
{
    unsigned first_of[5] = {0};
    for (uint64_t seed = 0; seed < 5000; seed++) {
        struct res_random random = res_random_from(seed);
        struct res_random again = res_random_from(seed);
        size_t order[] = {0, 1, 2, 3, 4};
        size_t repeated[] = {0, 1, 2, 3, 4};
        unsigned seen = 0;
        res_shuffle(&random, order, 5);
        res_shuffle(&again, repeated, 5);
        CHECK(memcmp(order, repeated, sizeof order) == 0);
        for (size_t i = 0; i < 5; i++)
            seen |= 1u << order[i];
        CHECK_U64(seen, 31);
        first_of[order[0]]++;
    }
    for (size_t i = 0; i < 5; i++)
        CHECK(first_of[i] > 850 && first_of[i] < 1150); /* 1000 expected, sigma 28 */
}

TEST(random_numbers_are_splitmix64)
{
    /* The first outputs for seed 1234567 that the algorithm's reference implementations agree on. */
    struct res_random random = res_random_from(1234567);
    CHECK_U64(res_random_next(&random), UINT64_C(6457827717110365317));
    CHECK_U64(res_random_next(&random), UINT64_C(3203168211198807973));
    CHECK_U64(res_random_next(&random), UINT64_C(9817491932198370423));
}

/* ---- ratios of pairs and verdicts on simulated experiments ---------------------------------- */

/* Roughly normal with sigma 1: the sum of twelve uniform numbers. */
static double noise(struct res_random *random)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)(res_random_next(random) >> 11) * 0x1p-53;
    return sum;
}

static struct res_estimate pairs_of(const double *ratios, size_t count)
{
    return res_logarithm_estimate(res_trimmed_logarithm(ratios, count));
}

/* Of 1000: 50 are due, 73 come once in a thousand times. One in ten runs is disturbed. */
TEST(intervals_of_pairs_cover_the_truth)
{
    static const size_t counts[] = {3, 5, 10, 30};
    struct res_random random = res_random_from(7);
    for (size_t i = 0; i < 4; i++) {
        unsigned missed = 0;
        for (unsigned trial = 0; trial < 1000; trial++) {
            double ratios[30];
            for (size_t k = 0; k < counts[i]; k++)
                ratios[k] = exp(0.05 * noise(&random)) *
                            (res_random_below(&random, 10) > 0 ? 1 : exp(0.1 * noise(&random)));
            const struct res_interval interval = pairs_of(ratios, counts[i]).interval;
            missed += interval.low > 1 || interval.high < 1;
        }
        printf("of 1000 intervals of %zu ratios %u miss the truth\n", counts[i], missed);
        CHECK(missed <= 73);
    }
}

static enum res_verdict judged(double ratio, double low, double high, size_t rounds, double control_low,
                               double control_high)
{
    const struct res_comparison comparison = {
        .ratio = ratio,
        .interval = {low, high},
        .rounds = rounds,
        .has_control = control_low > 0,
        .control = {control_low, control_high},
    };
    return res_judge(&comparison);
}

TEST(verdicts_follow_their_rules)
{
    CHECK_U64(judged(0.8, 0.7, 0.9, 10, 0.99, 1.01), RES_LESS);
    CHECK_U64(judged(1.2, 1.1, 1.3, 10, 0.99, 1.01), RES_MORE);
    CHECK_U64(judged(0.8, 0.7, 0.9, 7, 0.99, 1.01), RES_UNDECIDED);  /* too few rounds */
    CHECK_U64(judged(0.8, 0.7, 0.9, 8, 0.99, 1.01), RES_LESS);       /* just enough */
    CHECK_U64(judged(0.98, 0.95, 1.01, 10, 0.999, 1.001), RES_SAME); /* contains 1 */
    CHECK_U64(judged(1.02, 1.01, 1.03, 10, 0.96, 1.04), RES_SAME);   /* inside the noise */
    CHECK_U64(judged(1.02, 1.01, 1.03, 10, 0.96, 1.0), RES_SAME);    /* noise has no sign */
    CHECK_U64(judged(1.06, 1.01, 1.09, 10, 0.96, 1.04), RES_MORE);
    CHECK_U64(judged(0.8, 0.7, 0.9, 10, 0, 0), RES_LESS); /* no control */
    CHECK_U64(judged(NAN, NAN, NAN, 10, 0.99, 1.01), RES_UNDECIDED);
}

/* A library's place in memory makes a few tenths of a per cent, whatever the rounds. */
TEST(a_difference_below_the_least_is_not_shown)
{
    struct res_comparison comparison = {
        .ratio = 1.006, .interval = {1.004, 1.008}, .rounds = 100, .least = 0.005, .excluded = 0.03};
    CHECK_U64(res_judge(&comparison), RES_SAME);
    comparison.interval.low = 1.0051;
    CHECK_U64(res_judge(&comparison), RES_MORE);
    comparison = (struct res_comparison){
        .ratio = 0.98, .interval = {0.964, 0.997}, .rounds = 100, .least = 0.005, .excluded = 0.03};
    CHECK_U64(res_judge(&comparison), RES_UNDECIDED); /* 3 % is neither shown nor left out */
    comparison.interval.high = 0.994;
    CHECK_U64(res_judge(&comparison), RES_LESS);
}

TEST(few_ratios_have_the_interval_of_student)
{
    const double three[] = {1.0, 1.1, 0.9}, equal[] = {1.25, 1.25};
    /* By hand: logarithms of mean -0.0033500 and deviation 0.1003772; 4.303 of it over the root of 3. */
    CHECK_NEAR(pairs_of(three, 3).interval.low, 0.776685, 1e-4);
    CHECK_NEAR(pairs_of(three, 3).interval.high, 1.278926, 1e-4);
    CHECK_NEAR(pairs_of(equal, 2).interval.low, 1.25, 1e-9);
    CHECK_NEAR(pairs_of(equal, 2).interval.high, 1.25, 1e-9);
    CHECK(isnan(pairs_of(three, 1).interval.low));
}

TEST(memory_may_need_fewer_rounds)
{
    struct res_comparison comparison = {.ratio = 0.8,
                                        .interval = {0.79, 0.81},
                                        .rounds = RES_ROUNDS_FOR_MEMORY,
                                        .has_control = true,
                                        .control = {0.99, 1.01}};
    CHECK_U64(res_judge(&comparison), RES_UNDECIDED);
    comparison.rounds_needed = RES_ROUNDS_FOR_MEMORY;
    CHECK_U64(res_judge(&comparison), RES_LESS);
    comparison.rounds--;
    CHECK_U64(res_judge(&comparison), RES_UNDECIDED);
}

TEST(verdicts_have_words_for_time_and_for_memory)
{
    CHECK_STR(RES_TIME_VERDICTS[RES_LESS], "faster");
    CHECK_STR(RES_TIME_VERDICTS[RES_MORE], "slower");
    CHECK_STR(RES_MEMORY_VERDICTS[RES_LESS], "less");
    CHECK_STR(RES_MEMORY_VERDICTS[RES_MORE], "more");
    CHECK(RES_TIME_VERDICTS[RES_MORE + 1] == NULL && RES_MEMORY_VERDICTS[RES_MORE + 1] == NULL);
}
