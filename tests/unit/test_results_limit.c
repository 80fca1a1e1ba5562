/* test_results_limit.c - p-values at a limit and of many tests at once, against tables; and verdicts of few memory passes by simulation. */
#include <math.h>

#include "results/measure/base/random.h"
#include "results/measure/figures/figures.h"
#include "results/measure/statistics/statistics.h"
#include "unit/harness.h"

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
