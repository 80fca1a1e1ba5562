/* test_results_removal.c - what is saved without some call sites, by replay programs whose every answer is known: scripts that answer otherwise
 * of another workload. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/support.h"
#include "results/measure/experiment/experiment.h"
#include "results/measure/experiment/result_making.h"
#include "results/measure/figures/removal.h"
#include "results/report/table/removal_screen.h"
#include "unit/harness.h"

enum { ROUNDS = 8, CANDIDATES = 3 };

static char directory[] = "/tmp/mallab-unit-XXXXXX";

/* A run of two batches. */
struct told {
    int ops, first_ns, second_ns;
    long peak;
};

static void put_answer(FILE *file, const char *digest, struct told told)
{
    fprintf(
        file,
        "cat <<'EOF'\n{\"ops\": %d, \"digest\": \"%s\", \"threads\": 1, \"ns_per_op\": %g, "
        "\"batch_ns\": [%d, %d], \"resident\": {\"peak_bytes\": %ld, \"mean_bytes\": 1, \"end_bytes\": 1, "
        "\"idle_bytes\": null}, \"proof\": {\"ok\": true, \"malloc_library\": \"/lib/other.so\"}}\nEOF\n",
        told.ops, digest, (told.first_ns + told.second_ns) / (double)told.ops, told.first_ns, told.second_ns,
        told.peak);
}

static struct res_candidate scripted(const char *name, struct told with, struct told without)
{
    char *path = res_path_join(directory, name);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    fputs("#!/bin/sh\ncase \"$*\" in\n*less.wl*)\n", file);
    put_answer(file, "d2", without);
    fputs(";;\n*)\n", file);
    put_answer(file, "d1", with);
    fputs(";;\nesac\n", file);
    if (fclose(file) != 0 || chmod(path, 0700) != 0) {
        perror(path);
        exit(1);
    }
    return (struct res_candidate){.name = res_strdup(name), .program = path, .found = true};
}

/* The order of the timed runs: a letter a run, capital without the sites. */
struct order {
    char letters[3 * ROUNDS * (CANDIDATES + 2) + 1];
    size_t count;
};

static void note(void *context, const struct res_workload *workload, const char *entry, unsigned round,
                 size_t runs_done, size_t runs_all)
{
    struct order *order = context;
    (void)runs_done;
    (void)runs_all;
    if (round == 0)
        return;
    order->letters[order->count++] = (char)(entry[0] - (workload->ops == 6 ? 'a' - 'A' : 0));
}

struct measured {
    struct res_candidate pool[CANDIDATES + 1];
    const struct res_candidate *candidates[CANDIDATES];
    struct res_workload workloads[3];
    struct res_experiment experiment;
    struct res_result result;
    struct order order;
};

/* Measured once, for all tests but one. */
static struct measured all;

static void run(struct measured *measured, bool with_floor, uint64_t cpu_ns)
{
    *measured = (struct measured){
        .pool = {scripted("base", (struct told){10, 1000, 1200, 5000}, (struct told){6, 500, 600, 2000}),
                 scripted("idle", (struct told){10, 1000, 1200, 5000}, (struct told){6, 1000, 1120, 5000}),
                 scripted("more", (struct told){10, 1000, 1200, 5000}, (struct told){6, 2000, 2120, 9000}),
                 scripted("none", (struct told){10, 100, 100, 0}, (struct told){6, 60, 60, 0})},
        .workloads = {{.name = "with", .path = "all.wl", .ops = 10, .threads = 1, .complete = true},
                      {.name = "with", .path = "all.wl", .ops = 10, .threads = 1, .complete = true},
                      {.name = "without", .path = "less.wl", .ops = 6, .threads = 1, .complete = true}},
    };
    measured->workloads[0].process.cpu_user_ns = cpu_ns;
    for (size_t i = 0; i < CANDIDATES; i++)
        measured->candidates[i] = &measured->pool[i];
    const struct res_options options = {
        .workloads = measured->workloads,
        .workload_count = 3,
        .in_turn = true,
        .candidates = measured->candidates,
        .candidate_count = CANDIDATES,
        .floor = with_floor ? &measured->pool[CANDIDATES] : NULL,
        .rounds = ROUNDS,
        .seed = 7,
        .progress = note,
        .context = &measured->order,
    };
    res_experiment_run(&options, &measured->experiment);
    res_result_of_experiment(&measured->experiment, NULL, 0, &measured->result);
    const struct res_removal_of of = {"keeps", 2};
    res_removals_fill(measured->experiment.trials, &of, &measured->result);
}

