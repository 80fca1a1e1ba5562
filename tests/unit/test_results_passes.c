/* test_results_passes - latency passes with runs made up here: who takes part, what a failure or a stop
 * leaves, and the figures over the passes. */
#include <math.h>
#include <stdlib.h>

#include "footprint/base/support.h"
#include "harness.h"
#include "results/measure/base/random.h"
#include "results/measure/experiment/experiment.h"
#include "results/measure/figures/figures.h"

#define ENTRIES 4u /* base, other, control, floor */

struct lab {
    struct res_trial trial;
    struct res_entry entries[ENTRIES];
    struct res_result_entry told[ENTRIES];
    unsigned runs, runs_of[ENTRIES];
    unsigned fails_at; /* run of entry 1 that fails, from 1; 0: none */
    unsigned stops_at; /* run of all that is stopped, from 1 */
    json_t *last;
};

/* Run n of entry i has a mean of 10 * i + its place in {5, 1, 3}; p99 ten times that. */
static const json_t *run(void *context, struct res_entry *entry, char **ret_reason)
{
    static const double ADDED[] = {5, 1, 3};
    struct lab *lab = context;
    const size_t number = (size_t)(entry - lab->entries);
    const double mean = (number == 3 ? 1 : 10.0 * ((double)number + 1)) + ADDED[lab->runs_of[number] % 3];
    json_decref(lab->last);
    lab->last = NULL;
    if (++lab->runs == lab->stops_at)
        return NULL;
    if (++lab->runs_of[number] == lab->fails_at && number == 1) {
        *ret_reason = res_strdup("it broke");
        return NULL;
    }
    lab->last = json_pack("{s:{s:i, s:f, s:f, s:f, s:[{s:s, s:i, s:f}, {s:s, s:i, s:f}]}}", "latency",
                          "count", 9, "mean_ns", mean, "p99_ns", mean * 10, "max_ns", mean * 100, "by_call",
                          "call", "malloc", "count", 7, "mean_ns", mean + 1, "call", "free", "count", 2,
                          "mean_ns", mean + 2);
    return lab->last;
}

static struct res_passes_runner lab_init(struct lab *lab)
{
    *lab = (struct lab){.trial = {.entry_count = ENTRIES}};
    lab->trial.entries = lab->entries;
    for (size_t i = 0; i < ENTRIES; i++)
        lab->entries[i].told = &lab->told[i];
    lab->entries[2].is_control = true;
    lab->entries[3].is_floor = true;
    return (struct res_passes_runner){.run = run, .context = lab};
}

static void lab_release(struct lab *lab)
{
    for (size_t i = 0; i < ENTRIES; i++) {
        json_decref(lab->entries[i].latency);
        free(lab->entries[i].latency_failed);
    }
    json_decref(lab->last);
}

static void drop(struct res_latency_figures *figures)
{
    if (figures != NULL)
        res_described_release(&RES_LATENCY, figures);
    free(figures);
}

static struct res_latency_figures *latency_of(const struct res_entry *passes, const struct res_entry *floor)
{
    struct res_result_entry entry = {.latency = res_latency_read(passes->latency, passes->latency_failed)};
    struct res_result_entry harness = {
        .latency = floor != NULL ? res_latency_read(floor->latency, floor->latency_failed) : NULL};
    res_latency_measure(&entry, &harness);
    drop(harness.latency);
    return entry.latency;
}

TEST(figures_over_the_passes)
{
    struct lab lab;
    struct res_random random = res_random_from(1);
    const struct res_passes_runner runner = lab_init(&lab);
    CHECK(res_passes_latency(&lab.trial, 3, &random, &runner));
    CHECK_U64(lab.runs, 12);
    CHECK_U64(lab.runs_of[2], 3); /* of the control too: its percentiles are the noise */
    struct res_latency_figures *figures = latency_of(&lab.entries[1], &lab.entries[3]);
    CHECK_U64(figures->passes, 3);
    CHECK_U64(figures->all.count, 9);
    CHECK_U64(figures->all.p99_ns, 230);
    CHECK_U64(figures->all.max_ns, 2500);
    CHECK_U64(figures->all.typical_ns, 23 - 4);
    CHECK(figures->floor_subtracted);
    CHECK(isnan(figures->all.p50_ns)); /* the runs did not say */
    CHECK_U64(figures->by_call_count, 2);
    CHECK_STR(figures->by_call[1].call, "free");
    CHECK_U64(figures->by_call[1].typical_ns, 25 - 6);
    CHECK_U64(figures->run_count, 3);
    drop(figures);
    figures = latency_of(&lab.entries[1], NULL);
    CHECK_U64(figures->all.typical_ns, 23);
    CHECK(!figures->floor_subtracted);
    drop(figures);
    CHECK(latency_of(&(struct res_entry){.latency = NULL}, NULL) == NULL);
    lab_release(&lab);
}

TEST(a_failure_is_told_and_stops_no_other)
{
    struct lab lab;
    struct res_random random = res_random_from(1);
    const struct res_passes_runner runner = lab_init(&lab);
    lab.fails_at = 2;
    CHECK(res_passes_latency(&lab.trial, 3, &random, &runner));
    CHECK_U64(lab.runs_of[0], 3);
    CHECK_U64(lab.runs_of[1], 2); /* not tried again */
    struct res_latency_figures *figures = latency_of(&lab.entries[1], NULL);
    CHECK_STR(figures->unavailable, "it broke");
    CHECK(lab.told[1].failed == NULL);
    drop(figures);
    lab_release(&lab);
}

TEST(what_failed_in_the_rounds_takes_no_part)
{
    struct lab lab;
    struct res_random random = res_random_from(1);
    const struct res_passes_runner runner = lab_init(&lab);
    char reason[] = "before";
    lab.told[1].failed = reason;
    CHECK(res_passes_latency(&lab.trial, 2, &random, &runner));
    CHECK_U64(lab.runs_of[1], 0);
    CHECK(lab.entries[1].latency == NULL);
    lab_release(&lab);
}

TEST(a_stop_drops_what_is_not_whole)
{
    struct lab lab;
    struct res_random random = res_random_from(1);
    const struct res_passes_runner runner = lab_init(&lab);
    lab.stops_at = 5;
    CHECK(!res_passes_latency(&lab.trial, 3, &random, &runner));
    CHECK_U64(lab.runs, 5);
    for (size_t i = 0; i < ENTRIES; i++)
        CHECK(lab.entries[i].latency == NULL);
    lab_release(&lab);
}
