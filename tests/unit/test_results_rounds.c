/* test_results_rounds.c - what is told of rounds and of what ended them; what a start costs; who goes on in a search. */
#include <math.h>
#include <string.h>

#include "footprint/base/support.h"
#include "results/measure/experiment/experiment.h"
#include "results/measure/figures/figures.h"
#include "results/report/notes/notes.h"
#include "results/report/table/table.h"
#include "unit/harness.h"
#include "unit/typed.h"

/* An entry whose interval is so wide around its ratio; each of its 10 runs takes a second, and its warm-up. */
static json_t *even_entry_of(const char *name, double ratio, double half_width, const char *verdict)
{
    json_t *runs = json_array();
    for (int i = 0; i < 10; i++)
        json_array_append_new(
            runs, json_pack("{s:f, s:I}", "ns_per_op", 20.0, "elapsed_ns", (json_int_t)1000000000));
    return json_pack("{s:s, s:I, s:{s:f, s:f, s:f, s:s, s:f}, s:{s:s}, s:o, s:[]}", "name", name, "warmup_ns",
                     (json_int_t)1000000000, "time", "ratio", ratio, "ratio_low", ratio * (1 - half_width),
                     "ratio_high", ratio * (1 + half_width), "verdict", verdict, "steady_ns_per_op", 20.0,
                     "resident", "peak_verdict", "same", "runs", runs, "memory_runs");
}

static json_t *even_workload_of(double half_width, const char *verdict)
{
    return json_pack("{s:i, s:[o, o], s:o, s:n}", "rounds", 10, "candidates",
                     even_entry_of("glibc", 1, 0, "same"), even_entry_of("jemalloc", 1, half_width, verdict),
                     "control", even_entry_of("glibc", 1, half_width / 2, "same"), "floor");
}

static bool deploys_where(const char *how, json_t *entry, const char *words)
{
    json_t *workload = json_pack("{s:[O], s:{s:s, s:s}}", "candidates", entry, "runs_on", "name", "tcmalloc",
                                 "how", how);
    const struct res_result_workload *known = typed_workload(workload, "glibc");
    char *line = res_deploy_line(known->runs_on->how, known->candidates[0].library,
                                 &known->candidates[0].environment);
    const bool equal = words == NULL ? line == NULL : line != NULL && strcmp(line, words) == 0;
    if (!equal)
        fprintf(stderr, "to deploy: %s\n", line != NULL ? line : "nothing");
    free(line);
    json_decref(workload);
    json_decref(entry);
    return equal;
}

static bool deploys(json_t *entry, const char *words)
{
    return deploys_where("libc", entry, words);
}

