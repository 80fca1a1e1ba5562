/* disturbances.c - /proc and /sys, before and after. */
#include "results/measure/machine/disturbances.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "footprint/base/process.h"
#include "footprint/base/support.h"
#include "footprint/base/words.h"

#define RES_MACHINE_VARIABLE "MALLAB_MACHINE"

/* Percent of the time in which some thread waited for a processor. Replays run no more threads than there are. */
#define PRESSURE_PERCENT 5.0
/* Percent of all processor time. Differences of 1-3 % are what is looked for. */
#define STOLEN_PERCENT 1.0
#define OTHERS_PERCENT 5.0
/* Percent by which the slower half of the harness' own runs, which do the same, took longer than the faster one. */
#define PHASES_PERCENT 5.0
/* Percent of memory. The kernel begins to reclaim before the last page is gone. */
#define AVAILABLE_PERCENT 10.0

#define CPUS_MAX 1024

enum { TICKS_ALL, TICKS_IDLE, TICKS_STOLEN };

/* ---- reading -------------------------------------------------------------------------------- */

/* The first bytes of a file below the root; "" when there is none. */
static void read_text(const struct res_disturbances *disturbances, const char *path, char *ret_text,
                      size_t size)
{
    (void)res_file_begin(disturbances->root, path, ret_text, size);
}

static void read_word(const struct res_disturbances *disturbances, const char *path, char *ret_text,
                      size_t size)
{
    read_text(disturbances, path, ret_text, size);
    ret_text[strcspn(ret_text, " \n")] = '\0';
}

/* The number behind a key at the beginning of a line; NAN when there is none. */
static double number_after(const char *text, const char *key)
{
    const size_t length = strlen(key);
    for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0)
            return strtod(line + length, NULL);
    }
    return NAN;
}

/* The time that threads which could run waited for a processor, since the kernel began: of /proc/pressure; else, summed over
 * them, of /proc/schedstat, whose eighth number of each processor it is, in ns. NAN: neither tells. */
static double pressed_us(const struct res_disturbances *disturbances)
{
    static char text[65536];
    double waited_ns = NAN;
    read_text(disturbances, "/proc/pressure/cpu", text, sizeof text);
    const char *total = strncmp(text, "some ", 5) == 0 ? strstr(text, "total=") : NULL;
    if (total != NULL)
        return strtod(total + 6, NULL);
    read_text(disturbances, "/proc/schedstat", text, sizeof text);
    for (const char *line = strstr(text, "\ncpu"); line != NULL; line = strstr(line + 1, "\ncpu")) {
        char *at = (char *)(uintptr_t)line + strcspn(line, " ");
        double number = NAN;
        for (int column = 0; column < 8; column++)
            number = strtod(at, &at);
        waited_ns = isfinite(waited_ns) ? waited_ns + number : number;
    }
    return waited_ns / 1e3;
}

static double swapped_pages(const struct res_disturbances *disturbances)
{
    static char text[65536];
    read_text(disturbances, "/proc/vmstat", text, sizeof text);
    return number_after(text, "pswpin ") + number_after(text, "pswpout ");
}

/* user nice system idle iowait irq softirq steal; guests are in user. */
static void processor_ticks(const struct res_disturbances *disturbances, double *ret_ticks)
{
    char text[512];
    read_text(disturbances, "/proc/stat", text, sizeof text);
    char *at = text + (strncmp(text, "cpu ", 4) == 0 ? 4 : strlen(text));
    ret_ticks[TICKS_ALL] = ret_ticks[TICKS_IDLE] = ret_ticks[TICKS_STOLEN] = 0;
    for (int column = 0; column < 8; column++) {
        const double ticks = strtod(at, &at);
        ret_ticks[TICKS_ALL] += ticks;
        ret_ticks[TICKS_IDLE] += column == 3 || column == 4 ? ticks : 0;
        ret_ticks[TICKS_STOLEN] += column == 7 ? ticks : 0;
    }
}

/* ---- telling -------------------------------------------------------------------------------- */

/* Takes text. */
static void add(struct res_disturbances *disturbances, const char *kind, const char *when, double value,
                const char *unit, char *text, const char *remedy)
{
    disturbances->list = res_realloc(disturbances->list, disturbances->count + 1, sizeof *disturbances->list);
    disturbances->list[disturbances->count++] = (struct res_disturbance){
        .kind = res_strdup(kind),
        .when = res_strdup(when),
        .unit = res_strdup(unit),
        .text = text,
        .remedy = res_strdup(remedy),
        .value = value,
    };
}

