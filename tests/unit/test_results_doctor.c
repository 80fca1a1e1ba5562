/* test_results_doctor - checks on machines made of files, and what is found to disturb runs there: a quiet machine, one with everything wrong, one
 * that tells nothing; and the text, which fits its columns. */
#include "footprint/base/support.h"
#include "harness.h"
#include "results/measure/machine/disturbances.h"
#include "results/report/table/table.h"
#include "unit/machine_files.h"

static void make_quiet(void)
{
    put("/proc/loadavg", "39.5 30 20 1/100 200\n"); /* of who waited for a disk: it says nothing */
    put("/proc/pressure/cpu", "some avg10=0.00 avg60=9.00 avg300=9.00 total=1000\n");
    put("/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 500 kB\n");
    put("/proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 1 1 1\n");
    put("/proc/schedstat", "");
    put("/proc/vmstat", "pgpgin 5\npswpin 10\npswpout 20\n");
    put("/proc/cpuinfo", "flags : fpu constant_tsc nonstop_tsc\n");
    put("/proc/self/cgroup", "1:name=x:/\n0::/a/b\n");
    put("/proc/self/status", "Name: x\nSeccomp:\t0\n");
    put("/proc/self/attr/apparmor/current", "unconfined\n");
    put("/proc/sys/vm/overcommit_memory", "0\n");
    put("/proc/sys/vm/max_map_count", "65530\n");
    put("/proc/sys/kernel/yama/ptrace_scope", "1\n");
    put("/proc/sys/kernel/seccomp/actions_avail", "kill_process errno user_notif allow\n");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
    put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    put("/sys/devices/system/cpu/smt/active", "0\n");
    put("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a/memory.max", "max\n");
    put("/sys/fs/cgroup/a/cgroup.controllers", "memory\n");
    put("/sys/fs/cgroup/a/cgroup.subtree_control", "memory\n");
    put("/sys/fs/cgroup/a/b/cgroup.controllers", "memory\n");
    put("/sys/fs/cgroup/a/b/cgroup.subtree_control", "\n");
    put("/proc/self/mountinfo", "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put("/sys/fs/selinux/enforce", "0");
    put("/dev/shm/there", "");
}

static void look(struct res_doctor *doctor, const char *where)
{
    res_doctor_begin(doctor, where);
    res_doctor_measuring(doctor, 0);
    res_doctor_recording(doctor);
    res_doctor_confirming(doctor);
}

/* "name state, ..." of all that is not ok. Processors and free shared memory are this machine's: left out. */
static const char *found(const struct res_doctor *doctor)
{
    static char words[2048];
    size_t index;
    json_t *check;
    words[0] = '\0';
    json_array_foreach(doctor->checks, index, check)
    {
        const char *name = json_string_value(json_object_get(check, "name"));
        const char *state = json_string_value(json_object_get(check, "state"));
        CHECK(json_string_length(json_object_get(check, "found")) > 0);
        CHECK(json_string_length(json_object_get(check, "why")) > 0);
        CHECK(strcmp(state, "ok") == 0 || json_is_string(json_object_get(check, "remedy")));
        if (strcmp(state, "ok") == 0 || strcmp(name, "processors") == 0 || strcmp(name, "shared memory") == 0)
            continue;
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s %s", words[0] != '\0' ? ", " : "",
                 name, state);
    }
    return words;
}

static const json_t *check_named(const struct res_doctor *doctor, const char *name)
{
    size_t index;
    json_t *check;
    json_array_foreach(doctor->checks, index, check)
    {
        if (strcmp(json_string_value(json_object_get(check, "name")), name) == 0)
            return check;
    }
    HARNESS_FAIL("no check '%s'", name);
    exit(1);
}

static const char *seen(const struct res_doctor *doctor, const char *name)
{
    return json_string_value(json_object_get(check_named(doctor, name), "found"));
}

TEST(a_quiet_machine)
{
    OWNED(res_doctor) doctor;
    make_quiet();
    look(&doctor, root);
    CHECK_STR(found(&doctor), "");
    CHECK_STR(seen(&doctor, "governor"), "performance");
    CHECK_STR(seen(&doctor, "processor quota"), "none");
    CHECK_STR(seen(&doctor, "ptrace"), "works on own children (kernel.yama.ptrace_scope is 1)");
    CHECK_U64(doctor.count[0] + doctor.count[1] + doctor.count[2], json_array_size(doctor.checks));
}

TEST(a_machine_that_tells_nothing)
{
    OWNED(res_doctor) doctor;
    look(&doctor, "/nonexistent");
    CHECK_STR(found(&doctor), "");
    CHECK_STR(seen(&doctor, "waiting"), "nothing to see: this kernel does not tell");
    CHECK_STR(json_string_value(json_object_get(check_named(&doctor, "shared memory"), "state")), "note");
}

