/* test_results_passes.c - latency passes with runs made up here: who takes part, what a failure or a stop leaves, and the figures over the passes;
 * the runs of a group's processes made one: what is added up, memory of those alive together, and what one process alone has. */
#include <math.h>

#include "footprint/base/support.h"
#include "results/measure/base/lives.h"
#include "results/measure/base/random.h"
#include "results/measure/experiment/experiment.h"
#include "results/measure/figures/figures.h"
#include "results/measure/run/run.h"
#include "unit/harness.h"

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

static struct res_latency_figures *latency_of(const struct res_entry *passes)
{
    struct res_result_entry entry = {.latency = res_latency_read(passes->latency, passes->latency_failed)};
    res_latency_measure(&entry);
    return entry.latency;
}

TEST(figures_over_the_passes)
{
    OWNED(lab) lab;
    struct res_random random = res_random_from(1);
    const struct res_passes_runner runner = lab_init(&lab);
    CHECK(res_passes_latency(&lab.trial, 3, &random, &runner));
    CHECK_U64(lab.runs, 12);
    CHECK_U64(lab.runs_of[2], 3); /* of the control too: its percentiles are the noise */
    struct res_latency_figures *figures = latency_of(&lab.entries[1]);
    CHECK_U64(figures->passes, 3);
    CHECK_U64(figures->all.count, 9);
    CHECK_U64(figures->all.p99_ns, 230);
    CHECK_U64(figures->all.max_ns, 2500);
    CHECK(isnan(figures->all.p50_ns)); /* the runs did not say */
    CHECK_U64(figures->run_count, 3);
    drop(figures);
    CHECK(latency_of(&(struct res_entry){.latency = NULL}) == NULL);
}

TEST(a_failure_is_told_and_stops_no_other)
{
    OWNED(lab) lab;
    struct res_random random = res_random_from(1);
    const struct res_passes_runner runner = lab_init(&lab);
    lab.fails_at = 2;
    CHECK(res_passes_latency(&lab.trial, 3, &random, &runner));
    CHECK_U64(lab.runs_of[0], 3);
    CHECK_U64(lab.runs_of[1], 2); /* not tried again */
    struct res_latency_figures *figures = latency_of(&lab.entries[1]);
    CHECK_STR(figures->unavailable, "it broke");
    CHECK(lab.told[1].failed == NULL);
    drop(figures);
}

TEST(what_failed_in_the_rounds_takes_no_part)
{
    OWNED(lab) lab;
    struct res_random random = res_random_from(1);
    const struct res_passes_runner runner = lab_init(&lab);
    char reason[] = "before";
    lab.told[1].failed = reason;
    CHECK(res_passes_latency(&lab.trial, 2, &random, &runner));
    CHECK_U64(lab.runs_of[1], 0);
    CHECK(lab.entries[1].latency == NULL);
}

TEST(a_stop_drops_what_is_not_whole)
{
    OWNED(lab) lab;
    struct res_random random = res_random_from(1);
    const struct res_passes_runner runner = lab_init(&lab);
    lab.stops_at = 5;
    CHECK(!res_passes_latency(&lab.trial, 3, &random, &runner));
    CHECK_U64(lab.runs, 5);
    for (size_t i = 0; i < ENTRIES; i++)
        CHECK(lab.entries[i].latency == NULL);
}

/* A run of `ops` calls in `ns` altogether, with three samples from begin_ns on. */
static struct res_run run_of(uint64_t ops, uint64_t ns, uint64_t begin_ns, uint64_t resident)
{
    struct res_run run = {0};
    char *reason = NULL;
    OWNED_TEXT *text = res_printf(
        "{\"ops\": %llu, \"inherited_ops\": 0, \"digest\": \"%016llx\", \"pass\": \"time\", \"threads\": 1,"
        " \"threads_as\": \"one\", \"complete\": true, \"allocator_ns\": %llu, \"whole_ns_per_op\": %.9g,"
        " \"batch_ns\": [%llu, %llu], \"window_max_ns\": %llu, \"user_ns\": 10, \"system_ns\": 5,"
        " \"faults_minor\": 3, \"proof\": {\"ok\": true}, \"live_end_bytes\": 100,"
        " \"substituted\": [\"x%llu\"],"
        " \"latency\": {\"count\": 1}, \"waste\": {},"
        " \"resident\": {\"start_bytes\": 50, \"peak_bytes\": %llu, \"mean_bytes\": %llu, \"end_bytes\": 20,"
        "  \"idle_bytes\": 10, \"idle_own_bytes\": 1, \"predicted\": true, \"not_predicted_why\": null},"
        " \"samples\": {\"time_ns\": [%llu, %llu, %llu], \"live_bytes\": [1, %llu, 1],"
        "  \"resident_bytes\": [10, %llu, 20]}}",
        (unsigned long long)ops, (unsigned long long)ops, (unsigned long long)ns, (double)ns / (double)ops,
        (unsigned long long)ns / 2, (unsigned long long)ns / 2, (unsigned long long)ns,
        (unsigned long long)ops, (unsigned long long)resident + 1, (unsigned long long)resident / 2,
        (unsigned long long)begin_ns, (unsigned long long)begin_ns + 500, (unsigned long long)begin_ns + 1000,
        (unsigned long long)resident / 2, (unsigned long long)resident);
    CHECK(res_run_parse(text, strlen(text), &run, &reason));
    run.elapsed_ns = 9;
    free(reason);
    return run;
}

static struct res_run merged_of(struct res_run *runs, const struct res_member *members, size_t count)
{
    struct res_run run = {0};
    char *reason = NULL;
    CHECK(res_runs_merge(members, runs, count, &run, &reason));
    free(reason);
    for (size_t i = 0; i < count; i++)
        res_run_release(&runs[i]);
    return run;
}

