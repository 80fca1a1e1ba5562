/* test_results_rounds.c - what is told of rounds and of what ended them; what a start costs; who goes on in a search. */
#include <math.h>

#include "footprint/base/support.h"
#include "results/measure/experiment/experiment.h"
#include "results/measure/figures/figures.h"
#include "results/report/notes/notes.h"
#include "results/report/table/table.h"
#include "unit/harness.h"
#include "unit/typed.h"

/* An entry whose interval is so wide around its ratio; each of its runs takes a second, and its warm-up. */
static json_t *even_entry_of(const char *name, double half_width, const char *verdict)
{
    return json_of("{'name': '%s', 'warmup_ns': 1000000000, 'time': {'ratio': 1, 'ratio_low': %g, "
                   "'ratio_high': %g, 'verdict': '%s', 'steady_ns_per_op': 20}, 'resident': {'peak_verdict': "
                   "'same'}, 'runs': [{'ns_per_op': 20, 'elapsed_ns': 1000000000}], 'memory_runs': []}",
                   name, 1 - half_width, 1 + half_width, verdict);
}

TEST(what_to_set_is_told_for_a_shell)
{
    static const struct {
        const char *how, *library, *environment, *words; /* NULL: nothing */
    } CASES[] = {
        {"libc", "/lib/x/libc.so.6", "", NULL},
        {"linked", "/lib/x/libc.so.6", "", "LD_PRELOAD=/lib/x/libc.so.6"},
        {"preloaded", "/lib/x/libc.so.6", "", "LD_PRELOAD="},
        {"libc", "/lib/x/libc.so.6", "'GLIBC_TUNABLES': 'a=2'", "GLIBC_TUNABLES=a=2"},
        {"libc", "/lib/it\\u0027s libx.so", "'CONF': 'a:1,b:2'",
         "LD_PRELOAD='/lib/it'\\''s libx.so' CONF=a:1,b:2"},
        {"libc", "/l.so", "'A;rm x': '1'", "LD_PRELOAD=/l.so"}, /* a name that is none would be a command */
        {"libc", "/l;id.so", "'A': '$(id) `id`&'", "LD_PRELOAD='/l;id.so' A='$(id) `id`&'"},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        json_t *workload = json_of("{'candidates': [{'library': '%s', 'environment': {%s}}],"
                                   " 'runs_on': {'name': 'tcmalloc', 'how': '%s'}}",
                                   CASES[i].library, CASES[i].environment, CASES[i].how);
        const struct res_result_workload *known = typed_workload(workload, "glibc");
        OWNED_TEXT *line = res_deploy_line(known->runs_on->how, known->candidates[0].library,
                                           &known->candidates[0].environment);
        CHECK_STR(line != NULL ? line : "nothing", CASES[i].words != NULL ? CASES[i].words : "nothing");
    }
}

/* ---- what ended the rounds ------------------------------------------------------------------ */

TEST(ctrl_c_is_told_by_what_it_cut_short)
{
    static const char *const CASES[][2] = {
        {"'rounds': 10, 'stopped': {'by': 'rounds', 'width': 0.05, 'rounds_max': 10}", ""},
        {"'rounds': 10", ""},
        {"'rounds': 5, 'stopped': {'by': 'interrupt', 'width': 0.05, 'until_width': null,"
         " 'time_budget_ns': null, 'rounds_max': 30}",
         ", stopped before the 30 asked for"},
        {"'rounds': 20, 'stopped': {'by': 'interrupt', 'width': 0.05, 'until_width': 0.02,"
         " 'time_budget_ns': null, 'rounds_max': 200}",
         ", stopped before the 200 asked for"},
        {"'rounds': 20, 'stopped': {'by': 'interrupt', 'width': null, 'until_width': null,"
         " 'elapsed_ns': 12000000000, 'time_budget_ns': 60000000000, 'rounds_max': 200}",
         ", stopped before the 200 asked for"},
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        char expected[256];
        json_t *workload = json_of("{'ops': 1000000, 'candidates': [{'name': 'glibc'}], %s}", CASES[i][0]);
        const struct res_result_workload *known = typed_workload(workload, "glibc");
        const char *said = typed_note(known, "basis"), *resolution = typed_note(known, "resolution");
        if (i < 3) /* the others lack what a resolution is made of */
            CHECK((resolution != NULL && strstr(resolution, "; interrupted after 5 rounds") != NULL) ==
                  (i == 2));
        snprintf(expected, sizeof expected, " in an order shuffled by seed 0%s; the harness' own time",
                 CASES[i][1]);
        if (strstr(said, expected) == NULL)
            CHECK_STR(said, expected);
    }
}

TEST(what_a_verdict_takes_is_told)
{
    json_t *workload = json_pack("{s:i, s:[o, o], s:o, s:n}", "rounds", 2, "candidates",
                                 even_entry_of("glibc", 0, "same"), even_entry_of("jemalloc", 0.01, "same"),
                                 "control", even_entry_of("glibc", 0.005, "same"), "floor");
    CHECK_STR(typed_note(typed_workload(workload, "glibc"), RES_VERDICT_LABEL),
              "time: no verdict from 2 rounds, it takes 8");
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
    static const struct {
        struct res_score scores[5];
        size_t count, most;
        const char *kept; /* a mark each */
    } CASES[] = {
        /* By turns: time takes 1, memory 3; time 0, memory 2. */
        {{{0.9, 1.2}, {0.5, 2.0}, {1.1, 0.8}, {1.3, 0.4}, {1.2, 1.1}}, 5, 2, "-*-*-"},
        {{{0.9, 1.2}, {0.5, 2.0}, {1.1, 0.8}, {1.3, 0.4}, {1.2, 1.1}}, 5, 4, "****-"},
        {{{NAN, NAN}, {NAN, 0.9}, {1.5, NAN}, {NAN, NAN}}, 4, 3, "-**-"}, /* nobody without figures */
        {{{NAN, NAN}}, 0, 3, ""},
        {{{NAN, 1.1}, {NAN, 1.3}, {NAN, 1.2}}, 3, 2, "*-*"}, /* one figure is enough */
    };
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        bool kept[5];
        char marks[6] = "";
        size_t all = 0;
        const size_t found = res_halving_keep(CASES[i].scores, CASES[i].count, CASES[i].most, kept);
        for (size_t k = 0; k < CASES[i].count; k++) {
            marks[k] = kept[k] ? '*' : '-';
            all += kept[k];
        }
        CHECK_STR(marks, CASES[i].kept);
        CHECK_U64(found, all);
    }
}
