/* test_results_plan - what workloads count for, which are drawn, which cells they become; whether a node is the plan's. */
#include <math.h>

#include "footprint/base/support.h"
#include "harness.h"
#include "results/measure/base/random.h"
#include "results/measure/plan/cell.h"
#include "results/measure/plan/plan.h"
#include "results/measure/plan/strata.h"

#define NEAR(actual, expected) CHECK(fabs((actual) - (expected)) < 1e-9)

/* ---- shares and rows --------------------------------------------------------------------------- */

static struct res_plan_item item_of(const char *label, uint64_t digest, uint64_t cpu_ns)
{
    struct res_plan_item item = {.label = res_strdup(label), .workload = res_strdup("workloads/x.wl")};
    item.facts.file_digest = digest;
    item.facts.threads = 1;
    item.facts.process.cpu_user_ns = cpu_ns;
    item.facts.live_peak_bytes = 100 * cpu_ns;
    return item;
}

static void release(struct res_plan_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(items[i].label);
        free(items[i].workload);
    }
}

TEST(shares_are_as_asked)
{
    struct res_plan_item items[] = {item_of("b", 1, 10), item_of("a", 2, 20), item_of("b", 3, 70)};
    char *problem = NULL;
    CHECK(res_plan_weigh(items, 3, "hosts", NULL, &problem));
    CHECK_STR(items[0].label, "a"); /* by label, then digest */
    NEAR(items[0].share, 0.5);
    NEAR(items[1].share, 0.25);
    CHECK(res_plan_weigh(items, 3, "cpu", NULL, &problem));
    NEAR(items[0].share, 0.2);
    NEAR(items[2].share, 0.7);
    CHECK(res_plan_weigh(items, 3, "bytes", NULL, &problem)); /* no resident peak: live bytes */
    NEAR(items[2].share, 0.7);
    CHECK(res_plan_weigh(items, 3, "file", "# x\na\t1\nb\t3\r\nc\t5", &problem));
    NEAR(items[0].share, 0.25);
    NEAR(items[1].share, 0.375);
    static const char *const BAD[] = {
        "", "a\t1\n", "a\t1\nb\t0\n", "a\t1\nb\t-1\n", "a\t1\nb\tnan\n", "a\t1\nb\t1x\n", "a\t1\nb 1\n"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        CHECK(!res_plan_weigh(items, 3, "file", BAD[i], &problem));
        CHECK(problem != NULL);
        free(problem);
        problem = NULL;
    }
    items[0].facts.process.cpu_user_ns = 0;
    CHECK(!res_plan_weigh(items, 3, "cpu", NULL, &problem));
    free(problem);
    release(items, 3);
}

TEST(blocks_are_the_outer_loop)
{
    struct res_plan_item items[] = {item_of("b", 1, 10), item_of("a", 2, 20), item_of("c", 3, 70)};
    struct res_plan plan = {.seed = 5};
    char *problem = NULL;
    size_t labels;
    CHECK(res_plan_weigh(items, 3, "cpu", NULL, &problem));
    items[2].share = 0; /* not drawn */
    res_plan_add(&plan, items, 3, 2, 8);
    CHECK_U64(plan.row_count, 4);
    CHECK_STR(plan.rows[0].label, "a");
    CHECK_STR(plan.rows[1].label, "b");
    CHECK_STR(plan.rows[2].label, "a");
    CHECK_U64(plan.rows[2].block, 1);
    CHECK(plan.rows[0].seed != plan.rows[2].seed && plan.rows[0].seed < UINT64_C(1) << 53);
    CHECK_U64(res_plan_workloads(&plan, &labels), 2);
    CHECK_U64(labels, 2);
    const struct res_plan_wanted wanted[] = {{.label = "b", .any_digest = true},
                                             {.label = "b", .file_digest = 1}};
    CHECK(res_plan_again(&plan, wanted, 2, 2, &problem)); /* named twice is named once */
    CHECK_U64(plan.row_count, 6);
    CHECK_U64(plan.rows[4].block, 2);
    CHECK_U64(plan.rows[5].block, 3);
    CHECK(plan.rows[5].share == plan.rows[1].share);
    const struct res_plan_wanted other = {.label = "b", .file_digest = 2};
    CHECK(!res_plan_again(&plan, &other, 1, 1, &problem));
    free(problem);
    CHECK(!res_plan_again(&plan, wanted, 1, RES_PLAN_BLOCKS_MAX, &problem));
    free(problem);
    CHECK_U64(plan.row_count, 6);
    release(items, 3);
    res_plan_release(&plan);
}