TEST(counts_and_times_are_added_up)
{
    struct res_run runs[] = {run_of(100, 1000, 1000, 400), run_of(300, 9000, 1000, 800)};
    const struct res_member members[] = {{.name = "a.1.wl", .begin_ns = 1000},
                                         {.name = "a.2.wl", .begin_ns = 1000}};
    OWNED(res_run) run = merged_of(runs, members, 2);
    CHECK_U64(run.ops, 400);
    CHECK(run.ns_per_op == 25);
    CHECK_U64(run.batch_count, 4);
    CHECK_U64(run.batch_ns[0], 500);
    CHECK_U64(run.batch_ns[3], 4500);
    CHECK(run.user_ns == 20 && run.system_ns == 10 && run.faults_minor == 6);
    CHECK_U64((uint64_t)json_integer_value(json_object_get(run.json, "window_max_ns")), 9000);
    CHECK_U64(run.elapsed_ns, 18);
    CHECK_U64(json_array_size(json_object_get(run.json, "substituted")), 2);
    CHECK_U64((uint64_t)json_integer_value(json_object_get(run.json, "processes")), 2);
    CHECK_STR(run.threads_as, "recorded"); /* each has one thread */
    CHECK(json_is_null(json_object_get(run.json, "latency")));
    CHECK(json_is_null(json_object_get(run.json, "waste")));
}

/* Peaks meet, the ends too. */
TEST(memory_of_those_alive_together_is_summed)
{
    struct res_run runs[] = {run_of(100, 1000, 1000, 400), run_of(100, 1000, 1000, 800)};
    const struct res_member members[] = {{.begin_ns = 1000}, {.begin_ns = 1000}};
    OWNED(res_run) run = merged_of(runs, members, 2);
    CHECK(run.resident_peak_bytes == 401 + 801); /* higher than any sample */
    CHECK(run.resident_mean_bytes == 200 + 400);
    CHECK(run.resident_end_bytes == 40 && run.resident_idle_bytes == 20 && run.idle_own_bytes == 2);
    CHECK(run.resident_start_bytes == 100);
    CHECK(run.live_end_bytes == 200);
}

/* One after the other: the peak is the higher one, the end that of the last, the mean over the time of both. */
TEST(memory_of_those_one_after_the_other_is_not)
{
    struct res_run runs[] = {run_of(100, 1000, 1000, 400), run_of(100, 1000, 1000, 800)};
    const struct res_member members[] = {{.begin_ns = 1000}, {.begin_ns = 1000, .offset_ns = 3000}};
    OWNED(res_run) run = merged_of(runs, members, 2);
    CHECK(run.resident_peak_bytes == 801);
    CHECK(run.resident_mean_bytes == (200 + 400) / 4);
    CHECK(run.resident_end_bytes == 20 && run.resident_idle_bytes == 10);
    CHECK(run.resident_start_bytes == 50);
    CHECK(run.live_end_bytes == 100);
    const json_t *samples = json_object_get(run.json, "samples");
    CHECK_U64(json_array_size(json_object_get(samples, "time_ns")), 512);
    CHECK_U64((uint64_t)json_integer_value(json_array_get(json_object_get(samples, "time_ns"), 511)), 5000);
}

/* The digest tells other ops, and another order of members. */
TEST(the_digest_is_of_all)
{
    const struct res_member members[2] = {{.begin_ns = 0}};
    char *digests[3];
    for (int i = 0; i < 3; i++) {
        struct res_run runs[] = {run_of(i == 1 ? 2 : 1, 10, 0, 4), run_of(i == 1 ? 1 : 2, 10, 0, 4)};
        OWNED(res_run) run = merged_of(runs, members, 2);
        digests[i] = res_strdup(run.digest);
    }
    CHECK_STR(digests[0], digests[2]);
    CHECK(strcmp(digests[0], digests[1]) != 0);
    for (int i = 0; i < 3; i++)
        free(digests[i]);
}

/* A time that one member lacks is not known of all. */
TEST(what_one_does_not_tell_is_not_known)
{
    struct res_run runs[] = {run_of(100, 1000, 1000, 400), run_of(100, 1000, 1000, 800)};
    const struct res_member members[2] = {{.begin_ns = 1000}, {.begin_ns = 1000}};
    json_object_set_new(runs[1].json, "allocator_ns", json_null());
    runs[1].resident_idle_bytes = NAN;
    OWNED(res_run) run = merged_of(runs, members, 2);
    CHECK(isnan(run.ns_per_op));
    CHECK(isnan(run.resident_idle_bytes));
    CHECK(run.resident_end_bytes == 40);
}

TEST(lives_are_summed_where_they_meet)
{
    double early[] = {0, 100}, late[] = {50, 200}, rising[] = {0, 100}, flat[] = {30, 30}, at;
    const struct res_life lives[] = {{early, rising, 2}, {late, flat, 2}};
    CHECK(res_lives_begin(lives, 2) == 0 && res_lives_end(lives, 2) == 200);
    CHECK(res_lives_at(lives, 2, 75) == 105 && res_lives_at(lives, 2, 150) == 30);
    CHECK(res_lives_at(lives, 2, 201) == 0);
    CHECK(res_lives_peak(lives, 2, &at) == 130 && at == 100);
    CHECK(!res_lives_last(lives, 2, &lives[0]) && res_lives_last(lives, 2, &lives[1]));
    /* Without time all of them live together. */
    double never[] = {0, 0};
    const struct res_life timeless[] = {{never, rising, 2}, {never, flat, 2}};
    CHECK(res_lives_peak(timeless, 2, NULL) == 130);
}
