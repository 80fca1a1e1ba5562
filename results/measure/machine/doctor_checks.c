/* doctor_checks.c - the list of checks. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "results/measure/machine/disturbances.h"

static const char *const STATES[] = {"ok", "note", "bad"}; /* in the order of the enum */

void res_doctor_begin(struct res_doctor *doctor, const char *root)
{
    *doctor = (struct res_doctor){.root = root, .checks = json_array()};
}

void res_doctor_release(struct res_doctor *doctor)
{
    json_decref(doctor->checks);
    *doctor = (struct res_doctor){0};
}

void res_doctor_add(struct res_doctor *doctor, const char *area, const char *name,
                    enum res_doctor_state state, char *found, const char *why, const char *remedy)
{
    RES_FREED char *plain = res_text_plain(found);
    json_array_append_new(doctor->checks, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s?}", "area", area, "name",
                                                    name, "state", STATES[state], "found", plain, "why", why,
                                                    "remedy", state != RES_DOCTOR_OK ? remedy : NULL));
    doctor->count[state]++;
    free(found);
}

bool res_doctor_read(const struct res_doctor *doctor, const char *path, char *ret_text, size_t size)
{
    const bool read = res_file_begin(doctor->root, path, ret_text, size);
    size_t length = strlen(ret_text);
    while (length > 0 && ret_text[length - 1] == '\n')
        ret_text[--length] = '\0';
    return read;
}

#define MEASURING  "measuring"
#define RECORDING  "recording"
#define CONFIRMING "confirming"

#define SHARED_NEEDED     (UINT64_C(128) << 20) /* what `record --memory` takes unless told otherwise */
#define MAPS_LEAST        65530                 /* the kernel's own default */
#define DESCRIPTORS_LEAST 256

/* ---- measuring ------------------------------------------------------------------------------ */

/* Disturbances of `ab`. An interleaved experiment evens out what lasts (turbo, huge pages), not what comes and goes. */
static const struct {
    const char *kind; /* of disturbances.c */
    const char *name;
    enum res_doctor_state state; /* when it is there */
    const char *told_by;         /* the file without which nobody can say */
    const char *otherwise;       /* what is said when it is not there */
    const char *why;
} DISTURBANCES[] = {
    {"governor", "governor", RES_DOCTOR_BAD, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
     "performance", "the clock rate follows the load: runs that begin on an idle processor are slower"},
    {"turbo", "turbo", RES_DOCTOR_NOTE, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "off",
     "the clock rate drops as the processor warms up; interleaved rounds even most of it out"},
    {"pressure", "waiting", RES_DOCTOR_BAD, "/proc/pressure/cpu", "nobody waits for a processor",
     "what waits for a processor is measured as slow"},
    {"others", "other programs", RES_DOCTOR_BAD, "/proc/stat", "they used next to no processor time just now",
     "replays lose their turn and their caches to them"},
    {"steal", "stolen time", RES_DOCTOR_BAD, "/proc/stat", "none just now",
     "a hypervisor gives the processors to other machines, and no figure shows when"},
    {"memory", "free memory", RES_DOCTOR_BAD, "/proc/meminfo", "enough",
     "the kernel reclaims pages from replays while they are measured"},
    {"swapping", "swapping", RES_DOCTOR_BAD, "/proc/vmstat", "none just now",
     "pages that are swapped out count neither as resident nor as fast"},
    {"huge_pages", "huge pages", RES_DOCTOR_NOTE, "/sys/kernel/mm/transparent_hugepage/enabled",
     "not for every mapping", "peaks move by 2 MB a mapping, depending on how memory happens to lie"},
};
#define DISTURBANCE_COUNT (sizeof DISTURBANCES / sizeof DISTURBANCES[0])

static bool exists(const struct res_doctor *doctor, const char *path)
{
    RES_FREED char *full = res_printf("%s%s", doctor->root, path);
    return access(full, F_OK) == 0;
}

/* The one seen last: of memory there are a before and an after. */
static const struct res_disturbance *disturbance_of(const struct res_disturbances *disturbances,
                                                    const char *kind)
{
    const struct res_disturbance *found = NULL;
    for (size_t i = 0; i < disturbances->count; i++) {
        if (strcmp(disturbances->list[i].kind, kind) == 0)
            found = &disturbances->list[i];
    }
    return found;
}

