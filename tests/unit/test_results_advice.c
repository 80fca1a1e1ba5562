/* test_results_advice.c - what to do next: how many rounds, for how long; and what ended those that there were. */
#include <math.h>

#include "results/report/notes/advice.h"
#include "results/report/notes/advice_options.h"
#include "unit/harness.h"
#include "unit/typed.h"

/* A workload in a result. */
static const struct res_result *result_with(json_t *result, json_t *workload)
{
    json_object_set_new(result, "workloads", json_pack("[O]", workload));
    return typed(result);
}

static char *advice_text(json_t *result, json_t *workload)
{
    const struct res_result *known = result_with(result, workload);
    return res_advice_of(known, &known->workloads[0]).text;
}

/* An entry whose interval is so wide around its ratio; each of its 10 runs takes a second, and its warm-up. */
static json_t *entry_of(const char *name, double ratio, double half_width, const char *verdict)
{
    json_t *runs = json_array();
    for (int i = 0; i < 10; i++)
        json_array_append_new(
            runs, json_pack("{s:f, s:I}", "ns_per_op", 20.0, "elapsed_ns", (json_int_t)1000000000));
    return json_pack("{s:s, s:I, s:{s:f, s:f, s:f, s:s, s:f, s:f}, s:{s:s}, s:o, s:[]}", "name", name,
                     "warmup_ns", (json_int_t)1000000000, "time", "ratio", ratio, "ratio_low",
                     ratio * (1 - half_width), "ratio_high", ratio * (1 + half_width), "verdict", verdict,
                     "typical_ns_per_op", 20.0, "quiet_ns_per_op", 20.0, "resident", "peak_verdict", "same",
                     "runs", runs, "memory_runs");
}

static json_t *workload_of(double half_width, const char *verdict)
{
    return json_pack("{s:i, s:[o, o], s:o, s:n}", "rounds", 10, "candidates", entry_of("glibc", 1, 0, "same"),
                     entry_of("jemalloc", 1, half_width, verdict), "control",
                     entry_of("glibc", 1, half_width / 2, "same"), "floor");
}

static char *advice_of(double half_width, const char *verdict)
{
    json_t *result = json_pack("{s:s}", "baseline", "glibc"), *workload = workload_of(half_width, verdict);
    char *advice = advice_text(result, workload);
    json_decref(result);
    json_decref(workload);
    return advice;
}

static bool advises(double half_width, const char *verdict, const char *words)
{
    char *advice = advice_of(half_width, verdict);
    const bool found = strstr(advice, words) != NULL;
    if (!found)
        fprintf(stderr, "no \"%s\" in: %s\n", words, advice);
    free(advice);
    return found;
}

static bool deploys(json_t *entry, const char *words)
{
    json_t *workload = json_pack("{s:[O]}", "candidates", entry);
    char *line = res_deploy_line(&typed_workload(workload, "glibc")->candidates[0]);
    const bool equal = words == NULL ? line == NULL : line != NULL && strcmp(line, words) == 0;
    if (!equal)
        fprintf(stderr, "to deploy: %s\n", line != NULL ? line : "nothing");
    free(line);
    json_decref(workload);
    json_decref(entry);
    return equal;
}

TEST(what_to_set_is_told_for_a_shell)
{
    CHECK(deploys(json_pack("{s:s, s:{}}", "library", "/lib/x/libc.so.6", "environment"), NULL));
    CHECK(deploys(json_pack("{s:s, s:{s:s}}", "library", "/lib/x/libc.so.6", "environment", "GLIBC_TUNABLES",
                            "glibc.malloc.arena_max=2"),
                  "GLIBC_TUNABLES=glibc.malloc.arena_max=2"));
    CHECK(
        deploys(json_pack("{s:s, s:{s:s}}", "library", "/lib/it's libx.so", "environment", "CONF", "a:1,b:2"),
                "LD_PRELOAD='/lib/it'\\''s libx.so' CONF=a:1,b:2"));
    /* A name that is none would be a command. */
    CHECK(deploys(json_pack("{s:s, s:{s:s}}", "library", "/l.so", "environment", "A;rm x", "1"),
                  "LD_PRELOAD=/l.so"));
}

