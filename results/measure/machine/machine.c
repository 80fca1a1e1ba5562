/* machine.c - the machine, from /proc and /sys. */
#include "results/measure/machine/machine.h"

#include <gnu/libc-version.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "footprint/base/support.h"

/* The first line, NULL when there is none. */
static char *line_of(const char *path)
{
    char line[512];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return NULL;
    char *read = fgets(line, sizeof line, file);
    fclose(file);
    if (read == NULL)
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    return res_strdup(line);
}

/* The value behind "key ... : " in /proc/cpuinfo, for the first processor. */
static char *cpu_fact(const char *key)
{
    char line[4096];
    char *fact = NULL;
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (file == NULL)
        return NULL;
    while (fact == NULL && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) == 0 && colon != NULL) {
            colon[strcspn(colon, "\n")] = '\0';
            fact = res_strdup(colon + 1 + strspn(colon + 1, " \t"));
        }
    }
    fclose(file);
    return fact;
}

/* "always [madvise] never" says madvise. */
static char *chosen_word(char *line)
{
    char *chosen = NULL;
    char *begin = line != NULL ? strchr(line, '[') : NULL;
    char *end = begin != NULL ? strchr(begin, ']') : NULL;
    if (end != NULL)
        chosen = res_strndup(begin + 1, (size_t)(end - begin - 1));
    free(line);
    return chosen;
}

/* Logical processors that this process may use. */
static double usable_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return (double)sysconf(_SC_NPROCESSORS_ONLN);
    return CPU_COUNT(&set);
}

/* Physical cores: different pairs of package and core among the processors that are on. */
static double physical_cores(void)
{
    const long configured = sysconf(_SC_NPROCESSORS_CONF);
    json_t *seen = json_object();
    for (long cpu = 0; cpu < configured; cpu++) {
        char path[128], pair[64];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/topology/physical_package_id", cpu);
        char *package = line_of(path);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/topology/core_id", cpu);
        char *core = line_of(path);
        if (package != NULL && core != NULL) {
            snprintf(pair, sizeof pair, "%.20s %.20s", package, core);
            json_object_set_new(seen, pair, json_true());
        }
        free(package);
        free(core);
    }
    const size_t count = json_object_size(seen);
    json_decref(seen);
    return count > 0 ? (double)count : NAN;
}

/* What may be of any bytes, made plain. Takes over the text. */
static char *plain(char *text)
{
    char *fit = text != NULL ? res_text_plain(text) : NULL;
    free(text);
    return fit;
}

void res_machine_describe(struct res_machine *ret_machine)
{
    struct utsname names;
    double load[1];
    char *flags = cpu_fact("flags");
    const char *name = getenv(RES_MACHINE_VARIABLE);
    const long pages = sysconf(_SC_PHYS_PAGES);
    res_described_init(&RES_MACHINE, ret_machine);
    ret_machine->name = name != NULL && *name != '\0' ? res_text_plain(name) : NULL;
    ret_machine->cpu = plain(cpu_fact("model name"));
    ret_machine->cpus = usable_cpus();
    ret_machine->cores = physical_cores();
    ret_machine->memory_bytes = pages > 0 ? (double)pages * (double)sysconf(_SC_PAGESIZE) : NAN;
    if (uname(&names) == 0) {
        ret_machine->architecture = res_text_plain(names.machine);
        ret_machine->kernel = res_text_plain(names.release);
    }
    ret_machine->libc = res_printf("glibc %s", gnu_get_libc_version());
    ret_machine->transparent_huge_pages = plain(
        chosen_word(line_of("/sys/kernel/mm/transparent_hugepage/enabled")));
    ret_machine->governor = plain(line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
    ret_machine->load_1_minute = getloadavg(load, 1) == 1 ? load[0] : NAN;
    ret_machine->virtual_machine = flags != NULL ? strstr(flags, " hypervisor") != NULL : -1;
    free(flags);
}