static void add_disturbances(struct res_doctor *doctor, uint64_t window_ns)
{
    struct res_disturbances disturbances;
    const struct timespec window = {.tv_sec = (time_t)(window_ns / 1000000000),
                                    .tv_nsec = (long)(window_ns % 1000000000)};
    res_disturbances_begin(&disturbances, doctor->root);
    if (window_ns > 0)
        (void)nanosleep(&window, NULL); /* cut short by a signal, it has watched for less */
    res_disturbances_end(&disturbances);
    for (size_t i = 0; i < DISTURBANCE_COUNT; i++) {
        const struct res_disturbance *one = disturbance_of(&disturbances, DISTURBANCES[i].kind);
        if (one != NULL)
            res_doctor_add(doctor, MEASURING, DISTURBANCES[i].name, DISTURBANCES[i].state,
                           res_strdup(one->text), DISTURBANCES[i].why, one->remedy);
        else
            res_doctor_add(doctor, MEASURING, DISTURBANCES[i].name, RES_DOCTOR_OK,
                           res_strdup(exists(doctor, DISTURBANCES[i].told_by)
                                          ? DISTURBANCES[i].otherwise
                                          : "nothing to see: this kernel does not tell"),
                           DISTURBANCES[i].why, NULL);
    }
    res_disturbances_release(&disturbances);
}

static void add_processors(struct res_doctor *doctor)
{
    static const char WHY[] = "recorder, program and replayed threads share them; threads that wait for each "
                              "other are timed apart from that";
    char text[64];
    cpu_set_t set;
    int usable = get_nprocs();
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        usable = CPU_COUNT(&set);
    const bool one = usable < 2;
    const char *remedy =
        one ? "measure where there are more; a recorder without a processor of its own slows the program"
            : "measure programs with many threads where there are more";
    res_doctor_add(doctor, MEASURING, "processors",
                   usable < 4 ? (one ? RES_DOCTOR_BAD : RES_DOCTOR_NOTE) : RES_DOCTOR_OK,
                   res_printf("%d can be used", usable), WHY, remedy);
    if (res_doctor_read(doctor, "/sys/devices/system/cpu/smt/active", text, sizeof text))
        res_doctor_add(doctor, MEASURING, "hyper-threading", text[0] == '1' ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
                       res_strdup(text[0] == '1' ? "on: two logical processors share a core" : "off"),
                       "what runs on the other half of a core takes part of it",
                       "keep the other halves idle, or echo off > /sys/devices/system/cpu/smt/control");
}

static void add_virtual_machine(struct res_doctor *doctor)
{
    RES_FREED char *text = res_calloc(65536, 1);
    if (res_doctor_read(doctor, "/proc/cpuinfo", text, 65536)) {
        const bool is_one = strstr(text, " hypervisor") != NULL;
        res_doctor_add(
            doctor, MEASURING, "virtual machine", is_one ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
            res_strdup(is_one ? "yes" : "no"),
            "the first touch of memory costs more, and neighbours are unseen; compare within one table only",
            "warm-ups and interleaved rounds stand against it; for single per cents use real hardware");
    }
}

/* The value of a control group's file, of the own group or of the nearest one above that has a limit. */
static bool group_limit(const struct res_doctor *doctor, const char *name, char *ret_text, size_t size)
{
    char groups[4096] = "\n", path[4352];
    (void)res_doctor_read(doctor, "/proc/self/cgroup", groups + 1, sizeof groups - 1);
    char *line = strstr(groups, "\n0::/"), *group = line != NULL ? line + 4 : groups + strlen(groups);
    group[strcspn(group, "\n")] = '\0';
    for (char *slash = group + strlen(group); slash != NULL; slash = strrchr(group, '/')) {
        *slash = '\0';
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", group, name);
        if (res_doctor_read(doctor, path, ret_text, size) && strncmp(ret_text, "max", 3) != 0)
            return true;
    }
    return false;
}

static void add_group_limits(struct res_doctor *doctor)
{
    static const char WHY_CPU[] = "at its quota the kernel stops a run for the rest of the period";
    static const char WHY_MEMORY[] = "allocators that need more are killed, and reclaim disturbs before that";
    char text[128], bytes[32];
    const bool told = group_limit(doctor, "cpu.max", text, sizeof text); /* "QUOTA PERIOD", in microseconds */
    char *rest = text;
    const double quota_us = told ? strtod(text, &rest) : 0, period_us = strtod(rest, NULL);
    const bool quota = quota_us > 0 && period_us > 0;
    res_doctor_add(doctor, MEASURING, "processor quota", quota ? RES_DOCTOR_BAD : RES_DOCTOR_OK,
                   quota ? res_printf("the control group may use %.2g processors", quota_us / period_us)
                         : res_strdup("none"),
                   WHY_CPU, "run the container without --cpus; --cpuset-cpus limits without stopping");
    const bool limit = group_limit(doctor, "memory.max", text, sizeof text);
    res_doctor_add(doctor, MEASURING, "memory quota", limit ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
                   limit
                       ? res_printf("the control group may hold %s", fp_text_bytes(strtod(text, NULL), bytes))
                       : res_strdup("none"),
                   WHY_MEMORY, "see that it is well above the program's peak");
}