TEST(equal_shares_count_as_many)
{
    struct res_plan plan = {0};
    struct res_plan_item items[5];
    char *problem = NULL, label[2] = "a";
    for (size_t i = 0; i < 5; i++, label[0]++)
        items[i] = item_of(label, i, 1);
    CHECK(res_plan_weigh(items, 5, "hosts", NULL, &problem));
    res_plan_add(&plan, items, 5, 3, 8);
    NEAR(res_plan_n_eff(&plan), 5);
    release(items, 5);
    res_plan_release(&plan);
}

/* ---- who is drawn ------------------------------------------------------------------------------ */

#define GROUPS 5u
#define EACH   20u

/* Five heaps of points, far from each other. */
static void fill(struct res_stratum_item *items, uint64_t seed)
{
    struct res_random random = res_random_from(seed);
    double sum = 0;
    for (size_t i = 0; i < GROUPS * EACH; i++) {
        items[i] = (struct res_stratum_item){.share = 1 + (double)res_random_below(&random, 50)};
        items[i].features[i % GROUPS] = 10;
        items[i].features[GROUPS] = (double)res_random_below(&random, 1000) / 1000;
        sum += items[i].share;
    }
    for (size_t i = 0; i < GROUPS * EACH; i++)
        items[i].share /= sum;
}

TEST(clusters_are_found)
{
    static struct res_stratum_item items[GROUPS * EACH];
    size_t cluster[GROUPS * EACH], medoids[GROUPS];
    unsigned right = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        fill(items, seed);
        CHECK_U64(res_strata_cluster(items, GROUPS * EACH, GROUPS, seed, cluster, medoids), GROUPS);
        bool same = true;
        for (size_t i = GROUPS; i < GROUPS * EACH; i++)
            same = same && cluster[i] == cluster[i % GROUPS];
        for (size_t k = 0; k < GROUPS; k++)
            CHECK_U64(cluster[medoids[k]], k);
        right += same;
    }
    CHECK(right >= 18); /* of 20 seeds, which are these: a beginning may be in one heap twice */
    for (size_t i = 0; i < GROUPS * EACH; i++)
        memset(items[i].features, 0, sizeof items[i].features);
    CHECK_U64(res_strata_cluster(items, GROUPS * EACH, GROUPS, 1, cluster, medoids), 1); /* all are alike */
}

/* Whatever is drawn counts for all; over many seeds, each counts for itself. */
TEST(who_is_drawn_counts_for_all)
{
    static struct res_stratum_item items[GROUPS * EACH];
    double truth = 0, mean = 0;
    const unsigned seeds = 2000;
    fill(items, 3);
    for (size_t i = 0; i < GROUPS * EACH; i++)
        truth += items[i].share * (double)(i * i % 17);
    for (uint64_t seed = 0; seed < seeds; seed++) {
        double sum = 0, estimate = 0;
        const size_t drawn = res_strata_draw(items, GROUPS * EACH, 2 * GROUPS, seed);
        size_t count = 0;
        for (size_t i = 0; i < GROUPS * EACH; i++) {
            sum += items[i].drawn;
            estimate += items[i].drawn * (double)(i * i % 17);
            count += items[i].drawn > 0;
        }
        CHECK(drawn == 2 * GROUPS && count == drawn);
        NEAR(sum, 1);
        mean += estimate / seeds;
    }
    CHECK(fabs(mean - truth) < 0.15); /* its standard error is 0.03 */
}

TEST(few_and_large_ones_are_drawn_as_well)
{
    struct res_stratum_item items[3] = {{.share = 0.9}, {.share = 0.06}, {.share = 0.04}};
    items[0].features[0] = items[1].features[0] = items[2].features[0] = 1;
    items[1].features[1] = 0.1;
    CHECK_U64(res_strata_draw(items, 3, 2, 1), 2);
    NEAR(items[0].drawn, 0.9); /* more than half: it is always there, for itself */
    NEAR(items[1].drawn + items[2].drawn, 0.1);
    CHECK_U64(res_strata_represent(items, 3, 1, 1), 1);
    NEAR(items[0].drawn, 1);
    struct res_stratum_item one = {.share = 1};
    CHECK_U64(res_strata_draw(&one, 1, 2, 1), 1);
    NEAR(one.drawn, 1);
}