static void look_at_frequency(struct res_disturbances *disturbances)
{
    char path[128], word[64];
    for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
        read_word(disturbances, path, word, sizeof word);
        if (word[0] == '\0')
            break;
        if (strcmp(word, "performance") == 0)
            continue;
        RES_FREED char *plain = res_text_plain(word);
        add(disturbances, "governor", "before", cpu, "processor",
            res_printf("the frequency governor of processor %d is %s", cpu, plain),
            "set it to performance: cpupower frequency-set -g performance");
        break;
    }
    read_word(disturbances, "/sys/devices/system/cpu/intel_pstate/no_turbo", word, sizeof word);
    const bool intel = strcmp(word, "0") == 0;
    read_word(disturbances, "/sys/devices/system/cpu/cpufreq/boost", word, sizeof word);
    if (intel)
        add(disturbances, "turbo", "before", 1, "on",
            res_strdup("turbo is on: the clock rate depends on heat"),
            "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo");
    else if (strcmp(word, "1") == 0)
        add(disturbances, "turbo", "before", 1, "on",
            res_strdup("boost is on: the clock rate depends on heat"),
            "echo 0 > /sys/devices/system/cpu/cpufreq/boost");
}

static void look_at_memory(struct res_disturbances *disturbances, const char *when)
{
    char text[4096];
    read_text(disturbances, "/proc/meminfo", text, sizeof text);
    const double total = number_after(text, "MemTotal:"), available = number_after(text, "MemAvailable:");
    const double percent = 100 * available / total;
    if (percent < AVAILABLE_PERCENT)
        add(disturbances, "memory", when, percent, "percent",
            res_printf("only %.0f %% of memory is available", percent), "end what holds it");
}

