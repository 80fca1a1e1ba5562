/* test_results_table.c - which differences of a table have a colour: those that are shown, and large enough to act on. */
#include <math.h>

#include "results/json.h"
#include "results/table.h"
#include "unit/harness.h"

#define GREEN "\033[32m"
#define RED   "\033[31m"

/* ratio: of time and of peak memory. */
static json_t *entry_of(const char *name, double ratio, const char *time_verdict, const char *peak_verdict)
{
    return json_pack("{s:s, s:s, s:{s:f, s:f, s:f, s:s, s:f, s:f}, s:{s:f, s:f, s:s}, s:[]}", "name", name,
                     "version", "1", "time", "ratio", ratio, "ratio_low", ratio - 0.001, "ratio_high",
                     ratio + 0.001, "verdict", time_verdict, "typical_ns_per_op", 20 * ratio,
                     "quiet_ns_per_op", 20 * ratio, "resident", "peak_bytes", 1e7 * ratio, "peak_ratio",
                     ratio, "peak_verdict", peak_verdict, "runs");
}

static char *table_of(double ratio, const char *time_verdict, const char *peak_verdict)
{
    const struct res_style style = {.colour = true};
    json_t *workload = json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:[o, o], s:o, s:n}", "name", "web.wl",
                                 "ops", 100000, "threads", 1, "duration_ns", 1000000, "live_peak_bytes",
                                 1000000, "rounds", 10, "candidates", entry_of("glibc", 1, "same", "same"),
                                 entry_of("jemalloc", ratio, time_verdict, peak_verdict), "control",
                                 entry_of("glibc", 1, "same", "same"), "floor");
    json_t *result = json_pack("{s:s, s:s, s:i, s:i, s:{}, s:[], s:[o]}", "schema", RES_SCHEMA, "baseline",
                               "glibc", "rounds", 10, "seed", 1, "machine", "missing", "workloads", workload);
    char *problem = res_json_check(result);
    CHECK_STR(problem != NULL ? problem : "", "");
    free(problem);
    char *text = res_table_text(result, &style);
    json_decref(result);
    return text;
}

static bool shows(double ratio, const char *time_verdict, const char *peak_verdict, const char *words)
{
    char *text = table_of(ratio, time_verdict, peak_verdict);
    const bool found = strstr(text, words) != NULL;
    if (!found)
        fprintf(stderr, "no \"%s\" in:\n%s\n", words, text);
    free(text);
    return found;
}

TEST(what_is_shown_and_large_has_a_colour)
{
    CHECK(shows(1.05, "slower", "more", RED "slower"));
    CHECK(shows(1.05, "slower", "more", RED "+5.0% more"));
    CHECK(shows(0.95, "faster", "less", GREEN "faster"));
    CHECK(shows(0.95, "faster", "less", GREEN "-5.0% less"));
}

TEST(what_is_shown_and_small_keeps_its_word)
{
    CHECK(shows(1.003, "slower", "more", " +0.3% more"));
    CHECK(shows(1.003, "slower", "more", " slower"));
    CHECK(shows(0.997, "faster", "less", " -0.3% less"));
    CHECK(shows(0.997, "faster", "less", " faster"));
}

TEST(noise_has_none)
{
    CHECK(shows(1.05, "same", "same", " +5.0% same"));
}

RUN_TESTS(T(what_is_shown_and_large_has_a_colour), T(what_is_shown_and_small_keeps_its_word),
          T(noise_has_none))
