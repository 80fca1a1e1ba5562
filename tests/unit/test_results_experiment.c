/* test_results_experiment.c - experiments on replay programs whose every answer is known: scripts that print what a
 * replay prints, crash, hang, lie about the allocator, or execute other ops. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "footprint/base/support.h"
#include "results/measure/experiment/experiment.h"
#include "results/measure/result/result.h"
#include "results/report/table/table.h"
#include "unit/harness.h"
#include "unit/typed.h"

#define HEAD "#!/bin/sh\n"

static char directory[] = "/tmp/mallab-unit-XXXXXX";

/* What a replay of two batches and 10 ops prints. */
static char *answer(const char *digest, const char *proof, double ns_per_op, int first_ns, int second_ns,
                    long peak)
{
    return res_printf(
        HEAD "cat <<'EOF'\n{\"ops\": 10, \"digest\": \"%s\", \"threads\": 1, \"whole_ns_per_op\": %g, "
             "\"batch_ns\": [%d, %d], \"resident\": {\"peak_bytes\": %ld, \"mean_bytes\": %ld, "
             "\"end_bytes\": 100, \"idle_bytes\": null}, \"samples\": {\"time_ns\": [5, 6], "
             "\"resident_bytes\": [%ld]}, "
             "\"proof\": {\"ok\": %s, \"malloc_library\": "
             "\"/lib/other.so\"}}\nEOF\n",
        digest, ns_per_op, first_ns, second_ns, peak, peak / 2, peak, proof);
}

/* A candidate whose replay program is this script; the name is a literal. */
static struct res_candidate scripted(const char *name, char *script)
{
    char *path = res_path_join(directory, name);
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs(script, file) < 0 || fclose(file) != 0 || chmod(path, 0700) != 0) {
        perror(path);
        exit(1);
    }
    free(script);
    return (struct res_candidate){.name = res_strdup(name), .program = path, .found = true};
}

static void unscripted(struct res_candidate *candidate)
{
    unlink(candidate->program);
    free(candidate->program);
    free(candidate->name);
}

static const struct res_workload WORKLOAD = {
    .name = "test", .path = "/dev/null", .ops = 10, .threads = 1, .complete = true};

/* What a test begins with, and the result that is made of it. */
static struct setup {
    struct res_candidate pool[8];
    const struct res_candidate *candidates[8];
    struct res_options options;
} setup;
static struct res_result made;

/* scripts: names of the pool's candidates in use; `none` is always the floor. */
BEFORE_EACH
{
    setup.pool[0] = scripted("base", answer("d1", "true", 22, 100, 120, 1000));
    setup.pool[1] = scripted("fast", answer("d1", "true", 12, 50, 70, 2000));
    setup.pool[2] = scripted("wrong", answer("d2", "true", 1, 1, 1, 1));
    setup.pool[3] = scripted("liar", answer("d1", "false", 1, 1, 1, 1));
    setup.pool[4] = scripted("crash",
                             res_strdup(HEAD "echo first >&2\necho the last words >&2\nkill -SEGV $$\n"));
    setup.pool[5] = scripted("garbage", res_strdup(HEAD "echo '{\"ops\": 10'\n"));
    setup.pool[6] = scripted("status", res_strdup(HEAD "echo no memory >&2\nexit 1\n"));
    setup.pool[7] = scripted("none", answer("d1", "true", 2, 10, 10, 0));
    for (size_t i = 0; i < 7; i++)
        setup.candidates[i] = &setup.pool[i];
    setup.options = (struct res_options){
        .workloads = &WORKLOAD,
        .workload_count = 1,
        .candidates = setup.candidates,
        .candidate_count = 2,
        .floor = &setup.pool[7],
        .rounds = 8,
        .seed = 42,
    };
}

static void run(void)
{
    res_experiment_run(&setup.options, &made);
}

AFTER_EACH
{
    res_result_release(&made);
    for (size_t i = 0; i < 8; i++)
        unscripted(&setup.pool[i]);
}

static void near(const char *what, double actual, double expected)
{
    if (!(fabs(actual - expected) < 1e-9))
        HARNESS_FAIL("%s is %.9g, expected %.9g", what, actual, expected);
}

/* Candidates, control, floor. */
static struct res_figures figures_of(size_t entry)
{
    const struct res_result_workload *workload = &made.workloads[0];
    return entry < workload->candidate_count    ? workload->candidates[entry].figures
           : entry == workload->candidate_count ? workload->control.figures
                                                : workload->floor->figures;
}

