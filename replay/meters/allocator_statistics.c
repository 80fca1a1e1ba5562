/* allocator_statistics.c - what each allocator counts of itself, and what that says of waste.
 *
 * Formulas, with usable the sum over the live objects:
 *   glibc     cached = fordblks + in-use chunks that are no live object's (thread caches count as in use) =
 *             fordblks + uordblks + hblkhd - usable - metadata; metadata = the 8 bytes before each object (16 before a
 *             mapped one: less than a page of difference). Source: malloc/malloc.c of 2.36, struct malloc_chunk
 *   jemalloc  cached = stats.resident - stats.metadata - usable; metadata = stats.metadata. Source: jemalloc(3)
 *   tcmalloc  cached = the free bytes of page heap, central, transfer and thread caches; metadata =
 *             generic.total_physical_bytes - (generic.heap_size - tcmalloc.pageheap_unmapped_bytes), as its
 *             total_physical_bytes is heap plus metadata less unmapped. Source: gperftools' malloc_extension.h, tcmalloc.cc
 *   mimalloc  tells what it committed, free memory and metadata in one: neither can be named
 */
#include <dlfcn.h>
#include <malloc.h>
#include <string.h>

#include "replay/meters/waste.h"

static bool symbol(const char *name, void *ret_function)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(ret_function, &found, sizeof found); /* ISO C has no cast from data to function pointer */
    return found != NULL;
}

static void add(struct rep_waste_sample *sample, const char *name, uint64_t bytes)
{
    if (sample->statistic_count == REP_WASTE_STATISTICS_MAX)
        return;
    sample->statistics[sample->statistic_count].name = name;
    sample->statistics[sample->statistic_count++].bytes = bytes;
}

/* 0 for one that was not told. */
static int64_t value_of(const struct rep_waste_sample *sample, const char *name)
{
    for (uint32_t i = 0; i < sample->statistic_count; i++) {
        if (strcmp(sample->statistics[i].name, name) == 0)
            return (int64_t)sample->statistics[i].bytes;
    }
    return 0;
}

static void ask_glibc(struct rep_waste_sample *sample)
{
    const struct mallinfo2 info = mallinfo2();
    add(sample, "arena", info.arena);
    add(sample, "hblkhd", info.hblkhd);
    add(sample, "uordblks", info.uordblks);
    add(sample, "fordblks", info.fordblks);
    add(sample, "fsmblks", info.fsmblks);
    add(sample, "keepcost", info.keepcost);
    sample->metadata_bytes = 8 * (int64_t)sample->live_objects;
    if (sample->usable_bytes != REP_WASTE_UNKNOWN)
        sample->cached_bytes = (int64_t)(info.fordblks + info.uordblks + info.hblkhd) - sample->usable_bytes -
                               sample->metadata_bytes;
}

static void ask_jemalloc(struct rep_waste_sample *sample)
{
    static const char *const NAMES[] = {"stats.allocated", "stats.active",   "stats.metadata",
                                        "stats.resident",  "stats.retained", "stats.mapped"};
    int (*mallctl)(const char *, void *, size_t *, void *, size_t);
    uint64_t epoch = 1;
    if (!symbol("mallctl", &mallctl) || mallctl("epoch", NULL, NULL, &epoch, sizeof epoch) != 0)
        return;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        size_t value = 0, length = sizeof value;
        if (mallctl(NAMES[i], &value, &length, NULL, 0) != 0)
            return; /* built without statistics */
        add(sample, NAMES[i], value);
    }
    sample->metadata_bytes = value_of(sample, "stats.metadata");
    if (sample->usable_bytes != REP_WASTE_UNKNOWN)
        sample->cached_bytes = value_of(sample, "stats.resident") - sample->metadata_bytes -
                               sample->usable_bytes;
}

static void ask_tcmalloc(struct rep_waste_sample *sample)
{
    static const char *const NAMES[] = {
        "generic.current_allocated_bytes",    "generic.heap_size",
        "generic.total_physical_bytes",       "tcmalloc.pageheap_free_bytes",
        "tcmalloc.pageheap_unmapped_bytes",   "tcmalloc.central_cache_free_bytes",
        "tcmalloc.transfer_cache_free_bytes", "tcmalloc.current_total_thread_cache_bytes",
    };
    int (*numeric)(const char *, size_t *);
    if (!symbol("MallocExtension_GetNumericProperty", &numeric))
        return;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        size_t value;
        if (!numeric(NAMES[i], &value))
            return;
        add(sample, NAMES[i], value);
    }
    sample->cached_bytes = value_of(sample, NAMES[3]) + value_of(sample, NAMES[5]) +
                           value_of(sample, NAMES[6]) + value_of(sample, NAMES[7]);
    sample->metadata_bytes = value_of(sample, NAMES[2]) -
                             (value_of(sample, NAMES[1]) - value_of(sample, NAMES[4]));
}

static void ask_mimalloc(struct rep_waste_sample *sample)
{
    void (*process_info)(size_t *, size_t *, size_t *, size_t *, size_t *, size_t *, size_t *, size_t *);
    size_t elapsed, user, system, rss, rss_peak, commit = 0, commit_peak, faults;
    if (!symbol("mi_process_info", &process_info))
        return;
    process_info(&elapsed, &user, &system, &rss, &rss_peak, &commit, &commit_peak, &faults);
    add(sample, "current_commit", commit);
}

void rep_statistics(const char *kind, struct rep_waste_sample *sample)
{
    static const struct {
        const char *kind;
        void (*ask)(struct rep_waste_sample *);
    } KINDS[] = {{"glibc", ask_glibc},
                 {"jemalloc", ask_jemalloc},
                 {"tcmalloc", ask_tcmalloc},
                 {"mimalloc", ask_mimalloc}};
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        if (strcmp(KINDS[i].kind, kind) == 0)
            KINDS[i].ask(sample);
    }
}