TEST(features_are_of_the_profile)
{
    double features[RES_FEATURES], sizes = 0;
    const struct res_workload workload = {
        .ops = 1000, .duration_ns = 1000000000, .live_peak_bytes = 1 << 20, .threads = 3};
    json_t *profile = json_pack("{s:[{s:i, s:i}, {s:i, s:i}], s:[{s:i, s:i}]}", "size_classes",
                                "size_max_bytes", 16, "requests", 30, "size_max_bytes", 4096, "requests", 10,
                                "lifetimes", "lifetime_max_ns", 1 << 20, "objects", 7);
    res_features_of(profile, &workload, features);
    json_decref(profile);
    NEAR(features[0], sqrt(0.75));
    for (size_t i = 0; i < 8; i++)
        sizes += features[i] * features[i];
    NEAR(sizes, 1);
    NEAR(features[RES_FEATURES_MIXED], log(1001));
    NEAR(features[RES_FEATURES_MIXED + 2], log(4));
    res_features_of(NULL, &workload, features); /* unavailable */
    NEAR(features[0], 0);
    NEAR(features[RES_FEATURES_MIXED], log(1001));
}

/* ---- a node ------------------------------------------------------------------------------------ */

TEST(a_node_is_told_apart)
{
    struct res_machine machine = {
        .cpu = (char *)(uintptr_t) "Some CPU", .architecture = (char *)(uintptr_t) "x86_64", .cpus = 8};
    struct res_plan plan = {.mallab_version = (char *)(uintptr_t)MALLAB_VERSION,
                            .machine = (char *)(uintptr_t)RES_PLAN_ANY};
    CHECK(res_cell_other_machine(&plan, &machine) == NULL);
    char *kind = res_machine_kind(&machine);
    CHECK_STR(kind, "Some CPU, 8 cpus, x86_64");
    plan.machine = kind;
    CHECK(res_cell_other_machine(&plan, &machine) == NULL);
    machine.cpus = 4;
    char *problem = res_cell_other_machine(&plan, &machine);
    CHECK(problem != NULL && strstr(problem, "4 cpus") != NULL && strstr(problem, "8 cpus") != NULL);
    free(problem);
    free(kind);
}

TEST(a_result_that_is_not_whole_is_told)
{
    struct res_result_entry entries[2] = {{.name = (char *)(uintptr_t) "a", .run_count = 8},
                                          {.name = (char *)(uintptr_t) "b", .run_count = 8}};
    struct res_result_entry floor = {.run_count = 8};
    struct res_result_workload workload = {
        .candidates = entries, .candidate_count = 2, .rounds = 8, .floor = &floor};
    struct res_result result = {.workloads = &workload, .workload_count = 1};
    const struct res_plan_row row = {.rounds = 8};
    workload.control.run_count = 8;
    CHECK(res_cell_incomplete(&result, &row) == NULL);
    entries[1].failed = (char *)(uintptr_t) "it crashed"; /* is a result */
    entries[1].run_count = 3;
    CHECK(res_cell_incomplete(&result, &row) == NULL);
    size_t *const short_of[] = {&entries[0].run_count, &workload.control.run_count, &floor.run_count};
    for (size_t i = 0; i < 3; i++) {
        *short_of[i] = 7;
        char *problem = res_cell_incomplete(&result, &row);
        CHECK(problem != NULL);
        free(problem);
        *short_of[i] = 8;
    }
    result.stopped = true;
    char *problem = res_cell_incomplete(&result, &row);
    CHECK(problem != NULL);
    free(problem);
}

RUN_TESTS(T(shares_are_as_asked), T(blocks_are_the_outer_loop), T(equal_shares_count_as_many),
          T(clusters_are_found), T(who_is_drawn_counts_for_all), T(few_and_large_ones_are_drawn_as_well),
          T(features_are_of_the_profile), T(a_node_is_told_apart), T(a_result_that_is_not_whole_is_told))
