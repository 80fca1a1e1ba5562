/* doctor_measuring.c - the machine as a place to measure on. */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "footprint/base/support.h"
#include "footprint/base/words.h"
#include "results/measure/machine/disturbances.h"
#include "results/measure/machine/doctor_checks.h"
#include "results/measure/run/control_group_place.h"

#define AREA "measuring"

/* What `ab` warns of. An interleaved experiment evens out what lasts (turbo, huge pages), not what comes and goes. */
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
    {"load", "load", RES_DOCTOR_BAD, "/proc/loadavg", "other programs leave the processors alone",
     "replays lose their turn and their caches to other programs"},
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
    {"battery", "power", RES_DOCTOR_BAD, "/sys/class/power_supply", "no battery is being emptied",
     "clock rates are kept low"},
};
#define DISTURBANCE_COUNT (sizeof DISTURBANCES / sizeof DISTURBANCES[0])

static bool exists(const struct res_doctor *doctor, const char *path)
{
    char *full = res_printf("%s%s", doctor->root, path);
    const bool is_there = access(full, F_OK) == 0;
    free(full);
    return is_there;
}

/* The one seen last: of pressure there are a before and a during. */
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
            res_doctor_add(doctor, AREA, DISTURBANCES[i].name, DISTURBANCES[i].state, res_strdup(one->text),
                           DISTURBANCES[i].why, one->remedy);
        else
            res_doctor_add(doctor, AREA, DISTURBANCES[i].name, RES_DOCTOR_OK,
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
    res_doctor_add(doctor, AREA, "processors",
                   usable < 4 ? (one ? RES_DOCTOR_BAD : RES_DOCTOR_NOTE) : RES_DOCTOR_OK,
                   res_printf("%d can be used", usable), WHY, usable < 4 ? remedy : NULL);
    if (res_doctor_read(doctor, "/sys/devices/system/cpu/smt/active", text, sizeof text))
        res_doctor_add(doctor, AREA, "hyper-threading", text[0] == '1' ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
                       res_strdup(text[0] == '1' ? "on: two logical processors share a core" : "off"),
                       "what runs on the other half of a core takes part of it",
                       text[0] == '1'
                           ? "keep the other halves idle, or echo off > /sys/devices/system/cpu/smt/control"
                           : NULL);
}

static void add_virtual_machine(struct res_doctor *doctor)
{
    char *text = res_calloc(65536, 1);
    if (res_doctor_read(doctor, "/proc/cpuinfo", text, 65536)) {
        const bool is_one = strstr(text, " hypervisor") != NULL;
        res_doctor_add(
            doctor, AREA, "virtual machine", is_one ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
            res_strdup(is_one ? "yes" : "no"),
            "the first touch of memory costs more, and neighbours are unseen; compare within one table only",
            is_one
                ? "warm-ups and interleaved rounds stand against it; for single per cents use real hardware"
                : NULL);
    }
    free(text);
}

/* The value of a control group's file, of the own group or of the nearest one above that has a limit. */
static bool group_limit(const struct res_doctor *doctor, const char *name, char *ret_text, size_t size)
{
    char groups[4096], path[4352];
    (void)res_doctor_read(doctor, "/proc/self/cgroup", groups, sizeof groups);
    const char *unified = strncmp(groups, "0::", 3) == 0 ? groups : strstr(groups, "\n0::");
    char *group = res_strdup(unified != NULL ? strchr(unified, '/') != NULL ? strchr(unified, '/') : "" : "");
    bool found = false;
    group[strcspn(group, "\n")] = '\0';
    for (;;) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", group, name);
        found = res_doctor_read(doctor, path, ret_text, size) && strncmp(ret_text, "max", 3) != 0;
        char *slash = strrchr(group, '/');
        if (found || slash == NULL)
            break;
        *slash = '\0';
    }
    free(group);
    return found;
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
    res_doctor_add(doctor, AREA, "processor quota", quota ? RES_DOCTOR_BAD : RES_DOCTOR_OK,
                   quota ? res_printf("the control group may use %.2g processors", quota_us / period_us)
                         : res_strdup("none"),
                   WHY_CPU,
                   quota ? "run the container without --cpus; --cpuset-cpus limits without stopping" : NULL);
    const bool limit = group_limit(doctor, "memory.max", text, sizeof text);
    res_doctor_add(doctor, AREA, "memory quota", limit ? RES_DOCTOR_NOTE : RES_DOCTOR_OK,
                   limit
                       ? res_printf("the control group may hold %s", fp_text_bytes(strtod(text, NULL), bytes))
                       : res_strdup("none"),
                   WHY_MEMORY, limit ? "see that it is well above the program's peak" : NULL);
}

/* Only looked at: none is made. */
static void add_limit_groups(struct res_doctor *doctor)
{
    struct res_group_place place;
    const bool found = res_group_place_find(doctor->root, NULL, &place);
    char *text = found ? res_printf("control groups of version %d can be made in %s", place.version,
                                    place.directory)
                       : res_printf("RLIMIT_DATA only: %s", place.why);
    char *plain = res_text_plain(text);
    const bool is_good = found ||
                         !exists(doctor, "/proc/self/cgroup"); /* else there is nothing to be mended */
    res_doctor_add(
        doctor, AREA, "memory limits", is_good ? RES_DOCTOR_OK : RES_DOCTOR_NOTE, plain,
        "--limit counts what is in memory, as a container does, where it has a control group; else what "
        "is mapped",
        is_good ? NULL
                : "run as root, or in a group of its own: systemd-run --user --scope -p Delegate=yes "
                  "mallab ...; or name one by --limit-in");
    free(text);
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
