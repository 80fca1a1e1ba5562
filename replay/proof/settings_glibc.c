/* settings_glibc.c - GLIBC_TUNABLES and their older names.
 *
 * No call tells what malloc runs with. The loader that started this process, run once more with --list-tunables in the
 * same environment, lists what it accepted: a misspelt name is not on its list, a refused value is not shown. malloc
 * has bounds of its own beyond the loader's, which are checked here. What shows in malloc's doings is measured after
 * the run. Source: the GNU C Library manual, "Memory Allocation Tunables"; malloc/malloc.c of 2.36 for the bounds. */
#include <dlfcn.h>
#include <limits.h>
#include <malloc.h>
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

/* Objects on pages of a pool (2: of the default size; else of that many bytes) need some pages
 * in it. */
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

/* ---- measuring, after the run ---------------------------------------------------------------- */

/* Neither mallinfo2 nor malloc_info is asked where it can be helped: they walk all free memory, which takes tens of
 * milliseconds behind a workload that freed much. */

#define PROBED_BYTES     88u /* an object of the fast bins' sizes, so that what passes the caches shows */
#define PROBED_COUNT_MAX 512 /* beyond, the loader's word has to do */

static struct rep_setting *setting_named(struct rep_settings *settings, const char *name)
{
    for (uint32_t i = 0; i < settings->count; i++) {
        if (strcmp(settings->list[i].name, name) == 0)
            return &settings->list[i];
    }
    return NULL;
}

/* The cache takes what is freed first, a fast bin the rest, whose last comes first. A full cache hands out all that it holds
 * before malloc looks there: so as many objects come before the last one freed as are cached. */
static bool measure_tcache(struct rep_settings *settings, const struct rep_calls *calls)
{
    enum { OBJECTS = 4 * PROBED_COUNT_MAX };
    struct rep_setting *setting = setting_named(settings, "glibc.malloc.tcache_count");
    void *objects[OBJECTS], *last = NULL;
    long long asked;
    if (setting == NULL || setting_named(settings, "glibc.malloc.tcache_max") != NULL ||
        setting_named(settings, "glibc.malloc.mxfast") != NULL ||
        !rep_settings_number(setting->asked, &asked) || asked < 0 || asked > PROBED_COUNT_MAX)
        return true;
    /* An object may lie in a larger chunk, which is cached among those of its own size. */
    for (size_t i = 0; i < OBJECTS; i++) {
        objects[i] = calls->malloc(PROBED_BYTES);
        if (malloc_usable_size(objects[i]) == PROBED_BYTES)
            last = objects[i];
    }
    for (size_t i = 0; i < OBJECTS; i++)
        if (objects[i] != last)
            calls->free(objects[i]);
    calls->free(last);
    size_t taken = 0;
    while (taken < OBJECTS && (taken == 0 || objects[taken - 1] != last))
        objects[taken++] = calls->malloc(PROBED_BYTES);
    const bool seen = objects[taken - 1] == last;
    for (size_t i = 0; i < taken; i++)
        calls->free(objects[i]);
    if (last == NULL || !seen)
        return true; /* no memory, or no fast bins: the loader's word has to do */
    snprintf(setting->found, sizeof setting->found, "%zu", taken - 1);
    setting->from = "measured";
    return (long long)(taken - 1) == asked ||
           rep_settings_refuse(settings,
                               "the setting %s was asked to be '%s', but malloc was measured to cache %s",
                               setting->name, setting->asked, setting->found);
}

/* A mapping of its own has a word more before it than a part of an arena, where the next one's is lent. */
static bool is_mapping(void *object)
{
    return object != NULL && malloc_usable_size(object) % (2 * sizeof(size_t)) == 0;
}

/* Whether an object lies beyond where the main arena ended: it had to grow. */
static bool is_beyond(const void *object, const void *end)
{
    return (uintptr_t)object > (uintptr_t)end && (uintptr_t)object < (uintptr_t)sbrk(0);
}

/* From this size on, and not below, an object is a mapping of its own. */
static bool measure_mmap(struct rep_settings *settings, const struct rep_calls *calls)
{
    enum { TRIES_MAX = 4096, MAPPINGS_MAX = 65536 };
    struct rep_setting *setting = setting_named(settings, "glibc.malloc.mmap_threshold");
    static void *objects[TRIES_MAX];
    long long asked;
    if (setting == NULL || setting_named(settings, "glibc.malloc.mmap_max") != NULL ||
        setting_named(settings, "glibc.malloc.hugetlb") != NULL ||
        !rep_settings_number(setting->asked, &asked) || asked < 65536)
        return true;
    void *below = calls->malloc((size_t)asked - 4096);
    const void *end = sbrk(0);
    const bool low = is_mapping(below);
    bool high = false, grew = false;
    size_t taken = 0;
    while (taken < TRIES_MAX && !high && !grew) { /* free memory of the arena is used first */
        objects[taken] = calls->malloc((size_t)asked);
        high = is_mapping(objects[taken]);
        grew = objects[taken] == NULL || is_beyond((char *)objects[taken] + asked, end);
        taken++;
    }
    for (size_t i = 0; i < taken; i++)
        calls->free(objects[i]);
    calls->free(below);
    if (!low && !high && (!grew || mallinfo2().hblks >= MAPPINGS_MAX - 1))
        return true; /* not told: too much is free, or mapped: the loader's word has to do */
    if (low || !high)
        return rep_settings_refuse(
            settings, "the setting %s was asked to be '%s', but malloc was measured to %s", setting->name,
            setting->asked, low ? "map smaller objects" : "map no object of that size");
    setting->from = "measured";
    return true;
}

/* Arenas at most: each but the first begins its heaps at multiples of this, in memory that can be written. */
static long long heaps_at_most(void)
{
    const unsigned long long heap = 64ull << 20;
    char line[512];
    long long heaps = 1;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *at;
        const unsigned long long begin = strtoull(line, &at, 16);
        const unsigned long long end = *at == '-' ? strtoull(at + 1, &at, 16) : begin;
        if (strncmp(at, " rw-p 00000000 00:00 0", 22) == 0)
            heaps += (long long)((end + heap - 1) / heap - (begin + heap - 1) / heap);
    }
    if (maps == NULL)
        return LLONG_MAX;
    fclose(maps);
    return heaps;
}

static bool measure_arenas(struct rep_settings *settings)
{
    struct rep_setting *setting = setting_named(settings, "glibc.malloc.arena_max");
    char *text = NULL;
    size_t length = 0;
    long long asked, arenas = 0;
    if (setting == NULL || !rep_settings_number(setting->asked, &asked) || asked <= 0 ||
        heaps_at_most() <= asked)
        return true;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL || malloc_info(0, stream) != 0 || fclose(stream) != 0)
        return true; /* no memory: the loader's word has to do */
    for (const char *at = text; (at = strstr(at, "<heap nr=")) != NULL; at++)
        arenas++;
    free(text);
    return arenas <= asked ||
           rep_settings_refuse(settings, "the setting %s was asked to be '%s', but malloc has %lld arenas",
                               setting->name, setting->asked, arenas);
}

static bool after(struct rep_settings *settings, const struct rep_calls *calls)
{
    return measure_arenas(settings) && measure_tcache(settings, calls) && measure_mmap(settings, calls);
}

const struct rep_settings_kind rep_settings_glibc = {.kind = "glibc",
                                                     .symbol = "gnu_get_libc_version",
                                                     .family = NULL,
                                                     .take = take,
                                                     .read = read_back,
                                                     .after = after,
                                                     .names = names};
