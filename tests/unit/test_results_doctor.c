/* test_results_doctor - checks on machines made of files: a quiet one, one with everything wrong, one that tells nothing;
 * and the text, which fits its columns. */
#include "footprint/base/support.h"
#include "harness.h"
#include "results/measure/machine/disturbances.h"
#include "results/report/table/table.h"
#include "unit/machine_files.h"

static void make_quiet(void)
{
    put("/proc/loadavg", "0.01 0.10 0.20 1/100 200\n");
    put("/proc/pressure/cpu", "some avg10=0.00 avg60=9.00 avg300=9.00 total=1000\n");
    put("/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 500 kB\n");
    put("/proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\n");
    put("/proc/vmstat", "pswpin 10\npswpout 20\n");
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
    struct res_doctor doctor;
    make_quiet();
    look(&doctor, root);
    CHECK_STR(found(&doctor), "");
    CHECK_STR(seen(&doctor, "governor"), "performance");
    CHECK_STR(seen(&doctor, "processor quota"), "none");
    CHECK_STR(seen(&doctor, "ptrace"), "works on own children (kernel.yama.ptrace_scope is 1)");
    CHECK_U64(doctor.count[0] + doctor.count[1] + doctor.count[2], json_array_size(doctor.checks));
    res_doctor_release(&doctor);
}

TEST(a_machine_that_tells_nothing)
{
    struct res_doctor doctor;
    look(&doctor, "/nonexistent");
    CHECK_STR(found(&doctor), "");
    CHECK_STR(seen(&doctor, "waiting"), "nothing to see: this kernel does not tell");
    CHECK_STR(json_string_value(json_object_get(check_named(&doctor, "shared memory"), "state")), "note");
    res_doctor_release(&doctor);
}

TEST(everything_wrong)
{
    struct res_doctor doctor;
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
    res_doctor_release(&doctor);
}

TEST(hostile_words_do_not_drive_the_terminal)
{
    struct res_doctor doctor;
    const struct res_style plain = {0};
    make_quiet();
    put("/proc/self/attr/apparmor/current", "\033[2Jevil\n");
    put("/sys/fs/cgroup/a/cpu.max", "nonsense");
    look(&doctor, root);
    char *text = res_doctor_text(&doctor, &plain, true);
    CHECK(strchr(text, '\033') == NULL);
    CHECK(strstr(text, "\\x1b[2Jevil") != NULL);
    CHECK_STR(seen(&doctor, "processor quota"), "none");
    free(text);
    res_doctor_release(&doctor);
}

PREPARE
{
    machine_begin();
}
