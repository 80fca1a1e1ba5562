/* settings_glibc.c - GLIBC_TUNABLES and their older names.
 *
 * No call tells what malloc runs with. The loader that started this process, run once more with --list-tunables in the
 * same environment, lists what it accepted: a misspelt name is not on its list, a refused value is not shown. malloc
 * has bounds of its own beyond the loader's, which are checked here. Source: the GNU C Library manual, "Memory Allocation Tunables"; malloc/malloc.c of 2.36 for the bounds. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "replay/base/own_process.h"
#include "replay/proof/settings.h"

static const char *const OLDER[][2] = {
    {"MALLOC_ARENA_MAX", "glibc.malloc.arena_max"},
    {"MALLOC_ARENA_TEST", "glibc.malloc.arena_test"},
    {"MALLOC_MMAP_MAX_", "glibc.malloc.mmap_max"},
    {"MALLOC_MMAP_THRESHOLD_", "glibc.malloc.mmap_threshold"},
    {"MALLOC_PERTURB_", "glibc.malloc.perturb"},
    {"MALLOC_TOP_PAD_", "glibc.malloc.top_pad"},
    {"MALLOC_TRIM_THRESHOLD_", "glibc.malloc.trim_threshold"},
};

/* Beyond these malloc ignores the value without a word. */
static const struct {
    const char *name;
    long long max;
} BOUNDS[] = {
    {"glibc.malloc.tcache_count", 65535},
    {"glibc.malloc.tcache_max", 1032},
    {"glibc.malloc.mxfast", 160},
    {"glibc.malloc.mmap_threshold", 32 << 20},
    {"glibc.malloc.check", 0}, /* that malloc has moved to a library of its own */
};

/* "glibc.malloc.arena_max=2:glibc.malloc.tcache_count=0" */
static bool take_tunables(struct rep_settings *settings, const char *value)
{
    while (*value != '\0') {
        const size_t length = strcspn(value, ":");
        const char *sign = memchr(value, '=', length);
        if (sign == NULL)
            return rep_settings_refuse(settings, "'%.*s' in GLIBC_TUNABLES is not 'name=value'",
                                       (int)(length < 80 ? length : 80), value);
        if (!rep_settings_add(settings, value, (size_t)(sign - value), sign + 1,
                              length - (size_t)(sign + 1 - value)))
            return false;
        value += length + (value[length] == ':');
    }
    return true;
}

static bool take(struct rep_settings *settings, const char *variable, const char *value)
{
    if (strcmp(variable, "GLIBC_TUNABLES") == 0)
        return take_tunables(settings, value);
    for (size_t i = 0; i < sizeof OLDER / sizeof OLDER[0]; i++) {
        if (strcmp(OLDER[i][0], variable) == 0)
            return rep_settings_add(settings, OLDER[i][1], strlen(OLDER[i][1]), value, strlen(value));
    }
    return false;
}

static const char *loader_path(void)
{
    Dl_info info;
    const unsigned long base = getauxval(AT_BASE);
    void *address;
    memcpy(&address, &base, sizeof address);
    return base != 0 && dladdr(address, &info) != 0 ? info.dli_fname : NULL;
}

/* Objects on pages of a pool (2: of the default size; else of that many bytes) need some pages in it. */
static bool has_pool(long long asked)
{
    static const char *const COUNTS[] = {"nr_hugepages", "nr_overcommit_hugepages"};
    const uint64_t kib = asked == 2 ? rep_proc_number("/proc/meminfo", "Hugepagesize:", 0)
                                    : (uint64_t)asked / 1024;
    uint64_t pages = 0;
    for (size_t i = 0; i < 2; i++) {
        char path[128];
        snprintf(path, sizeof path, "/sys/kernel/mm/hugepages/hugepages-%llukB/%s", (unsigned long long)kib,
                 COUNTS[i]);
        pages += rep_proc_number(path, "", 0); /* no such size: none */
    }
    return pages > 0;
}

