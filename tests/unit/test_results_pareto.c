/* test_results_pareto.c - who beats whom: only what is beyond the noise, and never by being much worse elsewhere. */
#include <math.h>

#include "results/measure/figures/entry_figures.h"
#include "results/measure/figures/pareto.h"
#include "unit/harness.h"
#include "unit/typed.h"

#define ROUNDS 10

struct scene {
    double noise; /* of the control's interval, both ways */
    int rounds;
    bool memory_pass;
};

static const struct scene QUIET = {.noise = 0.01, .rounds = ROUNDS};

static json_t *difference(double ratio, const char *prefix, const char *better, const char *worse)
{
    static char keys[4][32];
    const char *const suffixes[] = {"ratio", "ratio_low", "ratio_high", "verdict"};
    for (int i = 0; i < 4; i++)
        snprintf(keys[i], sizeof keys[i], "%s%s", prefix, suffixes[i]);
    const char *verdict = ratio < 0.99 ? better : ratio > 1.01 ? worse : "same";
    return json_pack("{s:f, s:f, s:f, s:s}", keys[0], ratio, keys[1], ratio * 0.999, keys[2], ratio * 1.001,
                     keys[3], verdict);
}

static json_t *runs_of(double ns, double peak)
{
    json_t *runs = json_array();
    for (int i = 0; i < ROUNDS; i++)
        json_array_append_new(runs, json_pack("{s:f, s:i, s:{s:f}}", "ns_per_op", ns * (1 + 0.001 * (i % 3)),
                                              "faults_minor", 100 + i, "resident", "peak_bytes", peak));
    return runs;
}

/* The baseline takes 100 ns and 100 bytes. */
static json_t *candidate(const char *name, double ns, double peak)
{
    json_t *object = json_pack("{s:s, s:n, s:o, s:o, s:o, s:o}", "name", name, "failed", "time",
                               difference(ns / 100, "", "faster", "slower"), "resident",
                               difference(peak / 100, "peak_", "less", "more"), "runs", runs_of(ns, peak),
                               "memory_runs", runs_of(0, peak));
    json_object_set_new(json_object_get(object, "time"), "steady_ns_per_op", json_real(ns));
    json_object_set_new(json_object_get(object, "resident"), "peak_bytes", json_real(peak));
    return object;
}

static json_t *workload(struct scene scene, json_t *candidates)
{
    json_t *control = candidate("base", 100, 100);
    json_t *time = json_object_get(control, "time");
    json_object_set_new(time, "ratio_low", json_real(1 - scene.noise));
    json_object_set_new(time, "ratio_high", json_real(1 + scene.noise));
    return json_pack("{s:i, s:i, s:i, s:o, s:o, s:n}", "rounds", scene.rounds, "memory_rounds",
                     scene.memory_pass ? ROUNDS : 0, "live_peak_bytes", 80, "candidates", candidates,
                     "control", control, "floor");
}

static const struct res_result_workload *judged_workload(json_t *json)
{
    json_t *result = json_pack("{s:[O]}", "workloads", json);
    struct res_result *judged = typed(result);
    res_entry_figures_complete(judged);
    json_decref(result);
    return &judged->workloads[0];
}

/* As "a<b a<c": who is beaten by whom; "?" is one that was not compared. Frees the workload. */
static char *told(json_t *object)
{
    static char words[512];
    const struct res_result_workload *judged = judged_workload(object);
    size_t length = 0;
    words[0] = '\0';
    for (size_t i = 0; i < judged->candidate_count; i++) {
        const struct res_result_entry *entry = &judged->candidates[i];
        if (!entry->beaten_by.known)
            length += (size_t)snprintf(words + length, sizeof words - length, "%s? ", entry->name);
        for (size_t k = 0; k < entry->beaten_by.count; k++)
            length += (size_t)snprintf(words + length, sizeof words - length, "%s<%s ", entry->name,
                                       entry->beaten_by.items[k]);
    }
    json_decref(object);
    return words;
}

TEST(better_in_one_and_not_worse_in_the_other_beats)
{
    /* fast: less time, the same memory. large: less time still, twice the memory. slow: worse in both. */
    CHECK_STR(told(workload(QUIET,
                            json_pack("[o, o, o, o]", candidate("base", 100, 100), candidate("fast", 80, 100),
                                      candidate("large", 60, 200), candidate("slow", 120, 120)))),
              "base<fast slow<base slow<fast ");
}

TEST(a_little_worse_is_forgiven_up_to_the_margin)
{
    CHECK_STR(told(workload(QUIET, json_pack("[o, o, o]", candidate("base", 100, 100),
                                             candidate("a", 50, 100), candidate("b", 49, 130)))),
              "base<a b<a ");
    /* also where it is shown, against the baseline and between others */
    CHECK_STR(
        told(workload(QUIET, json_pack("[o, o]", candidate("base", 100, 100), candidate("a", 50, 103)))),
        "base<a ");
    CHECK_STR(told(workload(QUIET, json_pack("[o, o, o]", candidate("base", 100, 100),
                                             candidate("a", 200, 300), candidate("b", 100, 310)))),
              "a<base a<b b<base ");
    CHECK_STR(
        told(workload(QUIET, json_pack("[o, o]", candidate("base", 100, 100), candidate("a", 50, 106)))), "");
}

