/* test_results_statistics.c - samples, quantiles, intervals and verdicts; limits of budgets; means over many workloads, against a computation of
 * our own in Python (statistics as a reader of the header would write them). */
#include <math.h>

#include "results/measure/base/random.h"
#include "results/measure/figures/figures.h"
#include "results/measure/statistics/statistics.h"
#include "unit/harness.h"

TEST(quantiles_are_those_of_definition_7)
{
    /* R: quantile(c(9, 1, 4, 16), c(0, .25, .5, .9, 1)) gives 1 3.25 6.5 13.9 16. */
    static const struct {
        double samples[5];
        size_t count;
        double share, quantile;
    } CASES[] = {
        {{9, 1, 4, 16}, 4, 0, 1},      {{9, 1, 4, 16}, 4, 0.25, 3.25}, {{9, 1, 4, 16}, 4, 0.5, 6.5},
        {{9, 1, 4, 16}, 4, 0.9, 13.9}, {{9, 1, 4, 16}, 4, 1, 16},      {{9}, 1, 0.3, 9},
        {{5, 1, 3}, 3, 0.5, 3},        {{4, 1, 3, 2}, 4, 0.5, 2.5},    {{10, 11, 12, 13, 1000}, 5, 0.5, 12},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        double samples[5];
        memcpy(samples, CASES[i].samples, sizeof samples);
        CHECK_NEAR(res_quantile(samples, CASES[i].count, CASES[i].share), CASES[i].quantile, 1e-12);
        if (CASES[i].share == 0.5)
            CHECK_NEAR(res_median(samples, CASES[i].count), CASES[i].quantile, 1e-12);
        (void)res_trimmed_logarithm(samples, CASES[i].count);
        CHECK(memcmp(samples, CASES[i].samples, sizeof samples) == 0); /* left as they were */
    }
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

#define CONTROL(low, high) .has_control = true, .control = {low, high}
#define LEAST              .rounds = 100, .least = 0.005, .excluded = 0.03

TEST(verdicts_follow_their_rules)
{
    static const struct {
        struct res_comparison comparison;
        enum res_verdict verdict;
    } CASES[] = {
        {{.ratio = 0.8, .interval = {0.7, 0.9}, .rounds = 10, CONTROL(0.99, 1.01)}, RES_LESS},
        {{.ratio = 1.2, .interval = {1.1, 1.3}, .rounds = 10, CONTROL(0.99, 1.01)}, RES_MORE},
        {{.ratio = 0.8, .interval = {0.7, 0.9}, .rounds = 7, CONTROL(0.99, 1.01)},
         RES_UNDECIDED}, /* too few */
        {{.ratio = 0.8, .interval = {0.7, 0.9}, .rounds = 8, CONTROL(0.99, 1.01)},
         RES_LESS}, /* just enough */
        {{.ratio = 0.98, .interval = {0.95, 1.01}, .rounds = 10, CONTROL(0.999, 1.001)}, RES_SAME},
        {{.ratio = 1.02, .interval = {1.01, 1.03}, .rounds = 10, CONTROL(0.96, 1.04)}, RES_SAME},
        {{.ratio = 1.02, .interval = {1.01, 1.03}, .rounds = 10, CONTROL(0.96, 1)},
         RES_SAME}, /* noise has no sign */
        {{.ratio = 1.06, .interval = {1.01, 1.09}, .rounds = 10, CONTROL(0.96, 1.04)}, RES_MORE},
        {{.ratio = 0.8, .interval = {0.7, 0.9}, .rounds = 10}, RES_LESS},
        {{.ratio = NAN, .interval = {NAN, NAN}, .rounds = 10, CONTROL(0.99, 1.01)}, RES_UNDECIDED},
        /* A library's place in memory makes a few tenths of a per cent, whatever the rounds. */
        {{.ratio = 1.006, .interval = {1.004, 1.008}, LEAST}, RES_SAME},
        {{.ratio = 1.006, .interval = {1.0051, 1.008}, LEAST}, RES_MORE},
        {{.ratio = 0.98, .interval = {0.964, 0.997}, LEAST},
         RES_UNDECIDED}, /* 3 % is neither shown nor left out */
        {{.ratio = 0.98, .interval = {0.964, 0.994}, LEAST}, RES_LESS},
        /* Memory may need fewer rounds. */
        {{.ratio = 0.8, .interval = {0.79, 0.81}, .rounds = 3, CONTROL(0.99, 1.01)}, RES_UNDECIDED},
        {{.ratio = 0.8, .interval = {0.79, 0.81}, .rounds = 3, .rounds_needed = 3, CONTROL(0.99, 1.01)},
         RES_LESS},
        {{.ratio = 0.8, .interval = {0.79, 0.81}, .rounds = 2, .rounds_needed = 3, CONTROL(0.99, 1.01)},
         RES_UNDECIDED},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++)
        if (res_judge(&CASES[i].comparison) != CASES[i].verdict)
            HARNESS_FAIL("row %zu: %s", i, RES_TIME_VERDICTS[res_judge(&CASES[i].comparison)]);
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

#define NEAR(actual, expected) (fabs((actual) - (expected)) < 1e-4)

/* ---- tests ---------------------------------------------------------------------------------- */

static struct res_tails tails_of(const double *ratios, size_t count, double limit)
{
    return res_logarithm_tails(res_trimmed_logarithm(ratios, count), limit);
}

TEST(student_is_one_sided_at_the_limit)
{
    /* t = 4.3027 and 2.9200 with 2 degrees: 2.5 % and 5 % above. */
    const double samples[] = {1.1 * exp(4.3027 - sqrt(3)), 1.1 * exp(4.3027), 1.1 * exp(4.3027 + sqrt(3))};
    const double others[] = {exp(-2.92 - sqrt(3)), exp(-2.92), exp(-2.92 + sqrt(3))};
    CHECK(NEAR(tails_of(samples, 3, 1.1).above, 0.025));
    CHECK(NEAR(tails_of(samples, 3, 1.1).below, 0.975));
    CHECK(NEAR(tails_of(others, 3, 1).below, 0.05));
    const double same[] = {1.05, 1.05, 1.05};
    CHECK(tails_of(same, 3, 1.05).below == 0 && tails_of(same, 3, 1.05).above == 1);
    CHECK(tails_of(same, 3, 1.04).above == 0 && tails_of(same, 3, 1.04).below == 1);
    CHECK(tails_of(same, 1, 1.04).above == 1);
}

TEST(holm_corrects_the_smallest_most)
{
    double p_values[] = {0.04, 0.01, NAN, 0.03, 0.005};
    res_holm(p_values, 5);
    CHECK(NEAR(p_values[4], 0.02) && NEAR(p_values[1], 0.03) && NEAR(p_values[3], 0.06));
    CHECK(NEAR(p_values[0], 0.06)); /* no smaller than the one before it */
    CHECK(isnan(p_values[2]));
    double sure[] = {0.9, 0.8};
    res_holm(sure, 2);
    CHECK(sure[0] == 1 && sure[1] == 1);
}

/* ---- steady times at a limit ---------------------------------------------------------------- */

enum { ROUNDS = 20, BATCHES = 20 };

struct table {
    uint64_t ns[ROUNDS][BATCHES];
    const uint64_t *rows[ROUNDS];
};

/* Gross: a floor of 1e5 in each batch, the rest times effect; a per mille or so of noise. */
static struct res_batches drawn(struct table *table, double effect, struct res_random *random)
{
    for (size_t round = 0; round < ROUNDS; round++) {
        const double luck = 1 + 1e-6 * (double)res_random_below(random, 2000); /* of the round as a whole */
        for (size_t batch = 0; batch < BATCHES; batch++)
            table->ns[round][batch] = (uint64_t)((1e5 + 9e5 * effect) * luck);
        table->rows[round] = table->ns[round];
    }
    return (struct res_batches){.rounds = table->rows, .round_count = ROUNDS, .batch_count = BATCHES};
}

static struct res_tails tails_at(const struct res_batches *other, const struct res_batches *base,
                                 double limit)
{
    static uint64_t ns[BATCHES];
    static const uint64_t *const rows[] = {ns};
    const struct res_batches floor = {.rounds = rows, .round_count = 1, .batch_count = BATCHES};
    for (size_t batch = 0; batch < BATCHES; batch++)
        ns[batch] = 100000;
    const struct res_steady_sides sides = {.other = other, .base = base, .floor = &floor};
    return res_logarithm_tails(res_steady_logarithm(&sides), limit);
}

TEST(the_limit_is_of_net_times)
{
    struct res_random random = res_random_from(3);
    struct table tables[2];
    const struct res_batches base = drawn(&tables[0], 1, &random), other = drawn(&tables[1], 1.1, &random);
    CHECK(tails_at(&other, &base, 1.09).above < 0.002); /* gross it is +9 % */
    CHECK(tails_at(&other, &base, 1.11).below < 0.002);
    CHECK(tails_at(&other, &base, 1.11).above > 0.99);
    CHECK(tails_at(&other, &base, 1000).below < 0.002); /* a 1000th is below the floor */
    CHECK(tails_at(&other, &base, 0.5).above < 0.0005);
    CHECK(tails_at(&other, &base, 0).above == 0);
    struct res_batches cut = base;
    cut.batch_count--;
    CHECK(tails_at(&other, &cut, 1.05).above == 1);
}

/* ---- few passes of memory ------------------------------------------------------------------- */

typedef double memory_fn(struct res_random *random);

static double uniform(struct res_random *random)
{
    return (double)(res_random_next(random) >> 11) * 0x1p-53;
}

/* What resident memory was seen to do: nearly the same; one of two values, as likely as the other; rarely another. */
static double steady_memory(struct res_random *random)
{
    return 1 + 0.002 * (uniform(random) + uniform(random) + uniform(random));
}

static double two_values(struct res_random *random)
{
    return res_random_below(random, 2) == 0 ? 1 : 1.055;
}

static double rarely_more(struct res_random *random)
{
    return res_random_below(random, 8) == 0 ? 1.055 : 1;
}

/* As figures.c judges a peak. */
static enum res_verdict judge(const double *own, const double *base, const double *control, size_t passes)
{
    double ratios[8], noise[8];
    for (size_t i = 0; i < passes; i++) {
        ratios[i] = own[i] / base[i];
        noise[i] = control[i] / base[i];
    }
    const struct res_estimate found = res_logarithm_estimate(res_trimmed_logarithm(ratios, passes));
    const struct res_comparison comparison = {
        .ratio = found.value,
        .interval = found.interval,
        .rounds = passes,
        .rounds_needed = RES_ROUNDS_FOR_MEMORY,
        .worth = RES_MEMORY_WORTH,
        .has_control = true,
        .control = res_logarithm_estimate(res_trimmed_logarithm(noise, passes)).interval,
    };
    return res_judge(&comparison);
}

static unsigned different(memory_fn *memory, double effect, size_t passes, struct res_random *random)
{
    unsigned found = 0;
    for (unsigned experiment = 0; experiment < 2000; experiment++) {
        double samples[3][8];
        for (size_t pass = 0; pass < passes; pass++)
            for (size_t entry = 0; entry < 3; entry++)
                samples[entry][pass] = memory(random) * (entry == 0 ? effect : 1);
        const enum res_verdict verdict = judge(samples[0], samples[1], samples[2], passes);
        found += verdict == RES_LESS || verdict == RES_MORE;
    }
    return found;
}

TEST(few_passes_of_memory_make_few_false_verdicts)
{
    static memory_fn *const memories[] = {steady_memory, two_values, rarely_more};
    struct res_random random = res_random_from(8);
    for (size_t i = 0; i < 3; i++) {
        const unsigned three = different(memories[i], 1, 3, &random),
                       five = different(memories[i], 1, 5, &random);
        printf("memory %zu: of 2000 equals %u told apart with 3 passes, %u with 5\n", i, three, five);
        CHECK(three <= 100 && five <= 100);
        CHECK(different(memories[i], 1.5, 1, &random) == 0 && different(memories[i], 1.5, 2, &random) == 0);
    }
    CHECK(different(steady_memory, 1.05, 3, &random) >= 1900);
}

TEST(less_than_a_thousandth_of_memory_is_the_same)
{
    const double base[] = {1e6, 1e6, 1e6}, page[] = {1e6 + 900, 1e6 + 900, 1e6 + 900},
                 more[] = {1e6 + 4096, 1e6 + 4096, 1e6 + 4096};
    CHECK(judge(page, base, base, 3) == RES_SAME);
    CHECK(judge(more, base, base, 3) == RES_MORE);
    CHECK(judge(base, more, more, 3) == RES_LESS);
    CHECK(judge(more, base, base, 2) == RES_UNDECIDED);
}

/* ---- against Python -------------------------------------------------------------------------- */

static const double VALUES[] = {-0.10, -0.02, 0.05, -0.20, 0.01, -0.07};
static const double SHARES[] = {3, 1, 2, 5, 1, 4};
static const double EQUAL[] = {7, 7, 7, 7, 7, 7};

TEST(a_mean_is_by_share_and_its_error_by_the_spread)
{
    const struct res_logarithm mean = res_many_mean(VALUES, SHARES, 6);
    CHECK_NEAR(res_many_effective(SHARES, 6), 4.571428571428571, 1e-12);
    CHECK_NEAR(mean.value, -0.093125, 1e-12);
    CHECK_NEAR(mean.error, 0.04429782020596499, 1e-12);
    CHECK_NEAR(mean.freedom, 3.571428571428571, 1e-6);
}

TEST(of_equal_shares_the_interval_is_students)
{
    double squares = 0;
    for (size_t i = 0; i < 6; i++)
        squares += pow(VALUES[i] + 0.055, 2);
    const double reach = res_student_quantile(5) * sqrt(squares / 5 / 6);
    const struct res_estimate own = res_logarithm_estimate(res_many_mean(VALUES, EQUAL, 6));
    CHECK_NEAR(own.interval.low, exp(-0.055 - reach), 1e-12);
    CHECK_NEAR(own.interval.high, exp(-0.055 + reach), 1e-12);
}

TEST(one_workload_has_no_error_and_none_no_mean)
{
    const double alone[] = {1, 0, 0, 0, 0, 0}, nothing[6] = {0};
    CHECK(isnan(res_many_mean(VALUES, alone, 6).error));
    CHECK_NEAR(res_many_mean(VALUES, alone, 6).value, -0.10, 1e-15);
    CHECK(isnan(res_many_mean(VALUES, nothing, 6).value));
    CHECK(isnan(res_many_mean(VALUES, SHARES, 0).value));
}