static void release(struct measured *measured)
{
    res_result_release(&measured->result);
    res_experiment_release(&measured->experiment);
    for (size_t i = 0; i <= CANDIDATES; i++) {
        unlink(measured->pool[i].program);
        free(measured->pool[i].program);
        free(measured->pool[i].name);
    }
}

static void near(const char *what, double actual, double expected)
{
    if (!(fabs(actual - expected) < 1e-6))
        HARNESS_FAIL("%s is %.9g, expected %.9g", what, actual, expected);
}

TEST(an_entry_runs_with_and_without_the_sites_in_turn)
{
    size_t places[3] = {0}; /* of the run without */
    const char *letters = all.order.letters;
    CHECK_U64(all.order.count, 3 * ROUNDS * (CANDIDATES + 2));
    for (size_t i = 0; i < all.order.count; i += 3) {
        size_t without = 0;
        for (size_t k = 0; k < 3; k++) {
            CHECK((letters[i] | 0x20) == (letters[i + k] | 0x20)); /* the same entry, of each workload */
            without += letters[i + k] < 'a';
            places[k] += letters[i + k] < 'a';
        }
        CHECK_U64(without, 1);
    }
    CHECK(places[0] >= 13 && places[1] >= 13 && places[2] >= 13); /* of 40 */
    for (size_t i = 0; i < 3; i++) {
        CHECK_U64(all.experiment.trials[i].rounds, ROUNDS);
        CHECK_U64(all.experiment.trials[i].ended, RES_ENDED_ROUNDS);
    }
}

TEST(each_side_has_its_own_floor)
{
    const struct res_removal *removal = all.result.workloads[0].removals;
    const struct res_removed *base = &removal->candidates[0], *more = &removal->candidates[2];
    CHECK_STR(removal->words, "keeps");
    CHECK(removal->time_unavailable == NULL);
    CHECK_U64(removal->ops, 4);
    CHECK_U64(removal->allocations, 2);
    CHECK_U64(all.result.workload_count, 1);
    near("time with", base->with_ns, 2200 - 200);
    near("time without", base->without_ns, 1100 - 120);
    near("time saved", base->saved_ns, 1020);
    near("an allocation", base->ns_per_allocation, 510);
    near("of all calls", base->of_calls, 0.51);
    near("of the process", base->of_process, 0.1);
    near("low", base->saved_low_ns, 1020);
    near("high", base->saved_high_ns, 1020);
    CHECK(base->time_shown && base->peak_shown);
    near("bytes saved", base->saved_bytes, 3000);
    near("more time", more->saved_ns, 2000 - 4000);
    CHECK(more->time_shown && more->peak_shown);
    near("more bytes", more->saved_bytes, -4000);
}

TEST(what_is_not_beyond_the_noise_is_not_shown)
{
    struct res_text text = {0};
    const struct res_style style = {0};
    const struct res_removed *idle = &all.result.workloads[0].removals->candidates[1];
    near("nothing", idle->saved_ns, 0);
    CHECK(!idle->time_shown && !idle->peak_shown);
    res_removals_screen(&text, &all.result.workloads[0], &style);
    CHECK(strstr(text.text, "not shown") != NULL);
    free(text.text);
}

TEST(without_a_floor_there_is_no_time)
{
    struct measured measured;
    run(&measured, false, 0);
    const struct res_removal *removal = measured.result.workloads[0].removals;
    CHECK(removal->time_unavailable != NULL);
    CHECK(isnan(removal->candidates[0].saved_ns) && !removal->candidates[0].time_shown);
    near("bytes", removal->candidates[0].saved_bytes, 3000);
    CHECK(isnan(removal->candidates[0].of_process));
    release(&measured);
}