static bool read_back(struct rep_settings *settings, struct rep_setting *setting)
{
    const char *loader = loader_path();
    const char *list = loader != NULL ? rep_listing_read(loader, "--list-tunables", NULL) : NULL;
    const size_t length = strlen(setting->name);
    long long asked;
    if (list == NULL || strstr(list, "glibc.malloc.") == NULL)
        return rep_settings_refuse(settings,
                                   "the setting %s cannot be proven: the loader '%s' lists no tunables",
                                   setting->name, loader != NULL ? loader : "?");
    if (!rep_settings_number(setting->asked, &asked))
        return rep_settings_refuse(settings, "the setting %s: '%s' is no whole number", setting->name,
                                   setting->asked);
    for (size_t i = 0; i < sizeof BOUNDS / sizeof BOUNDS[0]; i++) {
        if (strcmp(BOUNDS[i].name, setting->name) == 0 && asked > BOUNDS[i].max)
            return rep_settings_refuse(settings, "the setting %s=%s has no effect: malloc takes at most %lld",
                                       setting->name, setting->asked, BOUNDS[i].max);
    }
    if (strcmp(setting->name, "glibc.malloc.hugetlb") == 0 && asked >= 2 && !has_pool(asked))
        return rep_settings_refuse(
            settings,
            "the setting %s=%s has no effect: the kernel has no huge pages of that size in its pool "
            "(vm.nr_hugepages)",
            setting->name, setting->asked);
    for (const char *line = list; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, setting->name, length) != 0 || line[length] != ':')
            continue;
        const char *value = line + length + 2;
        snprintf(setting->found, sizeof setting->found, "%.*s", (int)strcspn(value, " \n"), value);
        setting->from = "the loader";
        return true;
    }
    return rep_settings_refuse(
        settings,
        "the setting %s=%s cannot be proven: this C library has no tunable of that name; "
        "is it spelt right?",
        setting->name, setting->asked);
}

static void names(rep_settings_told *told)
{
    static const char FAMILY[] = "glibc.malloc.";
    const char *loader = loader_path();
    const char *line = loader != NULL ? rep_listing_read(loader, "--list-tunables", NULL) : NULL;
    for (; line != NULL && *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        if (strncmp(line, FAMILY, sizeof FAMILY - 1) == 0)
            told(line + sizeof FAMILY - 1, strcspn(line + sizeof FAMILY - 1, ":\n"));
    }
}

/* ---- arenas ----------------------------------------------------------------------------------- */

#define HEAP_BYTES                                                                                           \
    (UINT64_C(64) << 20) /* HEAP_MAX_SIZE: each arena but the first lies in heaps, at multiples of it */

/* A heap begins with the address of its arena, which of an arena's first heap lies right behind that (struct _heap_info). malloc_info would walk all free memory, tens of milliseconds behind a workload that freed much. */
static bool begins_arena(uintptr_t heap)
{
    uintptr_t arena;
    const void *at;
    memcpy(&at, &heap, sizeof at);
    memcpy(&arena, at, sizeof arena);
    return arena > heap && arena - heap < 256;
}

static struct rep_arenas arenas(void)
{
    char line[512];
    struct rep_arenas found = {.made = 1};
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *at;
        const unsigned long long begin = strtoull(line, &at, 16);
        const unsigned long long end = *at == '-' ? strtoull(at + 1, &at, 16) : begin;
        if (strncmp(at, " rw-p 00000000 00:00 0", 22) != 0)
            continue;
        for (uint64_t heap = (begin + HEAP_BYTES - 1) / HEAP_BYTES * HEAP_BYTES; heap < end;
             heap += HEAP_BYTES)
            found.made += begins_arena((uintptr_t)heap);
    }
    if (maps == NULL)
        return (struct rep_arenas){0};
    fclose(maps);
    return found;
}

const struct rep_settings_kind rep_settings_glibc = {.kind = "glibc",
                                                     .symbol = "gnu_get_libc_version",
                                                     .family = NULL,
                                                     .take = take,
                                                     .read = read_back,
                                                     .arenas = arenas,
                                                     .names = names};
