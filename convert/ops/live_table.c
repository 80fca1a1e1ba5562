/* live_table.c - growing the table of live objects. */
#include "convert/ops/live_table.h"

#include <sys/mman.h>
#include <sys/random.h>

#include "footprint/base/memory_bound.h"

#define CAPACITY_FIRST 4096u

/* Large tables are hit at random: huge pages save most of the TLB misses. */
#define HUGE_FROM_BYTES ((size_t)8 << 20)

uint64_t conv_seed(void)
{
    uint64_t seed = UINT64_C(0x2545f4914f6cdd1d);
    (void)!getrandom(&seed, sizeof seed, GRND_NONBLOCK); /* without it only the protection is lost */
    return seed;
}

static size_t limit_of(size_t capacity)
{
    return capacity / 2;
}

static struct conv_live_entry *map_entries(size_t capacity)
{
    const size_t bytes = capacity * sizeof(struct conv_live_entry);
    void *entries = MAP_FAILED;
    if (!fp_memory_take(bytes))
        return NULL;
    entries = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (entries == MAP_FAILED) {
        fp_memory_give(bytes);
        return NULL;
    }
    if (bytes >= HUGE_FROM_BYTES)
        (void)madvise(entries, bytes, MADV_HUGEPAGE); /* advice: nothing depends on it */
    return entries;
}

static void unmap_entries(const struct conv_live_table *live)
{
    const size_t bytes = (live->mask + 1) * sizeof *live->entries;
    (void)munmap(live->entries, bytes); /* cannot fail for a whole mapping */
    fp_memory_give(bytes);
}

bool conv_live_init(struct conv_live_table *live)
{
    *live = (struct conv_live_table){.entries = map_entries(CAPACITY_FIRST), .mask = CAPACITY_FIRST - 1};
    live->limit = limit_of(CAPACITY_FIRST);
    live->seed = conv_seed();
    return live->entries != NULL;
}

void conv_live_release(struct conv_live_table *live)
{
    if (live->entries != NULL)
        unmap_entries(live);
    *live = (struct conv_live_table){0};
}

bool conv_live_grow(struct conv_live_table *live)
{
    struct conv_live_table grown = *live;
    if (live->mask > SIZE_MAX / 64)
        return false;
    grown.mask = live->mask * 2 + 1;
    grown.count = 0;
    grown.limit = limit_of(grown.mask + 1);
    grown.entries = map_entries(grown.mask + 1);
    if (grown.entries == NULL)
        return false;
    for (size_t i = 0; i <= live->mask; i++) {
        const uint64_t address = live->entries[i].word0 & LIVE_LOW48;
        if (address != 0)
            (void)conv_live_insert(&grown, address, conv_live_object(&live->entries[i])); /* it has room */
    }
    unmap_entries(live);
    *live = grown;
    return true;
}