/* Only looked at: none is made. */
static void add_limit_groups(struct res_doctor *doctor)
{
    struct res_group_place place;
    const bool found = res_group_place_find(doctor->root, NULL, &place);
    RES_FREED char *text = found ? res_printf("control groups of version %d can be made in %s", place.version,
                                              place.directory)
                                 : res_printf("RLIMIT_DATA only: %s", place.why);
    char *plain = res_text_plain(text);
    const bool is_good = found ||
                         !exists(doctor, "/proc/self/cgroup"); /* else there is nothing to be mended */
    res_doctor_add(
        doctor, MEASURING, "memory limits", is_good ? RES_DOCTOR_OK : RES_DOCTOR_NOTE, plain,
        "--limit counts what is in memory, as a container does, where it has a control group; else what "
        "is mapped",
        "run as root, or in a group of its own: systemd-run --user --scope -p Delegate=yes "
        "mallab ...; or name one by --limit-in");
    res_group_place_release(&place);
}

void res_doctor_measuring(struct res_doctor *doctor, uint64_t window_ns)
{
    add_disturbances(doctor, window_ns);
    add_processors(doctor);
    add_virtual_machine(doctor);
    add_group_limits(doctor);
    add_limit_groups(doctor);
}

/* ---- recording ------------------------------------------------------------------------------ */

static void add_shared_memory(struct res_doctor *doctor)
{
    static const char WHY[] =
        "the recorded program hands its calls to the collector through it (128 MiB, --memory)";
    RES_FREED char *path = res_printf("%s/dev/shm", doctor->root);
    struct statvfs facts;
    char bytes[32];
    if (statvfs(path, &facts) != 0 || access(path, W_OK | X_OK) != 0) {
        res_doctor_add(doctor, RECORDING, "shared memory", RES_DOCTOR_NOTE,
                       res_printf("/dev/shm cannot be used: %s", strerror(errno)),
                       "a file in the recording's directory serves instead, where pages cost more",
                       "mount -t tmpfs shm /dev/shm");
    } else {
        const uint64_t room = (uint64_t)facts.f_bavail * facts.f_frsize;
        const bool enough = room >= SHARED_NEEDED;
        res_doctor_add(
            doctor, RECORDING, "shared memory", enough ? RES_DOCTOR_OK : RES_DOCTOR_BAD,
            res_printf("%s free in /dev/shm", fp_text_bytes((double)room, bytes)), WHY,
            "docker run --shm-size 1g, or record --memory with less; what older recorders left is in "
            "/dev/shm/mallab*");
    }
}

static void add_limit(struct res_doctor *doctor, const char *name, int resource, const char *why,
                      const char *remedy)
{
    struct rlimit limit;
    char bytes[32];
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0)
        return;
    const bool limited = limit.rlim_cur != RLIM_INFINITY;
    res_doctor_add(doctor, RECORDING, name, limited ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
                   limited ? res_strdup(fp_text_bytes((double)limit.rlim_cur, bytes))
                           : res_strdup("no limit"),
                   why, remedy);
}

static void add_limits(struct res_doctor *doctor)
{
    struct rlimit limit;
    add_limit(doctor, "file size limit", RLIMIT_FSIZE,
              "a footprint ends there; the program goes on, unrecorded", "ulimit -f unlimited");
    add_limit(doctor, "address space limit", RLIMIT_AS,
              "allocators that reserve more than they use fail where they would not in production",
              "ulimit -v unlimited");
    add_limit(doctor, "data limit", RLIMIT_DATA, "allocations fail at it, in the program and in replays",
              "ulimit -d unlimited");
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        const bool few = limit.rlim_cur < DESCRIPTORS_LEAST;
        res_doctor_add(doctor, RECORDING, "open files", few ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
                       res_printf("%llu", (unsigned long long)limit.rlim_cur),
                       "the collector keeps a footprint open for each process", "ulimit -n 1024");
    }
}

static void add_kernel_settings(struct res_doctor *doctor)
{
    char text[64];
    if (res_doctor_read(doctor, "/proc/sys/vm/overcommit_memory", text, sizeof text)) {
        const bool strict = text[0] == '2';
        res_doctor_add(doctor, RECORDING, "overcommit", strict ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
                       res_printf("vm.overcommit_memory is %s", text),
                       "with 2, mappings that are never touched count: allocators that reserve ahead fail",
                       "use what production has; else sysctl vm.overcommit_memory=0");
    }
    if (res_doctor_read(doctor, "/proc/sys/vm/max_map_count", text, sizeof text)) {
        const bool few = strtol(text, NULL, 10) < MAPS_LEAST;
        res_doctor_add(doctor, RECORDING, "mappings", few ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
                       res_printf("a process may have %s", text),
                       "allocators that map large objects one by one run out of them",
                       "sysctl vm.max_map_count=65530");
    }
}

