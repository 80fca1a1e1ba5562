/* machine.c - the machine, from /proc and /sys. */
#include "results/measure/machine/machine.h"

#include <gnu/libc-version.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "results/measure/base/support.h"

static json_t *string_or_null(char *text)
{
    json_t *value = text != NULL ? json_string(text) : NULL; /* NULL too when it is not UTF-8 */
    free(text);
    return value != NULL ? value : json_null();
}

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
static json_t *usable_cpus(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return json_integer(sysconf(_SC_NPROCESSORS_ONLN));
    return json_integer(CPU_COUNT(&set));
}

/* Physical cores: different pairs of package and core among the processors that are on. */
static json_t *physical_cores(void)
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
    return count > 0 ? json_integer((json_int_t)count) : json_null();
}

static json_t *given_name(void)
{
    const char *name = getenv(RES_MACHINE_VARIABLE);
    return string_or_null(name != NULL && *name != '\0' ? res_text_plain(name) : NULL);
}

json_t *res_machine_describe(void)
{
    json_t *machine = json_object();
    struct utsname names;
    double load[1];
    char *flags = cpu_fact("flags");
    const long pages = sysconf(_SC_PHYS_PAGES);
    json_object_set_new(machine, "cpu", string_or_null(cpu_fact("model name")));
    json_object_set_new(machine, "cpus", usable_cpus());
    json_object_set_new(machine, "cores", physical_cores());
    json_object_set_new(machine, "memory_bytes",
                        pages > 0 ? json_integer((json_int_t)pages * sysconf(_SC_PAGESIZE)) : json_null());
    json_object_set_new(machine, "name", given_name());
    if (uname(&names) == 0) {
        json_object_set_new(machine, "architecture", string_or_null(res_strdup(names.machine)));
        json_object_set_new(machine, "kernel", string_or_null(res_strdup(names.release)));
    }
    json_object_set_new(machine, "libc", string_or_null(res_printf("glibc %s", gnu_get_libc_version())));
    json_object_set_new(machine, "transparent_huge_pages",
                        string_or_null(chosen_word(line_of("/sys/kernel/mm/transparent_hugepage/enabled"))));
    json_object_set_new(machine, "governor",
                        string_or_null(line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")));
    json_object_set_new(machine, "load_1_minute",
                        getloadavg(load, 1) == 1 ? json_real(load[0]) : json_null());
    json_object_set_new(machine, "virtual_machine",
                        flags != NULL ? json_boolean(strstr(flags, " hypervisor") != NULL) : json_null());
    free(flags);
    return machine;
}