TEST(a_trade_within_the_margin_beats_neither)
{
    CHECK_STR(
        told(workload(QUIET, json_pack("[o, o]", candidate("base", 100, 100), candidate("a", 97, 103)))), "");
    CHECK_STR(told(workload(QUIET, json_pack("[o, o, o]", candidate("base", 100, 100),
                                             candidate("a", 50, 200), candidate("b", 51.5, 194)))),
              "");
}

TEST(what_noise_hides_beats_nobody)
{
    /* a and b differ by 20 %, inside noise of 40 %: what b saves in memory could cost that much time. */
    const struct scene loud = {.noise = 0.4, .rounds = ROUNDS};
    CHECK_STR(told(workload(loud, json_pack("[o, o, o]", candidate("base", 100, 100),
                                            candidate("a", 100, 100), candidate("b", 120, 90)))),
              "");
    /* with no more time b beats both */
    CHECK_STR(told(workload(loud, json_pack("[o, o, o]", candidate("base", 100, 100),
                                            candidate("a", 100, 100), candidate("b", 100, 90)))),
              "base<b a<b ");
}

TEST(few_rounds_failures_and_doubt)
{
    const struct scene few = {.noise = 0.01, .rounds = 7};
    CHECK_STR(told(workload(few, json_pack("[o, o]", candidate("base", 100, 100), candidate("a", 50, 50)))),
              "base? a? ");
    json_t *failed = candidate("a", 50, 50);
    json_object_set_new(failed, "failed", json_string("crash"));
    CHECK_STR(told(workload(QUIET, json_pack("[o, o]", candidate("base", 100, 100), failed))), "a? ");
    /* memory that is not predicted decides nothing between others than the baseline, whose verdict is undecided then */
    json_t *doubted = candidate("a", 50, 50);
    json_object_set_new(json_object_get(doubted, "resident"), "predicted", json_false());
    json_object_set_new(json_object_get(doubted, "resident"), "peak_verdict", json_string("undecided"));
    json_object_set_new(json_object_get(doubted, "resident"), "peak_ratio_high", json_real(1.5));
    const struct scene memory = {.noise = 0.01, .rounds = ROUNDS, .memory_pass = true};
    CHECK_STR(told(workload(memory, json_pack("[o, o, o]", candidate("base", 100, 100),
                                              candidate("b", 99.5, 100), doubted))),
              "");
}

TEST(marks_need_two)
{
    char *name = (char[]){"a"};
    struct res_result_entry one[] = {{.beaten_by = {.known = true}}, {.name = name}};
    struct res_result_entry two[] = {{.beaten_by = {.known = true}},
                                     {.beaten_by = {.items = &name, .count = 1, .known = true}}};
    CHECK(!res_is_unbeaten(&(struct res_result_workload){.candidates = one, .candidate_count = 2}, 0));
    CHECK(res_is_unbeaten(&(struct res_result_workload){.candidates = two, .candidate_count = 2}, 0));
    CHECK(!res_is_unbeaten(&(struct res_result_workload){.candidates = two, .candidate_count = 2}, 1));
}

TEST(a_file_cannot_make_it_compare_without_end)
{
    json_t *candidates = json_array();
    for (unsigned i = 0; i <= RES_PARETO_CANDIDATES_MAX; i++)
        json_array_append_new(candidates, candidate("x", 100 - i, 100));
    json_t *object = workload(QUIET, candidates);
    const struct res_result_workload *judged = judged_workload(object);
    CHECK_U64(judged->candidate_count, RES_PARETO_CANDIDATES_MAX + 1);
    CHECK(!judged->candidates[0].beaten_by.known);
    json_decref(object);
}

TEST(figures_that_follow)
{
    json_t *object = workload(QUIET,
                              json_pack("[o, o]", candidate("base", 100, 100), candidate("a", 50, 60)));
    json_t *other = json_array_get(json_object_get(object, "candidates"), 1);
    const struct res_result_entry *entry = &judged_workload(object)->candidates[1];
    CHECK(entry->faults_minor == 104.5 && entry->blow_up == 0.75 && entry->beaten_by.known);
    json_object_del(object, "live_peak_bytes");
    json_object_del(other, "runs");
    json_object_del(json_object_get(other, "time"), "ratio");
    entry = &judged_workload(object)->candidates[1];
    CHECK(isnan(entry->faults_minor) && isnan(entry->blow_up) && !entry->beaten_by.known);
    json_decref(object);
}

RUN_TESTS(T(better_in_one_and_not_worse_in_the_other_beats), T(a_little_worse_is_forgiven_up_to_the_margin),
          T(a_trade_within_the_margin_beats_neither), T(what_noise_hides_beats_nobody),
          T(few_rounds_failures_and_doubt), T(marks_need_two), T(a_file_cannot_make_it_compare_without_end),
          T(figures_that_follow))
