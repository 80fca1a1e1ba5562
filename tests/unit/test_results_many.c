/* test_results_many.c - formulas over many workloads, against values that others published, and against a computation of our own in
 * Python (statistics as a reader of the header would write them) where nobody published any. */
#include <math.h>

#include "results/measure/statistics/statistics.h"
#include "unit/harness.h"

/* Nine laboratories: R. Kacker, "Combining information from interlaboratory evaluations using a random effects model", Metrologia 41
 * (2004), table 1, whose Paule-Mandel tau is 0.8399; with more digits what R's metafor says of it (rma, method PM), as the tests of
 * statsmodels have it. */
static const double LABS[] = {61.00, 61.40, 62.21, 62.30, 62.34, 62.60, 62.70, 62.84, 65.90};
static const double LAB_VARIANCES[] = {0.2025, 1.2100, 0.0900, 0.2025, 0.3844,
                                       0.5625, 0.0676, 0.0225, 1.8225};

TEST(spread_is_that_of_paule_and_mandel)
{
    const struct res_many_spread spread = res_many_spread(LABS, LAB_VARIANCES, 9);
    CHECK_NEAR(sqrt(spread.tau2), 0.8399, 6e-5);
    CHECK_NEAR(spread.tau2, 0.705395309224248, 1e-9);
    CHECK_NEAR(spread.mean, 62.4076199113286, 1e-9);
    CHECK_NEAR(spread.error, 0.338030602684471, 1e-9);
}

TEST(figures_that_differ_by_no_more_than_their_noise_have_no_spread)
{
    const double values[] = {1, 1.01, 0.99}, variances[] = {0.01, 0.01, 0.01}, none[] = {0, 0, 0};
    CHECK_NEAR(res_many_spread(values, variances, 3).tau2, 0, 0);
    /* Without noise all of it is spread. */
    CHECK_NEAR(res_many_spread(values, none, 3).tau2, 0.0001, 1e-12);
    CHECK(isnan(res_many_spread(values, variances, 1).tau2));
}

/* Ten studies of blood pressure: R's pimeta (data sbp) by Higgins, Thompson and Spiegelhalter says -0.3340597 with tau^2 0.02824971, its
 * confidence interval -0.5068 to -0.1613 with 9 degrees of freedom, and that another study lies in -0.7597777 to 0.0916584. */
TEST(another_workload_lies_in_the_prediction_interval)
{
    const double error = (0.5068 - 0.1613) / 2 / 2.262157;
    const struct res_interval other = res_many_new((struct res_logarithm){-0.3340597, error, 9}, 0.02824971,
                                                   10);
    CHECK_NEAR(other.low, -0.7597777, 2e-4);
    CHECK_NEAR(other.high, 0.0916584, 2e-4);
    CHECK(isnan(res_many_new((struct res_logarithm){0, 0.1, 1}, 0.01, 2).low));
}

/* ---- against Python -------------------------------------------------------------------------- */

static const double VALUES[] = {-0.10, -0.02, 0.05, -0.20, 0.01, -0.07};
static const double VARIANCES[] = {0.0004, 0.0009, 0.0001, 0.0025, 0.0016, 0.0004};
static const double SHARES[] = {3, 1, 2, 5, 1, 4};
static const double EQUAL[] = {7, 7, 7, 7, 7, 7};

TEST(a_mean_is_by_share_and_its_error_by_the_spread)
{
    const struct res_logarithm mean = res_many_mean(VALUES, SHARES, 6);
    CHECK_NEAR(res_many_effective(SHARES, 6), 4.571428571428571, 1e-12);
    CHECK_NEAR(mean.value, -0.093125, 1e-12);
    CHECK_NEAR(mean.error, 0.04429782020596499, 1e-12);
    CHECK_NEAR(mean.freedom, 3.571428571428571, 1e-6);
    CHECK_NEAR(res_many_these(VALUES, VARIANCES, SHARES, 6).error, 0.017161912772182476, 1e-12);
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

TEST(a_total_has_the_error_of_the_jackknife)
{
    const double amounts[] = {10, 20, 5, 40, 8, 12};
    double ratios[6];
    for (size_t i = 0; i < 6; i++)
        ratios[i] = exp(VALUES[i]);
    const struct res_logarithm total = res_many_total(amounts, ratios, EQUAL, 6);
    CHECK_NEAR(total.value, -0.10037808978596585, 1e-12);
    CHECK_NEAR(total.error, 0.06525544926638698, 1e-12);
    CHECK_NEAR(total.freedom, 5, 1e-6);
    CHECK_NEAR(res_many_total_these(amounts, ratios, VARIANCES, 6).error, 0.020874228734310756, 1e-12);
}

TEST(the_spread_is_known_to_the_last_digit)
{
    const struct res_many_spread spread = res_many_spread(VALUES, VARIANCES, 6);
    CHECK_NEAR(spread.tau2, 0.006502280822571291, 1e-12);
    CHECK_NEAR(spread.mean, -0.05024618415322612, 1e-12);
    CHECK_NEAR(spread.error, 0.03511863397988936, 1e-12);
}

RUN_TESTS(T(spread_is_that_of_paule_and_mandel),
          T(figures_that_differ_by_no_more_than_their_noise_have_no_spread),
          T(another_workload_lies_in_the_prediction_interval),
          T(a_mean_is_by_share_and_its_error_by_the_spread), T(of_equal_shares_the_interval_is_students),
          T(one_workload_has_no_error_and_none_no_mean), T(a_total_has_the_error_of_the_jackknife),
          T(the_spread_is_known_to_the_last_digit))