/* A candidate that answers otherwise when it is told recorded time, as its last run too. */
static struct res_candidate two_faced(const char *name, long peak, long peak_recorded, const char *doubt)
{
    OWNED_TEXT *timed = answer("d1", "true", 22, 100, 120, peak),
               *memory = answer("d1", "true", 9000, 9, 9, peak_recorded);
    OWNED_TEXT *why = res_printf("\"idle_bytes\": 77, \"given_back_share\": 0.5%s%s%s",
                                 doubt != NULL ? ", \"not_predicted_why\": \"" : "",
                                 doubt != NULL ? doubt : "", doubt != NULL ? "\"" : "");
    char *place = strstr(memory, "\"idle_bytes\": null");
    char *script = res_printf(
        HEAD "case \"$*\" in *'--clock recorded'*'--idle-ms 60000'*)\n%.*s%s%s;;\n*)\n%s;;\nesac\n",
        (int)(place - memory) - (int)strlen(HEAD), memory + strlen(HEAD), why,
        place + strlen("\"idle_bytes\": null"), timed + strlen(HEAD));
    return scripted(name, script);
}

/* The same with 5,000 batches of 1 ns. */
static struct res_candidate lengthy(const char *name)
{
    char *script = answer("d1", "true", 22, 1, 1, 1000), *batches = strstr(script, "[1, 1]");
    struct res_text text = {0};
    res_text_printf(&text, "%.*s[1", (int)(batches - script), script);
    for (unsigned i = 1; i < 5000; i++)
        res_text_add(&text, ",1", 2);
    res_text_printf(&text, "%s", batches + strlen("[1, 1"));
    free(script);
    return scripted(name, text.text);
}

TEST(batches_of_long_runs_are_merged)
{
    static const char *const names[] = {"base", "fast", "none"};
    static const size_t places[] = {0, 1, 7};
    for (size_t i = 0; i < 3; i++) {
        unscripted(&setup.pool[places[i]]);
        setup.pool[places[i]] = lengthy(names[i]);
    }
    setup.options.rounds = 1;
    run();
    const struct res_result_workload *workload = &made.workloads[0];
    const struct res_run *const runs[] = {workload->candidates[0].runs, workload->candidates[1].runs,
                                          workload->control.runs, workload->floor->runs};
    for (size_t i = 0; i < 4; i++) {
        const struct res_run *run = runs[i];
        CHECK_U64(run->batch_count, 1667);
        CHECK_U64(run->batch_ns[0], 3);
        CHECK_U64(run->batch_ns[1666], 2);
    }
}

TEST(memory_is_of_its_own_pass)
{
    struct res_workload workload = WORKLOAD;
    setup.options.candidate_count = 3;
    workload.duration_ns = 5;
    for (size_t i = 0; i < 3; i++)
        unscripted(&setup.pool[i]);
    setup.pool[0] = two_faced("base", 1000, 100, NULL);
    setup.pool[1] = two_faced("other", 5000, 50, NULL);
    setup.pool[2] = two_faced("odd", 1000, 20, "it sleeps");
    setup.options.workloads = &workload;
    setup.options.memory_rounds = 3;
    setup.options.idle_ms = 60000;
    run();
    const struct res_result_workload *told = &made.workloads[0];
    const struct res_figures base = figures_of(0);
    const struct res_figures other = figures_of(1);
    const struct res_figures odd = figures_of(2);
    CHECK_U64(told->rounds, 8);
    CHECK_U64(told->memory_rounds, 3);
    CHECK_U64(told->candidates[1].run_count, 8);
    CHECK_U64(told->candidates[1].memory_count, 3);
    CHECK_U64(told->floor->memory_count, 0);
    near("time", other.steady_ns_per_op, 20); /* and nothing of the 9000 of the memory pass */
    near("peak", base.peak_bytes, 100);
    near("peak of the other", other.peak_bytes, 50);
    near("ratio of peaks", other.peak.ratio, 0.5);
    near("idle", other.idle_bytes, 77);
    near("given back", other.given_back_share, 0.5);
    CHECK_U64(other.peak.verdict, RES_LESS);
    CHECK_U64(odd.peak.verdict, RES_UNDECIDED);
    json_auto_t *result = res_result_write(&made);
    json_t *entry = json_array_get(
        json_object_get(json_array_get(json_object_get(result, "workloads"), 0), "candidates"), 2);
    json_t *resident = json_object_get(entry, "resident");
    CHECK_U64(json_array_size(json_object_get(entry, "memory_runs")), 3);
    CHECK_STR(json_string_value(json_object_get(resident, "clock")), "recorded");
    CHECK(json_is_false(json_object_get(resident, "predicted")));
    OWNED_TEXT *table = res_table_text(typed(result), &(struct res_style){.details = true});
    CHECK(strstr(table, "not predicted: it sleeps") != NULL);
    CHECK(strstr(table, "-80.0% [-80.0 -80.0] not predicted") != NULL);
    CHECK(strstr(table, "-50.0% [-50.0 -50.0] less") != NULL);
}

