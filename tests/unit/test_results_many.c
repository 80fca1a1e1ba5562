/* test_results_many.c - formulas over many workloads, against a computation of our own in Python (statistics as a reader of the header would
 * write them). */
#include <math.h>

#include "results/measure/statistics/statistics.h"
#include "unit/harness.h"

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