TEST(csv_and_json_have_every_figure)
{
    struct res_text text = {0};
    char *problem = NULL;
    res_removals_csv(&text, &all.result.workloads[0]);
    CHECK(strncmp(text.text,
                  "site,allocations,allocator,peak_bytes,without_bytes,saved_bytes,spread_bytes,held_bytes,"
                  "time_ns,time_without_ns,"
                  "time_saved_ns,time_saved_low_ns,time_saved_high_ns,time_spread_ns,ns_per_allocation,of_"
                  "calls,of_process",
                  120) == 0);
    CHECK(strstr(text.text, "5000,2000,3000,0,,2000,980,1020,1020,1020,0,510,0.51,0.1") != NULL);
    free(text.text);
    json_t *json = res_result_write(&all.result);
    struct res_result again;
    CHECK(res_result_read(json, &again, &problem));
    const struct res_removal *removal = again.workloads[0].removals;
    near("saved", removal->candidates[0].saved_ns, 1020);
    CHECK(removal->candidates[0].time_shown && !removal->candidates[1].time_shown);
    res_result_release(&again);
    json_decref(json);
}

/* Of what the experiment was with five trials: two with all, and three without. */
TEST(several_are_told_in_short_and_most_first)
{
    struct res_text text = {0};
    const struct res_style style = {0};
    struct res_result result;
    const struct res_trial trials[] = {all.experiment.trials[0], all.experiment.trials[1],
                                       all.experiment.trials[0], all.experiment.trials[2],
                                       all.experiment.trials[2]};
    const struct res_experiment experiment = {
        .options = all.experiment.options, .trials = (struct res_trial *)(uintptr_t)trials, .trial_count = 5};
    const struct res_removal_of of[] = {{"nobody", 1}, {"one", 2}, {"other", 4}};
    res_result_of_experiment(&experiment, NULL, 0, &result);
    res_removals_fill(trials, of, &result);
    res_removals_sort(&result.workloads[0]);
    const struct res_removal *removals = result.workloads[0].removals;
    CHECK_U64(result.workloads[0].removal_count, 3);
    CHECK_STR(removals[2].words, "nobody"); /* the same with and without */
    near("nothing", removals[2].candidates[0].saved_ns, 0);
    CHECK(!removals[2].candidates[0].time_shown);
    res_removals_screen(&text, &result.workloads[0], &style);
    CHECK(strstr(text.text, "510.00 +-0.00") != NULL);
    CHECK(strstr(text.text, "255.00 +-0.00") != NULL);
    CHECK(strstr(text.text, "within +-0.00") != NULL);
    CHECK(strstr(text.text, "do not add up") != NULL);
    free(text.text);
    json_t *page = res_removals_json(&result.workloads[0]);
    CHECK_U64(json_array_size(json_object_get(page, "rows")), 3 * CANDIDATES);
    json_decref(page);
    res_result_release(&result);
}

/* Files of anybody. */
TEST(a_removal_that_says_nothing_is_borne)
{
    const struct res_style style = {0};
    for (int count = 0; count < 3; count++) {
        json_t *json = res_result_write(&all.result), *removals = json_array();
        struct res_result read;
        struct res_text text = {0};
        char *problem = NULL;
        for (int i = 0; i < count; i++)
            json_array_append_new(removals,
                                  json_pack("{s:n, s:[{s:s}]}", "words", "candidates", "name", "x"));
        json_object_set_new(json_array_get(json_object_get(json, "workloads"), 0), "removals", removals);
        CHECK(res_result_read(json, &read, &problem));
        res_removals_screen(&text, &read.workloads[0], &style);
        res_removals_csv(&text, &read.workloads[0]);
        json_decref(res_removals_json(&read.workloads[0]));
        CHECK((strstr(text.text, "\nx") != NULL || strstr(text.text, "  x\n") != NULL) == (count > 0));
        free(text.text);
        res_result_release(&read);
        json_decref(json);
    }
}

static const struct harness_test TESTS[] = {
    T(an_entry_runs_with_and_without_the_sites_in_turn),
    T(each_side_has_its_own_floor),
    T(what_is_not_beyond_the_noise_is_not_shown),
    T(without_a_floor_there_is_no_time),
    T(csv_and_json_have_every_figure),
    T(several_are_told_in_short_and_most_first),
    T(a_removal_that_says_nothing_is_borne),
};

int main(int argc, char **argv)
{
    if (mkdtemp(directory) == NULL) {
        perror(directory);
        return 1;
    }
    run(&all, true, 10200);
    const int code = harness_run(TESTS, sizeof TESTS / sizeof TESTS[0], argc, argv);
    release(&all);
    rmdir(directory);
    return code;
}