TEST(the_winner_is_what_is_to_deploy)
{
    json_t *result = json_pack("{s:s}", "baseline", "glibc"), *workload = workload_of(0.001, "faster");
    json_t *winner = json_array_get(json_object_get(workload, "candidates"), 1);
    json_object_set_new(winner, "library", json_string("/l/libjemalloc.so.2"));
    const struct res_result *known = result_with(result, workload);
    CHECK_STR(typed_note(&known->workloads[0], "to paste"), "jemalloc");
    CHECK_STR(known->workloads[0].notes[1].detail, "LD_PRELOAD=/l/libjemalloc.so.2");
    json_object_set_new(winner, "failed", json_string("died"));
    CHECK(typed_note(&result_with(result, workload)->workloads[0], "to paste") == NULL);
    json_decref(workload);
    json_decref(result);
}

TEST(rounds_are_named_by_the_width_that_they_reach)
{
    static const struct {
        double half_width, until;
        size_t rounds;
    } cases[] = {{0.03, 0.02, 90}, {0.011, 0.01, 50}, {0.05, 0.05, 40},
                 {0.2, 0.1, 160},  {0.4, 0, 0},       {0.005, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *workload = workload_of(cases[i].half_width, "same");
        const struct res_more_rounds more = res_more_rounds(typed_workload(workload, "glibc"));
        CHECK(fabs(more.width - 2 * cases[i].half_width) < 1e-9);
        CHECK(more.until == cases[i].until);
        CHECK_U64(more.rounds, cases[i].rounds);
        if (more.until > 0) /* three entries, a second each, and their warm-ups */
            CHECK(fabs(more.elapsed_ns - 3e9 * ((double)more.rounds + 1)) < 1);
        json_decref(workload);
    }
}

TEST(the_advice_names_them)
{
    CHECK(advises(0.03, "same", "Stay with glibc"));
    CHECK(advises(0.03, "same",
                  "less than 3 % would not have been seen: --until 2% (some 90 rounds, 4 min 33 s)"));
    CHECK(advises(0.03, "undecided",
                  "jemalloc is undecided: more rounds may decide, --until 2% (some 90 rounds"));
    CHECK(advises(0.2, "same", "No verdict on time: the noise (-10 to +10 %)"));
    CHECK(advises(0.2, "same", "on a quieter machine, or with --until 10% (some 160 rounds, 8 min 03 s)"));
    CHECK(advises(0.4, "same",
                  "quieter machine: 'mallab doctor' says what disturbs it; 200 rounds would hardly do"));
    CHECK(advises(0.005, "undecided", "jemalloc is undecided: whole runs say otherwise"));
    char *narrow = advice_of(0.01, "same");
    CHECK_STR(narrow, "Stay with glibc: no candidate is faster or smaller beyond the noise.");
    free(narrow);
}

/* A verdict that the table shows is known, however large the noise is in which the others' are lost. */
TEST(who_is_slower_is_said_under_a_large_noise)
{
    json_t *result = json_pack("{s:s}", "baseline", "glibc"), *workload = workload_of(0.2, "same");
    json_t *candidates = json_object_get(workload, "candidates");
    json_array_append_new(candidates, entry_of("tcmalloc", 1.4, 0.02, "slower"));
    char *advice = advice_text(result, workload);
    CHECK(strstr(advice, "Slower than glibc: tcmalloc (40 % more time in allocator calls). "
                         "No verdict on the time of jemalloc: the noise (-10 to +10 %) hides") == advice);
    free(advice);
    json_array_append_new(candidates, entry_of("mimalloc", 1.05, 0.02, "slower"));
    json_array_append_new(candidates, entry_of("other", 0.9, 0.2, "undecided"));
    advice = advice_text(result, workload);
    CHECK(strstr(advice, "Slower than glibc: tcmalloc (40 % more time in allocator calls), mimalloc (5.0 %). "
                         "No verdict on the time of jemalloc, other: the noise") == advice);
    free(advice);
    json_decref(result);
    json_decref(workload);
}

/* Where not all that was live is known, memory figures are not what they seem. */
TEST(no_verdict_on_memory_that_is_not_known)
{
    static const char *const live[] = {"known", "from_middle", "paused", "left_behind"};
    for (size_t i = 0; i < sizeof live / sizeof live[0]; i++) {
        json_t *result = json_pack("{s:s}", "baseline", "glibc"), *workload = workload_of(0.01, "same");
        json_t *candidate = json_array_get(json_object_get(workload, "candidates"), 1);
        json_t *resident = json_object_get(candidate, "resident");
        json_object_set_new(workload, "live", json_string(live[i]));
        json_object_set_new(resident, "peak_verdict", json_string("less"));
        json_object_set_new(resident, "peak_ratio", json_real(0.5));
        char *advice = advice_text(result, workload);
        if (i == 0)
            CHECK(strstr(advice, "Try jemalloc for its memory") != NULL);
        else
            CHECK_STR(
                advice,
                "Stay with glibc: no candidate is faster beyond the noise; no verdict on memory: not all "
                "that was live is known.");
        const char *told = typed_note(&result_with(result, workload)->workloads[0], "live");
        CHECK((told != NULL && strstr(told, "live bytes") != NULL) == (i != 0));
        free(advice);
        json_decref(result);
        json_decref(workload);
    }
}

/* A verdict of steady times, 40 % less, while the quiet figures differ by 10 % and the typical ones by nothing. */
static char *advice_on_saving(bool steady)
{
    json_t *result = json_pack("{s:s}", "baseline", "glibc"), *workload = workload_of(0.01, "same");
    json_t *candidates = json_object_get(workload, "candidates");
    json_t *times[] = {json_object_get(json_array_get(candidates, 0), "time"),
                       json_object_get(json_array_get(candidates, 1), "time")};
    const double quiet_ns[] = {100, 90}, steady_ns[] = {150, 90};
    for (size_t i = 0; i < 2; i++) {
        json_object_set_new(times[i], "quiet_ns_per_op", json_real(quiet_ns[i]));
        if (steady)
            json_object_set_new(times[i], "steady_ns_per_op", json_real(steady_ns[i]));
    }
    json_object_update_new(times[1], json_pack("{s:f, s:f, s:f, s:s}", "ratio", 0.6, "ratio_low", 0.58,
                                               "ratio_high", 0.62, "verdict", "faster"));
    json_object_update_new(workload, json_pack("{s:i, s:i, s:i, s:i}", "ops", 1000100, "inherited_ops", 100,
                                               "threads", 1, "duration_ns", 1000000000));
    char *advice = advice_text(result, workload);
    json_decref(result);
    json_decref(workload);
    return advice;
}

TEST(what_is_saved_is_the_share_that_is_saved)
{
    char *steady = advice_on_saving(true), *whole = advice_on_saving(false);
    CHECK(strstr(steady, "40 % less time") != NULL && strstr(steady, "; 60 ms saved in") != NULL);
    CHECK(strstr(whole, "40 % less time") != NULL && strstr(whole, "; 8 ms saved in") != NULL); /* of 20 ns */
    free(steady);
    free(whole);
}

/* ---- what ended the rounds ------------------------------------------------------------------ */

static bool ended(const char *json, const char *words)
{
    json_t *workload = json_loads(json, 0, NULL);
    const char *said = typed_note(typed_workload(workload, "glibc"), "basis");
    static const char BEFORE[] = " in an order shuffled by seed 0", BEHIND[] = "; the harness' own time";
    char expected[256];
    snprintf(expected, sizeof expected, "%s%s%s", BEFORE, words, BEHIND);
    const bool same = strstr(said, expected) != NULL;
    if (!same)
        fprintf(stderr, "\"%s\"\n\"%s\" was expected\n", said, expected);
    json_decref(workload);
    return same;
}

/* jemalloc has 3 % less at the peak, and holds so much before its first call; glibc 6 MB of 20. */
static json_t *workload_with_start(double start_bytes)
{
    json_t *workload = workload_of(0.011, "same"), *candidates = json_object_get(workload, "candidates");
    json_t *base = json_object_get(json_array_get(candidates, 0), "resident");
    json_t *other = json_object_get(json_array_get(candidates, 1), "resident");
    json_object_set_new(base, "start_bytes", json_real(6e6));
    json_object_set_new(base, "peak_bytes", json_real(20e6));
    json_object_set_new(other, "start_bytes", json_real(start_bytes));
    json_object_set_new(other, "peak_bytes", json_real(19.4e6));
    json_object_set_new(other, "peak_ratio", json_real(0.97));
    json_object_set_new(other, "peak_verdict", json_string("less"));
    return workload;
}

TEST(less_memory_is_no_advice_where_more_is_held_from_the_start)
{
    static const struct {
        double start_bytes;
        bool advised, told;
    } cases[] = {{6e6, true, false}, {6.5e6, true, true}, {10e6, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *result = json_pack("{s:s}", "baseline", "glibc");
        json_t *workload = workload_with_start(cases[i].start_bytes);
        char *advice = advice_text(result, workload);
        const char *told = typed_note(&result_with(result, workload)->workloads[0], "at start");
        CHECK((strstr(advice, "jemalloc") != NULL) == cases[i].advised);
        CHECK((told != NULL && strstr(told, "jemalloc") != NULL) == cases[i].told);
        free(advice);
        json_decref(result);
        json_decref(workload);
    }
}

/* jemalloc takes 40 % less time: 60 ms; a run is recorded over so long. */
static char *advice_recorded_over(json_int_t duration_ns, const char *peak_verdict, double start_bytes)
{
    json_t *result = json_pack("{s:s}", "baseline", "glibc"), *workload = workload_with_start(start_bytes);
    json_t *other = json_array_get(json_object_get(workload, "candidates"), 1);
    json_object_update_new(json_object_get(other, "time"),
                           json_pack("{s:f, s:f, s:f, s:s}", "ratio", 0.6, "ratio_low", 0.58, "ratio_high",
                                     0.62, "verdict", "faster"));
    json_object_set_new(json_object_get(other, "resident"), "peak_verdict", json_string(peak_verdict));
    json_object_update_new(workload, json_pack("{s:i, s:i, s:i, s:I}", "ops", 7500000, "inherited_ops", 0,
                                               "threads", 1, "duration_ns", duration_ns));
    char *advice = advice_text(result, workload);
    json_decref(result);
    json_decref(workload);
    return advice;
}

/* Live bytes at the end of 50 MB at the peak; below 0: not told. */
static const char *end_words_of(double live_end_bytes)
{
    json_t *workload = workload_of(0.01, "same");
    json_t *run = json_array_get(
        json_object_get(json_array_get(json_object_get(workload, "candidates"), 0), "runs"), 0);
    json_object_set_new(workload, "live_peak_bytes", json_integer(50000000));
    if (live_end_bytes >= 0)
        json_object_set_new(run, "live_end_bytes", json_real(live_end_bytes));
    const char *words = typed_note(typed_workload(workload, "glibc"), "at end");
    json_decref(workload);
    return words;
}

TEST(the_end_of_a_program_that_was_torn_down_is_told_as_one)
{
    const char *none = end_words_of(-1), *much = end_words_of(5.1e6), *little = end_words_of(9000),
               *nothing = end_words_of(0);
    CHECK(none == NULL && much == NULL);
    CHECK(little != NULL && strstr(little, "it held 9") != NULL && strstr(little, "end and idle") != NULL);
    CHECK(nothing != NULL);
}

TEST(time_saved_that_is_negligible_leads_no_advice)
{
    char *much = advice_recorded_over(59000000000, "same", 6e6);
    char *little = advice_recorded_over(61000000000, "same", 6e6);
    char *small = advice_recorded_over(61000000000, "less", 6e6);
    CHECK(strstr(much, "Try jemalloc: 40 % less time") != NULL && strstr(much, "negligible") == NULL);
    CHECK(strstr(much, "before the first call") == NULL);
    CHECK_STR(little, "Stay with glibc: none is smaller; jemalloc takes 40 % less time in allocator calls, "
                      "which is negligible: 60 ms saved in a run recorded over 61 s.");
    CHECK(strstr(small, "Try jemalloc for its memory") != NULL);
    CHECK(strstr(small, "40 % less time in allocator calls, which is negligible: 60 ms saved") != NULL);
    free(much);
    free(little);
    free(small);
}

TEST(advice_by_time_counts_what_is_held_from_the_start)
{
    char *advice = advice_recorded_over(1000000000, "same", 10e6);
    CHECK(strstr(advice, "Try jemalloc: 40 % less time") != NULL);
    CHECK(strstr(advice, "besides 4.0 MB more that it holds before the first call") != NULL);
    free(advice);
}

TEST(what_ended_the_rounds_is_said)
{
    CHECK(ended("{\"candidates\": [{\"name\": \"glibc\"}], \"rounds\": 16, \"stopped\": {\"by\": \"until\", "
                "\"width\": 0.015, \"until_width\": 0.02}}",
                ", ended by --until 2%: the widest interval of time is 1.5 %"));
    CHECK(ended("{\"candidates\": [{\"name\": \"glibc\"}], \"rounds\": 30, \"stopped\": {\"by\": "
                "\"time_budget\", \"width\": 0.031, \"elapsed_ns\": "
                "59000000000,"
                "\"time_budget_ns\": 60000000000}}",
                ", ended by the time budget of 60 s: the widest interval of time is 3.1 %"));
    CHECK(ended("{\"candidates\": [{\"name\": \"glibc\"}], \"rounds\": 8, \"stopped\": {\"by\": "
                "\"time_budget\", \"width\": null, \"elapsed_ns\": 9000000000,"
                "\"time_budget_ns\": 1000000000}}",
                ", the fewest of which there is a verdict: the time budget of 1 s was spent before"));
    CHECK(ended("{\"candidates\": [{\"name\": \"glibc\"}], \"rounds\": 200, \"stopped\": {\"by\": "
                "\"rounds_max\", \"width\": 0.05, \"until_width\": 0.02}}",
                ", no more are made (-n): the widest interval of time is still 5 %"));
    CHECK(ended("{\"candidates\": [{\"name\": \"glibc\"}], \"rounds\": 10, \"stopped\": {\"by\": \"rounds\", "
                "\"width\": 0.05, \"rounds_max\": 10}}",
                ""));
    CHECK(ended("{\"candidates\": [{\"name\": \"glibc\"}], \"rounds\": 10}", ""));
}

TEST(ctrl_c_is_told_by_what_it_cut_short)
{
    CHECK(ended("{\"candidates\": [{\"name\": \"glibc\"}], \"rounds\": 5, \"stopped\": {\"by\": "
                "\"interrupt\", \"width\": 0.05, \"until_width\": null,"
                "\"time_budget_ns\": null, \"rounds_max\": 30}}",
                ", stopped before the 30 asked for"));
    CHECK(ended("{\"candidates\": [{\"name\": \"glibc\"}], \"rounds\": 20, \"stopped\": {\"by\": "
                "\"interrupt\", \"width\": 0.05, \"until_width\": 0.02,"
                "\"time_budget_ns\": null, \"rounds_max\": 200}}",
                ", stopped before --until 2% was reached: the widest interval of time is still 5 %"));
    CHECK(ended("{\"candidates\": [{\"name\": \"glibc\"}], \"rounds\": 20, \"stopped\": {\"by\": "
                "\"interrupt\", \"width\": null, \"until_width\": null,"
                "\"elapsed_ns\": 12000000000, \"time_budget_ns\": 60000000000, \"rounds_max\": 200}}",
                ", stopped 12 s into the time budget of 60 s"));
}

RUN_TESTS(T(what_to_set_is_told_for_a_shell), T(the_winner_is_what_is_to_deploy),
          T(no_verdict_on_memory_that_is_not_known),
          T(the_end_of_a_program_that_was_torn_down_is_told_as_one),
          T(rounds_are_named_by_the_width_that_they_reach), T(the_advice_names_them),
          T(who_is_slower_is_said_under_a_large_noise), T(what_is_saved_is_the_share_that_is_saved),
          T(less_memory_is_no_advice_where_more_is_held_from_the_start),
          T(time_saved_that_is_negligible_leads_no_advice),
          T(advice_by_time_counts_what_is_held_from_the_start), T(what_ended_the_rounds_is_said),
          T(ctrl_c_is_told_by_what_it_cut_short))
