/* test_replay_histogram - buckets cover every value once and as finely as promised; percentiles beside those of the
 * sorted values themselves. */
#include "harness.h"
#include "replay/exec/latency_pass.h"

#define VALUES 50000u

static uint64_t seed = 7;

static uint64_t pick(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed >> 20;
}

static int by_value(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

TEST(buckets_are_adjacent_and_narrow)
{
    CHECK_U64(rep_histogram_low(0), 0);
    for (uint32_t i = 0; i < REP_HISTOGRAM_BUCKETS; i++) {
        const uint64_t low = rep_histogram_low(i), next = rep_histogram_low(i + 1);
        CHECK(next > low);
        CHECK_U64(rep_histogram_bucket(low), i);
        CHECK_U64(rep_histogram_bucket(next - 1), i);
        CHECK(next - low == 1 || (next - low) << REP_HISTOGRAM_BITS <= low);
    }
    CHECK_U64(rep_histogram_low(REP_HISTOGRAM_BUCKETS), UINT64_C(1) << REP_HISTOGRAM_VALUES);
    CHECK_U64(rep_histogram_bucket(UINT64_MAX), REP_HISTOGRAM_BUCKETS - 1);
}

/* Values over 30 powers of two, as latencies are. */
TEST(percentiles_are_within_the_stated_error)
{
    static struct rep_histogram histogram;
    static uint64_t values[VALUES];
    static const double SHARES[] = {0, 0.001, 0.5, 0.9, 0.99, 0.999, 1};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < VALUES; i++) {
        values[i] = pick() >> (14 + pick() % 30);
        sum += values[i];
        rep_histogram_add(&histogram, values[i]);
    }
    qsort(values, VALUES, sizeof values[0], by_value);
    CHECK_U64(histogram.count, VALUES);
    CHECK_U64(histogram.sum, sum);
    CHECK_U64(histogram.max, values[VALUES - 1]);
    CHECK(rep_histogram_mean(&histogram) == (double)sum / VALUES);
    for (size_t i = 0; i < sizeof SHARES / sizeof SHARES[0]; i++) {
        const double exact_rank = SHARES[i] * VALUES;
        size_t rank = (size_t)exact_rank;
        rank += (double)rank < exact_rank || rank == 0;
        const double exact = (double)values[rank - 1];
        const double found = rep_histogram_percentile(&histogram, SHARES[i]);
        const double error = found > exact ? found - exact : exact - found;
        if (error > 0.5 + exact * REP_HISTOGRAM_REL_ERR)
            HARNESS_FAIL("percentile %g is %g, exactly %g", SHARES[i], found, exact);
    }
}

TEST(the_largest_is_not_exceeded)
{
    static struct rep_histogram histogram;
    CHECK(rep_histogram_percentile(&histogram, 0.5) == 0);
    CHECK(rep_histogram_mean(&histogram) == 0);
    rep_histogram_add(&histogram, 1000000);
    CHECK(rep_histogram_percentile(&histogram, 0.999) <= 1000000);
    rep_histogram_add(&histogram, UINT64_C(1) << 50); /* beyond the buckets */
    CHECK(rep_histogram_percentile(&histogram, 1) == (double)(UINT64_C(1) << 50));
    CHECK_U64(histogram.max, UINT64_C(1) << 50);
}

TEST(a_merge_is_as_if_all_had_been_added_to_one)
{
    static struct rep_histogram all, left, right;
    for (uint32_t i = 0; i < 1000; i++) {
        const uint64_t value = pick() >> (pick() % 44);
        rep_histogram_add(&all, value);
        rep_histogram_add(i % 3 == 0 ? &left : &right, value);
    }
    rep_histogram_merge(&left, &right);
    CHECK(memcmp(&left, &all, sizeof all) == 0);
}
