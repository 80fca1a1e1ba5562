/* test_results_disturbances - what is found on machines made of files: a quiet one, and one with everything wrong. */
#include "harness.h"
#include "results/measure/machine/disturbances.h"
#include "unit/machine_files.h"

static void make_quiet(void)
{
    put("/proc/loadavg", "39.5 30 20 1/100 200\n"); /* of who waited for a disk: it says nothing */
    put("/proc/pressure/cpu", "some avg10=0.00 avg60=9.00 avg300=9.00 total=1000\n");
    put("/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 500 kB\n");
    put("/proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 1 1 1\n");
    put("/proc/vmstat", "pgpgin 5\npswpin 10\npswpout 20\n");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
}

/* "kind when, kind when, ..." */
static const char *found(const struct res_disturbances *disturbances)
{
    static char words[1024];
    words[0] = '\0';
    for (size_t i = 0; i < disturbances->count; i++) {
        const struct res_disturbance *one = &disturbances->list[i];
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s %s", i > 0 ? ", " : "", one->kind,
                 one->when);
        CHECK(strlen(one->text) > 0);
        CHECK(strlen(one->remedy) > 0);
    }
    return words;
}

TEST(a_quiet_machine_has_none)
{
    struct res_disturbances disturbances;
    make_quiet();
    res_disturbances_begin(&disturbances, root);
    put("/proc/stat", "cpu  102 0 100 898 0 0 0 0 0 0\n");
    res_disturbances_end(&disturbances);
    CHECK_STR(found(&disturbances), "");
    res_disturbances_release(&disturbances);
}

TEST(a_machine_that_tells_nothing_has_none)
{
    struct res_disturbances disturbances;
    res_disturbances_begin(&disturbances, "/nonexistent");
    res_disturbances_end(&disturbances);
    CHECK_STR(found(&disturbances), "");
    res_disturbances_release(&disturbances);
}

TEST(everything_wrong_before)
{
    struct res_disturbances disturbances;
    make_quiet();
    put("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 50 kB\n");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
    put("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    res_disturbances_begin(&disturbances, root);
    CHECK_STR(found(&disturbances), "governor before, turbo before, memory before, huge_pages before");
    struct res_result result;
    res_described_init(&RES_RESULT, &result);
    res_disturbances_give(&disturbances, &result);
    CHECK_U64(result.disturbance_count, 0); /* they are the same for all runs */
    res_result_release(&result);
    res_disturbances_release(&disturbances);
    put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
    make_quiet();
}

TEST(everything_wrong_meanwhile)
{
    struct res_disturbances disturbances;
    make_quiet();
    res_disturbances_begin(&disturbances, root);
    CHECK_STR(found(&disturbances), "");
    put("/proc/stat", "cpu  150 0 100 850 0 0 0 100 0 0\n"); /* of 200 more: 50 busy, 50 idle, 100 stolen */
    put("/proc/vmstat", "pgpgin 5\npswpin 11\npswpout 25\n");
    put("/proc/pressure/cpu", "some avg10=0.00 avg60=9.00 avg300=9.00 total=9000000000000\n");
    put("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 50 kB\n");
    res_disturbances_end(&disturbances);
    CHECK_STR(found(&disturbances),
              "steal during, others during, pressure during, swapping during, memory after");
    CHECK(disturbances.list[0].value == 50);
    CHECK(disturbances.list[3].value == 6);
    res_disturbances_release(&disturbances);
}

TEST(who_waits_is_known_without_pressure)
{
    struct res_disturbances disturbances;
    make_quiet();
    put("/proc/pressure/cpu", "");
    put("/proc/schedstat",
        "version 15\ntimestamp 1\ncpu0 0 0 1 2 3 4 5 600 7\ndomain0 3 1 2\ncpu1 0 0 1 2 3 4 5 600 7\n");
    res_disturbances_begin(&disturbances, root);
    CHECK(disturbances.pressed_us == 1.2);
    put("/proc/schedstat", "version 15\ncpu0 0 0 1 2 3 4 5 600 7\ncpu1 0 0 1 2 3 4 5 9000000000000 7\n");
    res_disturbances_end(&disturbances);
    CHECK_STR(found(&disturbances), "pressure during");
    res_disturbances_release(&disturbances);
    put("/proc/schedstat", "");
}

/* Slow and fast rounds by turns; the harness' own code is the same in all. What other programs did is no phase of the host. */
TEST(slow_phases_of_the_host_show_in_the_harness)
{
    static const struct {
        const char *path, *content; /* behind the runs; NULL: as before */
        const char *kind, *text;    /* NULL: there is nothing to tell */
        double slow_ns;             /* of every third run */
    } CASES[] = {
        {NULL, NULL, NULL, NULL, 2.0},
        {NULL, NULL, "host", "the host had slow phases: half of the harness' own runs took 33 % longer", 3.0},
        /* of 100 more 86 busy, none of them ours */
        {"/proc/stat", "cpu  186 0 100 814 0 0 0 0 0 0\n", "others", "other programs took ", 3.0},
        {"/proc/pressure/cpu", "some avg10=0.00 avg60=9.00 avg300=9.00 total=9000000000000\n", "pressure",
         "threads waited for a CPU ", 3.0},
    };
    for (size_t one = 0; one < sizeof CASES / sizeof CASES[0]; one++) {
        struct res_disturbances disturbances;
        struct res_run runs[12] = {0};
        struct res_result_entry floor = {.runs = runs, .run_count = 12};
        struct res_result_workload workload = {.floor = &floor};
        struct res_result result = {.workloads = &workload, .workload_count = 1};
        for (size_t i = 0; i < 12; i++)
            runs[i].ns_per_op = i % 3 == 2 ? CASES[one].slow_ns : 2.0 + 0.01 * (double)i;
        make_quiet();
        res_disturbances_begin(&disturbances, root);
        if (CASES[one].path != NULL) {
            put(CASES[one].path, CASES[one].content);
            res_disturbances_end(&disturbances);
        }
        res_disturbances_give(&disturbances, &result);
        CHECK_U64(result.disturbance_count, CASES[one].kind != NULL);
        if (CASES[one].kind != NULL) {
            CHECK_STR(result.disturbances[0].kind, CASES[one].kind);
            CHECK(strncmp(result.disturbances[0].text, CASES[one].text, strlen(CASES[one].text)) == 0);
        }
        result.workload_count = 0; /* this test's */
        result.workloads = NULL;
        res_described_release(&RES_RESULT, &result);
        res_disturbances_release(&disturbances);
    }
}

PREPARE
{
    machine_begin();
}
