/* doctor_recording.c - the machine as a place to record and to validate on. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "results/measure/machine/doctor_checks.h"

#define RECORDING  "recording"
#define VALIDATING "validating"

#define SHARED_NEEDED     (UINT64_C(128) << 20) /* what `record --memory` takes unless told otherwise */
#define MAPS_LEAST        65530                 /* the kernel's own default */
#define DESCRIPTORS_LEAST 256

static void add_shared_memory(struct res_doctor *doctor)
{
    static const char WHY[] =
        "the recorded program hands its calls to the collector through it (128 MiB, --memory)";
    char *path = res_printf("%s/dev/shm", doctor->root);
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
            enough
                ? NULL
                : "docker run --shm-size 1g, or record --memory with less; what older recorders left is in "
                  "/dev/shm/mallab*");
    }
    free(path);
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
                   why, limited ? remedy : NULL);
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
                       "the collector keeps a footprint open for each process",
                       few ? "ulimit -n 1024" : NULL);
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
                       strict ? "use what production has; else sysctl vm.overcommit_memory=0" : NULL);
    }
    if (res_doctor_read(doctor, "/proc/sys/vm/max_map_count", text, sizeof text)) {
        const bool few = strtol(text, NULL, 10) < MAPS_LEAST;
        res_doctor_add(doctor, RECORDING, "mappings", few ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
                       res_printf("a process may have %s", text),
                       "allocators that map large objects one by one run out of them",
                       few ? "sysctl vm.max_map_count=65530" : NULL);
    }
}

/* What steers allocators is inherited by a recorded program and kept from replays: the two then differ. */
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
        any ? "unset it, or name the same settings in -a" : NULL);
    free(set.text);
}

static void add_security(struct res_doctor *doctor)
{
    char text[256];
    if (res_doctor_read(doctor, "/sys/fs/selinux/enforce", text, sizeof text))
        res_doctor_add(doctor, RECORDING, "SELinux", text[0] == '1' ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
                       res_strdup(text[0] == '1' ? "enforcing" : "permissive"),
                       "confined programs may neither load libmallab.so nor reach /dev/shm",
                       text[0] == '1' ? "where a recording stays empty look for 'mallab' in ausearch -m avc"
                                      : NULL);
    if (res_doctor_read(doctor, "/proc/self/attr/apparmor/current", text, sizeof text)) {
        const bool confined = text[0] != '\0' && strcmp(text, "unconfined") != 0;
        res_doctor_add(
            doctor, RECORDING, "AppArmor", confined ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
            res_printf("%s%s", confined ? "this shell is confined: " : "", confined ? text : "unconfined"),
            "confined programs may neither load libmallab.so nor reach /dev/shm",
            confined ? "where a recording stays empty: docker run --security-opt apparmor=unconfined" : NULL);
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

/* ---- validating ----------------------------------------------------------------------------- */

static int pause_forever(void *data)
{
    for (;;)
        pause();
    return 0;
}

/* Seize a child as validate will. Returns 0 or an errno. */
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
    char *suffix = told ? res_printf(" (kernel.yama.ptrace_scope is %s)", scope) : res_strdup("");
    res_doctor_add(doctor, VALIDATING, "ptrace", error != 0 ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
                   res_printf("%s%s", error != 0 ? strerror(error) : "works on own children", suffix),
                   "mallab validate watches the real program's memory with it",
                   error != 0 ? "sysctl kernel.yama.ptrace_scope=1; docker run --cap-add SYS_PTRACE" : NULL);
    free(suffix);
}

static void add_seccomp(struct res_doctor *doctor)
{
    char *text = res_calloc(8192, 1);
    char actions[512];
    (void)res_doctor_read(doctor, "/proc/self/status", text, 8192);
    const char *line = strstr(text, "\nSeccomp:");
    const bool filtered = line != NULL && strtol(line + strlen("\nSeccomp:"), NULL, 10) != 0;
    res_doctor_add(
        doctor, VALIDATING, "seccomp", filtered ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
        res_strdup(filtered ? "this shell's system calls are filtered (a container's profile)" : "no filter"),
        "a filter may forbid what counters, ptrace and the system call pass need, and slows all calls",
        filtered ? "docker run --security-opt seccomp=unconfined, if one of these is refused" : NULL);
    free(text);
    if (res_doctor_read(doctor, "/proc/sys/kernel/seccomp/actions_avail", actions, sizeof actions)) {
        const bool can = strstr(actions, "user_notif") != NULL;
        res_doctor_add(doctor, VALIDATING, "system calls", can ? RES_DOCTOR_OK : RES_DOCTOR_NOTE,
                       res_strdup(can ? "the kernel lets them be counted" : "the kernel cannot tell of them"),
                       "ab counts an allocator's system calls by seccomp user notification",
                       can ? NULL : "a kernel from 5.0 on; ab goes without");
    }
}

void res_doctor_validating(struct res_doctor *doctor)
{
    add_ptrace(doctor);
    add_seccomp(doctor);
}