TEST(what_to_set_is_told_for_a_shell)
{
    CHECK(deploys(json_pack("{s:s, s:{}}", "library", "/lib/x/libc.so.6", "environment"), NULL));
    CHECK(deploys_where("linked", json_pack("{s:s, s:{}}", "library", "/lib/x/libc.so.6", "environment"),
                        "LD_PRELOAD=/lib/x/libc.so.6"));
    CHECK(deploys_where("preloaded", json_pack("{s:s, s:{}}", "library", "/lib/x/libc.so.6", "environment"),
                        "LD_PRELOAD="));
    CHECK(deploys(json_pack("{s:s, s:{s:s}}", "library", "/lib/x/libc.so.6", "environment", "GLIBC_TUNABLES",
                            "glibc.malloc.arena_max=2"),
                  "GLIBC_TUNABLES=glibc.malloc.arena_max=2"));
    CHECK(
        deploys(json_pack("{s:s, s:{s:s}}", "library", "/lib/it's libx.so", "environment", "CONF", "a:1,b:2"),
                "LD_PRELOAD='/lib/it'\\''s libx.so' CONF=a:1,b:2"));
    /* A name that is none would be a command. */
    CHECK(deploys(json_pack("{s:s, s:{s:s}}", "library", "/l.so", "environment", "A;rm x", "1"),
                  "LD_PRELOAD=/l.so"));
    CHECK(deploys(json_pack("{s:s, s:{s:s}}", "library", "/l;id.so", "environment", "A", "$(id) `id`&"),
                  "LD_PRELOAD='/l;id.so' A='$(id) `id`&'"));
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

TEST(ctrl_c_is_told_by_what_it_cut_short)
{
    CHECK(ended("{\"candidates\": [{\"name\": \"glibc\"}], \"rounds\": 10, \"stopped\": {\"by\": \"rounds\", "
                "\"width\": 0.05, \"rounds_max\": 10}}",
                ""));
    CHECK(ended("{\"candidates\": [{\"name\": \"glibc\"}], \"rounds\": 10}", ""));
    CHECK(ended("{\"candidates\": [{\"name\": \"glibc\"}], \"rounds\": 5, \"stopped\": {\"by\": "
                "\"interrupt\", \"width\": 0.05, \"until_width\": null,"
                "\"time_budget_ns\": null, \"rounds_max\": 30}}",
                ", stopped before the 30 asked for"));
    CHECK(ended("{\"candidates\": [{\"name\": \"glibc\"}], \"rounds\": 20, \"stopped\": {\"by\": "
                "\"interrupt\", \"width\": 0.05, \"until_width\": 0.02,"
                "\"time_budget_ns\": null, \"rounds_max\": 200}}",
                ", stopped before the 200 asked for"));
    CHECK(ended("{\"candidates\": [{\"name\": \"glibc\"}], \"rounds\": 20, \"stopped\": {\"by\": "
                "\"interrupt\", \"width\": null, \"until_width\": null,"
                "\"elapsed_ns\": 12000000000, \"time_budget_ns\": 60000000000, \"rounds_max\": 200}}",
                ", stopped before the 200 asked for"));
}

TEST(what_a_verdict_takes_is_told)
{
    json_t *workload = even_workload_of(0.01, "same");
    json_object_set_new(workload, "rounds", json_integer(2));
    json_t *result = json_pack("{s:s, s:[o]}", "baseline", "glibc", "workloads", workload);
    CHECK_STR(typed_note(typed(result)->workloads, RES_VERDICT_LABEL),
              "time: no verdict from 2 rounds, it takes 8");
    json_decref(result);
}

TEST(more_is_told_by_pairs)
{
    double base_cpu[] = {500, 900, 520}, own_cpu[] = {700, 1150, 720};
    const struct res_start_samples base = {base_cpu, 3}, own = {own_cpu, 3}, none = {.count = 0};
    const struct res_start_cost cost = res_start_costs_of(&own, &base);
    CHECK_U64(cost.starts, 3);
    CHECK(fabs(cost.cpu_ns - 720) < 1e-9 && fabs(cost.more_cpu_ns - 200) < 1e-9);
    CHECK(fabs(res_start_costs_of(&base, &base).more_cpu_ns) < 1e-9);
    CHECK(isnan(res_start_costs_of(&own, &none).more_cpu_ns));
    CHECK(isnan(res_start_costs_of(&none, &base).cpu_ns));
}

/* Of as many as fit into the time, one at least. */
TEST(a_start_is_of_the_candidate)
{
    char c_library[] = "libc.so.6";
    struct res_candidate glibc = {.path = c_library};
    const struct res_candidate *const candidates[] = {&glibc, &glibc};
    const struct res_options options = {
        .candidates = candidates, .candidate_count = 2, .starts = 3, .seed = 1};
    struct res_start_cost costs[2];
    for (unsigned cxx_library = 0; cxx_library < 2; cxx_library++) {
        res_start_costs(&options, cxx_library != 0, costs);
        for (size_t i = 0; i < 2; i++) {
            CHECK(costs[i].starts >= 1 && costs[i].starts <= 3);
            CHECK(costs[i].cpu_ns > 0);
        }
        CHECK(fabs(costs[0].more_cpu_ns) < 1e-9);
    }
}

TEST(the_best_of_both_go_on)
{
    /* By turns: time takes 1, memory 3; time 0, memory 2. */
    const struct res_score scores[] = {{0.9, 1.2}, {0.5, 2.0}, {1.1, 0.8}, {1.3, 0.4}, {1.2, 1.1}};
    const bool two[] = {false, true, false, true, false}, four[] = {true, true, true, true, false};
    bool kept[5];
    CHECK_U64(res_halving_keep(scores, 5, 2, kept), 2);
    for (int i = 0; i < 5; i++)
        CHECK_U64(kept[i], two[i]);
    CHECK_U64(res_halving_keep(scores, 5, 4, kept), 4);
    for (int i = 0; i < 5; i++)
        CHECK_U64(kept[i], four[i]);
}

TEST(nobody_without_figures_goes_on)
{
    const struct res_score scores[] = {{NAN, NAN}, {NAN, 0.9}, {1.5, NAN}, {NAN, NAN}};
    bool kept[4];
    CHECK_U64(res_halving_keep(scores, 4, 3, kept), 2);
    CHECK(!kept[0] && kept[1] && kept[2] && !kept[3]);
    CHECK_U64(res_halving_keep(scores, 0, 3, kept), 0);
}

TEST(one_figure_is_enough)
{
    const struct res_score scores[] = {{NAN, 1.1}, {NAN, 1.3}, {NAN, 1.2}};
    bool kept[3];
    CHECK_U64(res_halving_keep(scores, 3, 2, kept), 2);
    CHECK(kept[0] && !kept[1] && kept[2]);
}