TEST(without_recorded_time_memory_is_of_the_timed_runs)
{
    setup.options.memory_rounds = 3;
    run();
    CHECK_U64(made.workloads[0].memory_rounds, 0);
    CHECK_U64(made.workloads[0].candidates[1].memory_count, 0);
    near("peak", figures_of(1).peak_bytes, 2000);
    json_auto_t *result = res_result_write(&made);
    OWNED_TEXT *table = res_table_text(typed(result), &(struct res_style){.details = true});
    CHECK(strstr(table, "resident memory is that of the timed runs, on the machine") != NULL);
}

TEST(a_failing_candidate_says_why_and_stops_no_other)
{
    static const char *const reasons[] = {
        NULL, NULL, "other ops", "'/lib/other.so'", "the last words", "no JSON", "exit code 1: no memory"};
    setup.options.candidate_count = 7;
    run();
    CHECK_U64(made.workloads[0].rounds, 8);
    for (size_t i = 0; i < 7; i++) {
        const struct res_result_entry *entry = &made.workloads[0].candidates[i];
        const bool failed = entry->failed != NULL;
        if (failed != (reasons[i] != NULL) || (failed && strstr(entry->failed, reasons[i]) == NULL))
            HARNESS_FAIL("%s: '%s', expected '%s'", entry->name, failed ? entry->failed : "no failure",
                         reasons[i] != NULL ? reasons[i] : "no failure");
        CHECK_U64(entry->run_count, failed ? 0 : 8);
        CHECK(isnan(figures_of(i).time.ratio) == failed);
    }
}

TEST(a_run_that_hangs_is_ended)
{
    unscripted(&setup.pool[1]);
    setup.pool[1] = scripted("fast", res_strdup(HEAD "exec sleep 1000\n"));
    setup.options.timeout_ns = 300000000;
    setup.options.rounds = 1;
    run();
    const char *failed = made.workloads[0].candidates[1].failed;
    CHECK(failed != NULL && strcmp(failed, "gave no answer in 300 ms (--timeout)") == 0);
}

/* ---- order and stopping --------------------------------------------------------------------- */

struct log {
    char order[40][40]; /* by round, the entries' first letters */
    size_t runs;
    unsigned stop_at_round;
    volatile sig_atomic_t stop;
};

static void note(void *context, const struct res_workload *workload, const char *entry, unsigned round,
                 size_t runs_done, size_t runs_all)
{
    struct log *log = context;
    const size_t length = strlen(log->order[round]);
    CHECK_U64(runs_done, log->runs);
    CHECK_U64(runs_all, 4 * 9);
    CHECK_STR(workload->name, "test");
    log->runs++;
    log->order[round][length] = entry[0];
    if (round == log->stop_at_round && length == 1)
        log->stop = SIGINT;
}

static void run_logged(uint64_t seed, unsigned stop_at_round, struct log *log)
{
    *log = (struct log){.stop_at_round = stop_at_round};
    setup.options.seed = seed;
    setup.options.progress = note;
    setup.options.context = log;
    setup.options.stop = &log->stop;
    run();
}

TEST(each_round_holds_everyone_once_in_an_order_of_the_seed)
{
    struct log first, again, other;
    bool shuffled = false;
    run_logged(7, 99, &first);
    res_result_release(&made);
    run_logged(7, 99, &again);
    res_result_release(&made);
    run_logged(8, 99, &other);
    CHECK_STR(first.order[0], "bfcn"); /* the warm-up */
    for (unsigned round = 1; round <= 8; round++) {
        CHECK_U64(strlen(first.order[round]), 4);
        for (const char *letter = "bfcn"; *letter != '\0'; letter++)
            CHECK(strchr(first.order[round], *letter) != NULL);
        CHECK_STR(first.order[round], again.order[round]);
        shuffled = shuffled || strcmp(first.order[round], first.order[1]) != 0;
    }
    CHECK(shuffled);
    CHECK(memcmp(first.order, other.order, sizeof first.order) != 0);
}

/* Of a thousand rounds eight are planned: what is left is of these. */
TEST(what_is_left_is_of_the_rounds_that_are_planned)
{
    struct log log;
    setup.options.rounds = 1000;
    setup.options.time_budget_ns = 1;
    run_logged(7, 99, &log); /* which looks at how many runs there are */
    CHECK_U64(log.runs, 4 * 9);
}