/* A recorded program inherits variables that steer allocators, and replays do not: the two then differ. */
static void add_environment(struct res_doctor *doctor)
{
    static const char *const names[] = {"LD_PRELOAD",       "GLIBC_TUNABLES",  "MALLOC_CONF",
                                        "MALLOC_ARENA_MAX", "MALLOC_PERTURB_", "MALLOC_CHECK_"};
    struct res_text set = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && *value != '\0')
            res_text_printf(&set, "%s%s", set.length > 0 ? ", " : "", names[i]);
    }
    const bool any = set.length > 0;
    res_doctor_add(
        doctor, RECORDING, "environment", any ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
        any ? res_printf("set: %s", set.text) : res_strdup("nothing in it steers an allocator"),
        "a recorded program inherits it, replays do not: they take settings from the candidate only",
        "unset it, or name the same settings in -a");
    free(set.text);
}

static void add_security(struct res_doctor *doctor)
{
    char text[256];
    if (res_doctor_read(doctor, "/sys/fs/selinux/enforce", text, sizeof text))
        res_doctor_add(doctor, RECORDING, "SELinux", text[0] == '1' ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
                       res_strdup(text[0] == '1' ? "enforcing" : "permissive"),
                       "confined programs may neither load libmallab.so nor reach /dev/shm",
                       "where a recording stays empty look for 'mallab' in ausearch -m avc");
    if (res_doctor_read(doctor, "/proc/self/attr/apparmor/current", text, sizeof text)) {
        const bool confined = text[0] != '\0' && strcmp(text, "unconfined") != 0;
        res_doctor_add(
            doctor, RECORDING, "AppArmor", confined ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
            res_printf("%s%s", confined ? "this shell is confined: " : "", confined ? text : "unconfined"),
            "confined programs may neither load libmallab.so nor reach /dev/shm",
            "where a recording stays empty: docker run --security-opt apparmor=unconfined");
    }
}

void res_doctor_recording(struct res_doctor *doctor)
{
    add_shared_memory(doctor);
    if (doctor->root[0] == '\0') {
        add_limits(doctor);
        add_environment(doctor);
    }
    add_kernel_settings(doctor);
    add_security(doctor);
}

/* ---- confirming ----------------------------------------------------------------------------- */

static int pause_forever(void *data)
{
    for (;;)
        pause();
    return 0;
}

/* Seize a child as confirm does. Returns 0 or an errno. */
static int try_ptrace(void)
{
    const struct fp_process_plan plan = {.body = pause_forever, .dies_with_us = true};
    struct fp_process process;
    int error = fp_process_start(&plan, &process);
    if (error != 0)
        return error;
    if (ptrace(PTRACE_SEIZE, process.pid, NULL, PTRACE_O_EXITKILL) != 0)
        error = errno;
    fp_process_kill(&process, SIGKILL);
    (void)fp_process_wait(&process, NULL); /* of no interest */
    fp_process_release(&process);
    return error;
}

static void add_ptrace(struct res_doctor *doctor)
{
    char scope[32];
    const bool told = res_doctor_read(doctor, "/proc/sys/kernel/yama/ptrace_scope", scope, sizeof scope);
    const int error = doctor->root[0] == '\0' ? try_ptrace() : 0;
    RES_FREED char *suffix = told ? res_printf(" (kernel.yama.ptrace_scope is %s)", scope) : res_strdup("");
    res_doctor_add(doctor, CONFIRMING, "ptrace", error != 0 ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
                   res_printf("%s%s", error != 0 ? strerror(error) : "works on own children", suffix),
                   "mallab confirm watches the real program's memory with it",
                   "sysctl kernel.yama.ptrace_scope=1; docker run --cap-add SYS_PTRACE");
}

static void add_seccomp(struct res_doctor *doctor)
{
    RES_FREED char *text = res_calloc(8192, 1);
    (void)res_doctor_read(doctor, "/proc/self/status", text, 8192);
    const char *line = strstr(text, "\nSeccomp:");
    const bool filtered = line != NULL && strtol(line + strlen("\nSeccomp:"), NULL, 10) != 0;
    res_doctor_add(
        doctor, CONFIRMING, "seccomp", filtered ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
        res_strdup(filtered ? "this shell's system calls are filtered (a container's profile)" : "no filter"),
        "a filter may forbid what ptrace needs, and slows all calls",
        "docker run --security-opt seccomp=unconfined, if one of these is refused");
}

void res_doctor_confirming(struct res_doctor *doctor)
{
    add_ptrace(doctor);
    add_seccomp(doctor);
}
