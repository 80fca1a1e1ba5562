/* test_results_tune_words.c - what a search advises: nothing for less memory that is more in all, and a price where there is one. */
#include <math.h>

#include "footprint/base/support.h"
#include "results/report/table/tune_report.h"
#include "unit/harness.h"
#include "unit/typed.h"

/* One setting with 10 % less of 20 MB at the peak, the default holds 6 MB before its first call. */
static json_t *result_of(double start_bytes, const char *time_verdict)
{
    const double price = strcmp(time_verdict, "slower") == 0 ? 1.2 : 1;
    json_t *row = json_pack("{s:s, s:s, s:b, s:{s:f, s:f, s:f, s:s}, s:{s:f, s:f, s:f, s:s, s:f}}", "name",
                            "jemalloc+a=b", "paste", "A=b", "is_default", 0, "time", "ratio", price,
                            "ratio_low", price - 0.01, "ratio_high", price + 0.01, "verdict", time_verdict,
                            "memory", "ratio", 0.9, "ratio_low", 0.9, "ratio_high", 0.9, "verdict", "less",
                            "bytes", 18e6);
    json_t *candidates = json_pack("[{s:s, s:{s:f}}, {s:s, s:{s:f}}]", "name", "jemalloc", "resident",
                                   "start_bytes", 6e6, "name", "jemalloc+a=b", "resident", "start_bytes",
                                   start_bytes);
    return json_pack("{s:{s:b, s:s, s:s, s:[o], s:[], s:[], s:{s:s}}, s:[{s:o, s:{s:{s:f, s:f}}}]}", "tune",
                     "confirmed", 1, "memory", "peak", "default", "jemalloc", "front", row, "beaten",
                     "points", "workload", "name", "a.wl", "workloads", "candidates", candidates, "control",
                     "time", "ratio_low", 0.99, "ratio_high", 1.01);
}

static bool advises(double start_bytes, const char *time_verdict, const char *words)
{
    json_t *result = result_of(start_bytes, time_verdict);
    char *advice = res_tune_advice(typed(result));
    const bool found = strstr(advice, words) != NULL;
    if (!found)
        fprintf(stderr, "no \"%s\" in: %s\n", words, advice);
    free(advice);
    json_decref(result);
    return found;
}

TEST(less_memory_is_no_advice_where_more_is_held_from_the_start)
{
    CHECK(advises(6e6, "same", "Try jemalloc+a=b"));
    CHECK(advises(7.9e6, "same", "Try jemalloc+a=b"));
    CHECK(advises(8.1e6, "same", "Stay with jemalloc"));
}

TEST(a_trade_is_called_one)
{
    CHECK(advises(6e6, "slower", "Where memory matters more than time try jemalloc+a=b"));
}

/* 10 % less memory, and a time that nobody saw: in noise, "same" is no bound. */
static char *advice_of_time(const char *verdict, double low, double high, bool *ret_bounded)
{
    json_t *result = result_of(6e6, verdict);
    json_t *row = json_array_get(json_object_get(json_object_get(result, "tune"), "front"), 0);
    json_object_update_new(json_object_get(row, "time"),
                           json_pack("{s:f, s:f}", "ratio_low", low, "ratio_high", high));
    const struct res_result *read = typed(result);
    *ret_bounded = res_tune_is_bounded(&read->tune->front[0]);
    char *advice = res_tune_advice(read);
    json_decref(result);
    return advice;
}

TEST(a_time_that_is_not_known_is_nothing_to_deploy)
{
    static const struct {
        const char *verdict;
        double low, high;
        bool bounded;
    } cases[] = {{"same", 0.76, 2.83, false},    {"undecided", 0.98, 1.06, false},
                 {"same", 0.9, 1.051, false},    {"same", 0.76, 1.04, true},
                 {"slower", 1.1, 1.4, true},     {"faster", 0.5, 0.9, true},
                 {"undecided", 0.97, 1.02, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool bounded;
        char *advice = advice_of_time(cases[i].verdict, cases[i].low, cases[i].high, &bounded);
        const bool tries = strstr(advice, "Try ") != NULL || strstr(advice, "try ") != NULL;
        if (bounded != cases[i].bounded || tries != cases[i].bounded)
            fprintf(stderr, "case %zu: %s\n", i, advice);
        CHECK(bounded == cases[i].bounded);
        CHECK(tries == cases[i].bounded);
        CHECK(bounded || strstr(advice, "its time is not known") != NULL);
        CHECK(strstr(advice, "no difference") == NULL);
        free(advice);
    }
}

TEST(saved_time_is_told_as_part_of_the_program)
{
    bool bounded;
    char *unknown = advice_of_time("faster", 0.98, 0.99, &bounded);
    CHECK(strstr(unknown, "of the program") == NULL); /* nothing is known of its CPU time */
    free(unknown);
    json_t *result = result_of(6e6, "faster");
    json_t *row = json_array_get(json_object_get(json_object_get(result, "tune"), "front"), 0);
    json_object_set_new(json_object_get(row, "time"), "ratio", json_real(0.71));
    struct res_result read = *typed(result);
    struct res_result_workload workload = read.workloads[0];
    workload.share_time = 0.07;
    workload.share_time_low = workload.share_time_high = NAN;
    read.workloads = &workload;
    char *advice = res_tune_advice(&read);
    CHECK(strstr(advice, "29 % less time in allocator calls (about 2 % of the program), 10 % less") != NULL);
    free(advice);
    json_decref(result);
}

/* In seconds: whether a budget of 100 s is said to be passed. */
static bool says_passed(int search, int confirmation, const char *words)
{
    json_t *result = json_pack(
        "{s:{s:i, s:b, s:[], s:[], s:[], s:{s:s}, s:s, s:I, s:I, s:I}, s:[]}", "tune", "confirmation_rounds",
        10, "confirmed", 1, "front", "beaten", "points", "workload", "name", "a.wl", "default", "glibc",
        "search_ns", (json_int_t)search * 1000000000, "confirmation_ns",
        (json_int_t)confirmation * 1000000000, "budget_ns", (json_int_t)100000000000, "workloads");
    char *basis = res_tune_basis(typed(result));
    const bool says = strstr(basis, ", passed by ") != NULL;
    const bool right = words == NULL ? !says : strstr(basis, words) != NULL;
    if (!right)
        fprintf(stderr, "it says: %s\n", basis);
    free(basis);
    json_decref(result);
    return right;
}

TEST(a_budget_that_was_passed_is_told)
{
    CHECK(says_passed(60, 55, "budget 1 min 40 s, passed by 15 s: "));
    CHECK(says_passed(60, 40, NULL));
}

RUN_TESTS(T(a_time_that_is_not_known_is_nothing_to_deploy),
          T(less_memory_is_no_advice_where_more_is_held_from_the_start), T(a_trade_is_called_one),
          T(saved_time_is_told_as_part_of_the_program), T(a_budget_that_was_passed_is_told))