static void look_at_huge_pages(struct res_disturbances *disturbances)
{
    char text[128];
    read_text(disturbances, "/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text);
    if (strstr(text, "[always]") != NULL)
        add(disturbances, "huge_pages", "before", NAN, "mode",
            res_strdup(
                "transparent huge pages are given to every mapping (always): memory depends on chance"),
            "use what production has; else echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
}

void res_disturbances_begin(struct res_disturbances *disturbances, const char *root)
{
    *disturbances = (struct res_disturbances){.root = res_strdup(root)};
    look_at_frequency(disturbances);
    look_at_memory(disturbances, "before");
    look_at_huge_pages(disturbances);
    disturbances->begin_ns = fp_now_ns();
    (void)getrusage(RUSAGE_CHILDREN, &disturbances->children); /* cannot fail */
    processor_ticks(disturbances, disturbances->processor_ticks);
    disturbances->swapped_pages = swapped_pages(disturbances);
    disturbances->pressed_us = pressed_us(disturbances);
}

/* Processor time of our children since the begin, in ticks. */
static double own_ticks(const struct res_disturbances *disturbances)
{
    const struct rusage *then = &disturbances->children;
    struct rusage now;
    struct timeval user, system;
    (void)getrusage(RUSAGE_CHILDREN, &now);
    timersub(&now.ru_utime, &then->ru_utime, &user);
    timersub(&now.ru_stime, &then->ru_stime, &system);
    timeradd(&user, &system, &user);
    return ((double)user.tv_sec + (double)user.tv_usec / 1e6) * (double)sysconf(_SC_CLK_TCK);
}

static void look_at_processors(struct res_disturbances *disturbances)
{
    double ticks[3];
    processor_ticks(disturbances, ticks);
    for (int i = 0; i < 3; i++)
        ticks[i] -= disturbances->processor_ticks[i];
    if (!(ticks[TICKS_ALL] > 0))
        return;
    const double stolen = 100 * ticks[TICKS_STOLEN] / ticks[TICKS_ALL];
    const double busy = ticks[TICKS_ALL] - ticks[TICKS_IDLE] - ticks[TICKS_STOLEN];
    const double others = 100 * (busy - own_ticks(disturbances)) / ticks[TICKS_ALL];
    if (stolen > STOLEN_PERCENT)
        add(disturbances, "steal", "during", stolen, "percent",
            res_printf("the hypervisor took %.1f %% of CPU", stolen),
            "measure on a machine whose processors are not shared");
    if (others > OTHERS_PERCENT)
        add(disturbances, "others", "during", others, "percent",
            res_printf("other programs took %.0f %% of CPU", others),
            "end them, or keep replays apart from them with taskset(1)");
}

void res_disturbances_end(struct res_disturbances *disturbances)
{
    const double elapsed_us = (double)(fp_now_ns() - disturbances->begin_ns) / 1e3;
    const double pressed = 100 * (pressed_us(disturbances) - disturbances->pressed_us) / elapsed_us;
    const double swapped = swapped_pages(disturbances) - disturbances->swapped_pages;
    look_at_processors(disturbances);
    if (pressed > PRESSURE_PERCENT)
        add(disturbances, "pressure", "during", pressed, "percent",
            res_printf("threads waited for a CPU %.0f %% of the time", pressed),
            "end what else runs, or give replays processors of their own with taskset(1)");
    if (swapped > 0)
        add(disturbances, "swapping", "during", swapped, "pages",
            res_printf("%s pages were swapped in or out", FP_GROUPED((uint64_t)swapped)),
            "free memory, or swapoff -a");
    look_at_memory(disturbances, "after");
}

/* ---- the host's phases ----------------------------------------------------------------------- */

/* The replay without an allocator does the same in every round: where its runs fall into slow and fast ones, it was the machine. */
static double phases_percent(const struct res_result_entry *floor)
{
    const size_t count = floor != NULL && floor->failed == NULL ? floor->run_count : 0;
    RES_FREED double *times = res_calloc(count + 1, sizeof *times);
    for (size_t i = 0; i < count; i++)
        times[i] = floor->runs[i].ns_per_op;
    const double middle = count >= RES_ROUNDS_FOR_VERDICT ? res_median(times, count) : NAN;
    double sums[2] = {0, 0};
    size_t counts[2] = {0, 0};
    for (size_t i = 0; i < count; i++) {
        const bool slow = times[i] > middle;
        sums[slow] += times[i];
        counts[slow]++;
    }
    return 100 * (sums[1] / (double)counts[1] / (sums[0] / (double)counts[0]) - 1);
}

static void look_at_phases(struct res_disturbances *disturbances, const struct res_result *result)
{
    double percent = 0;
    for (size_t i = 0; i < result->workload_count; i++)
        percent = fmax(percent, phases_percent(result->workloads[i].floor)); /* not of NAN */
    for (size_t i = 0; i < disturbances->count; i++) /* these make them, and are told */
        if (strcmp(disturbances->list[i].when, "during") == 0)
            return;
    if (percent > PHASES_PERCENT)
        add(disturbances, "host", "during", percent, "percent",
            res_printf("the host had slow phases: half of the harness' own runs took %.0f %% longer",
                       percent),
            "measure for longer, or on a machine that is not shared");
}

void res_disturbances_give(struct res_disturbances *disturbances, struct res_result *result)
{
    look_at_phases(disturbances, result);
    result->disturbances = res_calloc(disturbances->count + 1, sizeof *result->disturbances);
    for (size_t i = 0; i < disturbances->count; i++) {
        struct res_disturbance *one = &disturbances->list[i];
        if (strcmp(one->when, "before") == 0)
            continue; /* it lasts: it is the same for all runs */
        result->disturbances[result->disturbance_count++] = *one;
        *one = (struct res_disturbance){0};
    }
}

void res_disturbances_release(struct res_disturbances *disturbances)
{
    struct res_result owner = {.disturbances = disturbances->list, .disturbance_count = disturbances->count};
    free(disturbances->root);
    res_described_release(&RES_RESULT, &owner);
    *disturbances = (struct res_disturbances){0};
}

/* ---- the machine itself ----------------------------------------------------------------------- */

/* The first line, made plain; NULL when there is none. */
static char *line_of(const char *path)
{
    char line[512];
    const bool told = res_file_begin("", path, line, sizeof line) && *line != '\0';
    line[strcspn(line, "\n")] = '\0';
    return told ? res_text_plain(line) : NULL;
}

/* The value behind "key ... : " in /proc/cpuinfo, for the first processor, made plain. key: with the newline before it. */
static char *cpu_fact(const char *key)
{
    char text[16384];
    (void)res_file_begin("", "/proc/cpuinfo", text, sizeof text); /* "" where there is none */
    char *line = strstr(text, key), *colon = line != NULL ? strchr(line + 1, ':') : NULL;
    if (colon == NULL)
        return NULL;
    colon[strcspn(colon, "\n")] = '\0';
    return res_text_plain(colon + 1 + strspn(colon + 1, " \t"));
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

void res_machine_describe(struct res_machine *ret_machine)
{
    struct utsname names;
    Dl_info libc;
    double load[1];
    RES_FREED char *flags = cpu_fact("\nflags");
    const char *name = getenv(RES_MACHINE_VARIABLE);
    const long pages = sysconf(_SC_PHYS_PAGES);
    res_described_init(&RES_MACHINE, ret_machine);
    ret_machine->name = name != NULL && *name != '\0' ? res_text_plain(name) : NULL;
    ret_machine->cpu = cpu_fact("\nmodel name");
    ret_machine->cpus = usable_cpus();
    ret_machine->page_bytes = (double)sysconf(_SC_PAGESIZE);
    ret_machine->memory_bytes = pages > 0 ? (double)pages * (double)sysconf(_SC_PAGESIZE) : NAN;
    if (uname(&names) == 0) {
        ret_machine->architecture = res_text_plain(names.machine);
        ret_machine->kernel = res_text_plain(names.release);
    }
    ret_machine->libc = res_printf("glibc %s", gnu_get_libc_version());
    if (dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &libc) != 0)
        ret_machine->libc_build = res_build_of(libc.dli_fname);
    ret_machine->transparent_huge_pages = chosen_word(line_of("/sys/kernel/mm/transparent_hugepage/enabled"));
    ret_machine->governor = line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    ret_machine->load_1_minute = getloadavg(load, 1) == 1 ? load[0] : NAN;
    ret_machine->virtual_machine = flags != NULL ? strstr(flags, " hypervisor") != NULL : -1;
}
