/* test_results_table.c - which differences of a table have a colour: those that are shown, and large enough to act on. */
#include <math.h>

#include "results/measure/result/result.h"
#include "results/report/table/table.h"
#include "unit/harness.h"
#include "unit/lines.h"
#include "unit/typed.h"

#define GREEN "\033[32m"
#define RED   "\033[31m"

/* ratio: of time and of peak memory. */
static json_t *entry_of(const char *name, double ratio, const char *time_verdict, const char *peak_verdict)
{
    return json_pack("{s:s, s:s, s:{s:f, s:f, s:f, s:s, s:f}, s:{s:f, s:f, s:s}, s:[]}", "name", name,
                     "version", "1", "time", "ratio", ratio, "ratio_low", ratio - 0.001, "ratio_high",
                     ratio + 0.001, "verdict", time_verdict, "steady_ns_per_op", 20 * ratio, "resident",
                     "peak_bytes", 1e7 * ratio, "peak_ratio", ratio, "peak_verdict", peak_verdict, "runs");
}

static char *table_of(double ratio, const char *time_verdict, const char *peak_verdict)
{
    const struct res_style style = {.colour = true, .details = true};
    json_t *workload = json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:[o, o], s:o, s:n}", "name", "web.wl",
                                 "ops", 100000, "threads", 1, "duration_ns", 1000000, "live_peak_bytes",
                                 1000000, "rounds", 10, "candidates", entry_of("glibc", 1, "same", "same"),
                                 entry_of("jemalloc", ratio, time_verdict, peak_verdict), "control",
                                 entry_of("glibc", 1, "same", "same"), "floor");
    json_t *result = json_pack("{s:s, s:s, s:i, s:i, s:{}, s:[], s:[o]}", "schema", RES_SCHEMA, "baseline",
                               "glibc", "rounds", 10, "seed", 1, "machine", "missing", "workloads", workload);
    char *text = res_table_text(typed(result), &style);
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
    CHECK(shows(1.05, "slower", "more", "+5.0% " RED "more"));
    CHECK(shows(0.95, "faster", "less", GREEN "faster"));
    CHECK(shows(0.95, "faster", "less", "-5.0% " GREEN "less"));
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

/* ---- names of any length -------------------------------------------------------------------- */

/* The line that begins so; the caller's to free. */
static char *line_with(const char *text, const char *begin)
{
    const char *at = strstr(text, begin);
    return at != NULL ? strndup(at, strcspn(at, "\n")) : strdup("");
}

static char *wide_table_of(const char *name, const char *version)
{
    const struct res_style style = {.colour = false, .details = true};
    json_t *candidates = json_pack("[o, o]", entry_of("glibc", 1, "same", "same"),
                                   entry_of(name, 0.323, "faster", "less"));
    size_t index;
    json_t *candidate;
    json_array_foreach(candidates, index, candidate)
    {
        json_object_set_new(candidate, "version", json_string(version));
        json_object_set_new(candidate, "latency",
                            json_pack("{s:f, s:f}", "p99_ns", 935.4, "p99_9_ns", 3075.0));
    }
    json_t *result = json_pack(
        "{s:s, s:s, s:i, s:i, s:{}, s:[], s:[{s:s, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:n}]}", "schema",
        RES_SCHEMA, "baseline", "glibc", "rounds", 10, "seed", 1, "machine", "missing", "workloads", "name",
        "web.wl", "ops", 100000, "threads", 1, "duration_ns", 1000000, "live_peak_bytes", 1000000, "rounds",
        10, "candidates", candidates, "control", entry_of("glibc", 1, "same", "same"), "floor");
    char *text = res_table_text(typed(result), &style);
    json_decref(result);
    return text;
}

TEST(a_long_name_has_a_line_of_its_own_and_costs_no_column)
{
    static const char NAME[] = "jemalloc+narenas=1+dirty_decay_ms=0+muzzy_decay_ms=0";
    char *text = wide_table_of(NAME, "5.3.0");
    CHECK(strstr(text, "95 % range") != NULL && strstr(text, "[-67.8 -67.6]") != NULL);
    CHECK(strstr(text, "version") != NULL && strstr(text, "faults") != NULL && strstr(text, " end ") != NULL);
    CHECK(strstr(text, "left out") == NULL);
    CHECK(widest(text) <= RES_TABLE_COLUMNS);
    char *own = line_with(text, NAME);
    CHECK_STR(own, NAME); /* nothing behind it */
    free(own);
    free(text);
}

TEST(what_is_left_out_is_said_and_is_never_the_range)
{
    char *text = wide_table_of("jemalloc", "5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c-of-somebody");
    CHECK(strstr(text, "95 % range") != NULL && strstr(text, "[-67.8 -67.6]") != NULL);
    CHECK(strstr(text, "54eaed1d") == NULL);
    CHECK(strstr(text, "left out    version") != NULL && strstr(text, "--json") != NULL);
    CHECK(widest(text) <= RES_TABLE_COLUMNS);
    free(text);
}
