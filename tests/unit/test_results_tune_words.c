/* test_results_tune_words.c - what a search advises: nothing for less memory that is more in all, and a price where there is one. */
#include "results/support.h"
#include "results/tune/tune_words.h"
#include "unit/harness.h"

/* One setting with 10 % less of 20 MB at the peak, the default holds 6 MB before its first call. */
static json_t *result_of(double start_bytes, const char *time_verdict)
{
    json_t *row = json_pack("{s:s, s:{s:f, s:f, s:f, s:s}, s:{s:f, s:f, s:f, s:s, s:f}}", "name",
                            "jemalloc+a=b", "time", "ratio", 1.2, "ratio_low", 1.19, "ratio_high", 1.21,
                            "verdict", time_verdict, "memory", "ratio", 0.9, "ratio_low", 0.9, "ratio_high",
                            0.9, "verdict", "less", "bytes", 18e6);
    json_t *candidates = json_pack("[{s:s, s:{s:f}}, {s:s, s:{s:f}}]", "name", "jemalloc", "resident",
                                   "start_bytes", 6e6, "name", "jemalloc+a=b", "resident", "start_bytes",
                                   start_bytes);
    return json_pack("{s:{s:b, s:s, s:s, s:[o], s:{}}, s:[{s:o, s:{s:{s:f, s:f}}}]}", "tune", "confirmed", 1,
                     "memory", "peak", "default", "jemalloc", "front", row, "counts", "workloads",
                     "candidates", candidates, "control", "time", "ratio_low", 0.99, "ratio_high", 1.01);
}

static bool advises(double start_bytes, const char *time_verdict, const char *words)
{
    json_t *result = result_of(start_bytes, time_verdict);
    char *advice = res_tune_advice(result);
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

RUN_TESTS(T(less_memory_is_no_advice_where_more_is_held_from_the_start), T(a_trade_is_called_one))