TEST(stopping_keeps_the_finished_rounds)
{
    struct log log;
    run_logged(7, 4, &log);
    const struct res_result_workload *workload = &made.workloads[0];
    CHECK(made.stopped);
    CHECK_U64(workload->rounds, 3);
    CHECK(workload->candidates[0].run_count == 3 && workload->candidates[1].run_count == 3);
    CHECK(workload->control.run_count == 3 && workload->floor->run_count == 3);
    json_auto_t *result = res_result_write(&made);
    CHECK_U64(json_integer_value(json_object_get(result, "rounds")), 3);
    CHECK_U64(json_integer_value(json_object_get(result, "rounds_asked")), 8);
    CHECK(json_is_true(json_object_get(result, "stopped")));
    OWNED(res_result) read;
    char *problem = NULL;
    CHECK(res_result_read(result, &read, &problem));
    CHECK_STR(problem != NULL ? problem : "", "");
}

TEST(the_result_keeps_every_sample)
{
    char absent[] = "absent", reason[] = "not here";
    const struct res_missing missing = {.name = absent, .reason = reason};
    setup.options.missing = &missing;
    setup.options.missing_count = 1;
    run();
    json_auto_t *result = res_result_write(&made);
    json_t *workload = json_array_get(json_object_get(result, "workloads"), 0);
    json_t *runs = json_object_get(json_array_get(json_object_get(workload, "candidates"), 1), "runs");
    CHECK_STR(json_string_value(json_object_get(result, "schema")), "mallab-experiment/1");
    CHECK_U64(json_array_size(runs), 8);
    CHECK_U64(json_array_size(json_object_get(json_object_get(workload, "samples"), "time_ns")), 2);
    for (size_t i = 0; i < json_array_size(runs); i++) {
        json_t *run = json_array_get(runs, i);
        CHECK_U64(json_integer_value(json_object_get(run, "round")), i + 1);
        CHECK_U64(json_integer_value(json_array_get(json_object_get(run, "batch_ns"), 1)), 70);
        json_t *samples = json_object_get(run, "samples");
        CHECK_U64(json_integer_value(json_array_get(json_object_get(samples, "resident_bytes"), 0)), 2000);
        CHECK(json_object_get(samples, "time_ns") == NULL); /* kept once, with the workload */
        CHECK_U64(json_integer_value(json_object_get(json_object_get(run, "resident"), "peak_bytes")), 2000);
    }
    const struct res_style style = {.details = true};
    OWNED_TEXT *table = res_table_text(typed(result), &style);
    CHECK(strstr(table, "-50.0% [-50.0 -50.0] faster") != NULL);
    CHECK(strstr(table, "absent: not here") != NULL);
    const char *verdict = typed_note(&typed(result)->workloads[0], "verdict");
    CHECK(strstr(verdict, "time: fast saves 50 % of malloc's time, for ") == verdict);
}

TEST(what_a_run_prints_is_checked)
{
    static const char *const bad[] = {
        "",
        "[]",
        "null",
        "{}",
        "{\"ops\": -1}",
        "{\"ops\": 1, \"ops\": 2}",
        "{\"ops\": 1, \"digest\": 5}",
        "{\"ops\": 1, \"digest\": \"d\"}",
        "{\"ops\": 1, \"digest\": \"d\", \"proof\": {\"ok\": true}}",
        "{\"ops\": 1, \"digest\": \"d\", \"proof\": {\"ok\": true}, \"whole_ns_per_op\": -3}",
        "{\"ops\": 1, \"digest\": \"d\", \"proof\": {\"ok\": true}, \"whole_ns_per_op\": 3, \"resident\": "
        "[]}",
        ("{\"ops\": 1, \"digest\": \"d\", \"proof\": {\"ok\": true}, \"whole_ns_per_op\": 3, \"resident\": "
         "{\"peak_bytes\": 1, \"mean_bytes\": 1, \"end_bytes\": 1}, \"batch_ns\": [1, \"x\"]}"),
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct res_run run;
        char *reason = NULL;
        if (res_run_parse(bad[i], strlen(bad[i]), &run, &reason))
            HARNESS_FAIL("accepted: %s", bad[i]);
        CHECK(reason != NULL && *reason != '\0');
        free(reason);
    }
}

static void remove_directory(void)
{
    rmdir(directory);
}

PREPARE
{
    if (mkdtemp(directory) == NULL || atexit(remove_directory) != 0)
        abort();
}