TEST(everything_wrong)
{
    OWNED(res_doctor) doctor;
    make_quiet();
    put("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 50 kB\n");
    put("/proc/cpuinfo", "flags : fpu hypervisor\n");
    put("/proc/self/status", "Name: x\nSeccomp:\t2\n");
    put("/proc/self/attr/apparmor/current", "docker-default (enforce)\n");
    put("/proc/sys/vm/overcommit_memory", "2\n");
    put("/proc/sys/vm/max_map_count", "1000\n");
    put("/proc/sys/kernel/seccomp/actions_avail", "kill_process errno allow\n");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    put("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    put("/sys/devices/system/cpu/smt/active", "1\n");
    put("/sys/fs/cgroup/a/cpu.max", "150000 100000\n"); /* of the group above ours */
    put("/sys/fs/cgroup/a/cgroup.subtree_control", "\n");
    put("/sys/fs/cgroup/a/b/memory.max", "1073741824\n");
    put("/sys/fs/selinux/enforce", "1");
    look(&doctor, root);
    CHECK_STR(found(&doctor),
              "governor bad, turbo note, free memory bad, huge pages note, "
              "hyper-threading note, virtual machine note, processor quota bad, memory quota note, "
              "memory limits note, "
              "overcommit note, "
              "mappings note, SELinux note, AppArmor note, seccomp note");
    CHECK_STR(seen(&doctor, "processor quota"), "the control group may use 1.5 processors");
    CHECK_STR(seen(&doctor, "memory quota"), "the control group may hold 1.1 GB");
    CHECK_STR(seen(&doctor, "AppArmor"), "this shell is confined: docker-default (enforce)");

    const struct res_style plain = {0};
    char *all = res_doctor_text(&doctor, &plain, true), *some = res_doctor_text(&doctor, &plain, false);
    CHECK(strstr(all, "  ok    stolen time") != NULL && strstr(some, "stolen time") == NULL);
    CHECK(strstr(some, "\n                            -> set it to performance: cpupower frequency-set -g "
                       "performance\n") != NULL);
    CHECK(strchr(all, '\033') == NULL);
    for (char *line = strtok(all, "\n"); line != NULL; line = strtok(NULL, "\n"))
        CHECK(res_text_columns(line) <= RES_TABLE_COLUMNS);
    free(all);
    free(some);
    const struct res_style coloured = {.colour = true};
    some = res_doctor_text(&doctor, &coloured, false);
    CHECK(strstr(some, "\033[31mbad") != NULL);
    free(some);
}

TEST(hostile_words_do_not_drive_the_terminal)
{
    OWNED(res_doctor) doctor;
    const struct res_style plain = {0};
    make_quiet();
    put("/proc/self/attr/apparmor/current", "\033[2Jevil\n");
    put("/sys/fs/cgroup/a/cpu.max", "nonsense");
    look(&doctor, root);
    OWNED_TEXT *text = res_doctor_text(&doctor, &plain, true);
    CHECK(strchr(text, '\033') == NULL);
    CHECK(strstr(text, "\\x1b[2Jevil") != NULL);
    CHECK_STR(seen(&doctor, "processor quota"), "none");
}

/* ---- what disturbs runs --------------------------------------------------------------------- */

/* "kind when, kind when, ..." */
static const char *disturbed(const struct res_disturbances *disturbances)
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
    OWNED(res_disturbances) disturbances;
    make_quiet();
    res_disturbances_begin(&disturbances, root);
    put("/proc/stat", "cpu  102 0 100 898 0 0 0 0 0 0\n");
    res_disturbances_end(&disturbances);
    CHECK_STR(disturbed(&disturbances), "");
}

TEST(a_machine_that_tells_nothing_has_none)
{
    OWNED(res_disturbances) disturbances;
    res_disturbances_begin(&disturbances, "/nonexistent");
    res_disturbances_end(&disturbances);
    CHECK_STR(disturbed(&disturbances), "");
}

TEST(what_is_wrong_before)
{
    OWNED(res_disturbances) disturbances;
    make_quiet();
    put("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 50 kB\n");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
    put("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    res_disturbances_begin(&disturbances, root);
    CHECK_STR(disturbed(&disturbances), "governor before, turbo before, memory before, huge_pages before");
    OWNED(res_result) result;
    res_described_init(&RES_RESULT, &result);
    res_disturbances_give(&disturbances, &result);
    CHECK_U64(result.disturbance_count, 0); /* they are the same for all runs */
}

TEST(what_is_wrong_meanwhile)
{
    OWNED(res_disturbances) disturbances;
    make_quiet();
    res_disturbances_begin(&disturbances, root);
    CHECK_STR(disturbed(&disturbances), "");
    put("/proc/stat", "cpu  150 0 100 850 0 0 0 100 0 0\n"); /* of 200 more: 50 busy, 50 idle, 100 stolen */
    put("/proc/vmstat", "pgpgin 5\npswpin 11\npswpout 25\n");
    put("/proc/pressure/cpu", "some avg10=0.00 avg60=9.00 avg300=9.00 total=9000000000000\n");
    put("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 50 kB\n");
    res_disturbances_end(&disturbances);
    CHECK_STR(disturbed(&disturbances),
              "steal during, others during, pressure during, swapping during, memory after");
    CHECK(disturbances.list[0].value == 50);
    CHECK(disturbances.list[3].value == 6);
}

TEST(who_waits_is_known_without_pressure)
{
    OWNED(res_disturbances) disturbances;
    make_quiet();
    put("/proc/pressure/cpu", "");
    put("/proc/schedstat",
        "version 15\ntimestamp 1\ncpu0 0 0 1 2 3 4 5 600 7\ndomain0 3 1 2\ncpu1 0 0 1 2 3 4 5 600 7\n");
    res_disturbances_begin(&disturbances, root);
    CHECK(disturbances.pressed_us == 1.2);
    put("/proc/schedstat", "version 15\ncpu0 0 0 1 2 3 4 5 600 7\ncpu1 0 0 1 2 3 4 5 9000000000000 7\n");
    res_disturbances_end(&disturbances);
    CHECK_STR(disturbed(&disturbances), "pressure during");
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
    for (size_t one = 0; one < COUNT_OF(CASES); one++) {
        OWNED(res_disturbances) disturbances;
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
    }
}

PREPARE
{
    machine_begin();
}
