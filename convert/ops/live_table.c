/* live_table.c - growing the table of live objects. */
#include "convert/ops/live_table.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "footprint/base/memory_bound.h"

#define CAPACITY_FIRST 4096u

/* Large tables are hit at random: huge pages save most of the TLB misses. */
#define HUGE_FROM_BYTES ((size_t)8 << 20)
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

uint64_t conv_seed(void)
{
    uint64_t seed = UINT64_C(0x2545f4914f6cdd1d);
    (void)!getrandom(&seed, sizeof seed, GRND_NONBLOCK); /* without it only the protection is lost */
    return seed;
}

/* Large ones begin where a huge page does. */
static struct conv_live_entry *map_entries(size_t capacity)
{
    const size_t bytes = capacity * sizeof(struct conv_live_entry);
    const size_t more = bytes >= HUGE_FROM_BYTES ? HUGE_PAGE_BYTES : 0;
    char *entries = MAP_FAILED;
    if (!fp_memory_take(bytes))
        return NULL;
    entries = mmap(NULL, bytes + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (entries == MAP_FAILED) {
        fp_memory_give(bytes);
        return NULL;
    }
    if (more > 0) { /* what cannot be given back is never touched, and nothing depends on advice */
        const size_t before = -(uintptr_t)entries & (more - 1);
        (void)munmap(entries, before);
        entries += before;
        (void)munmap(entries + bytes, more - before);
        (void)madvise(entries, bytes, MADV_HUGEPAGE);
    }
    return (struct conv_live_entry *)entries;
}

bool conv_live_init(struct conv_live_table *live)
{
    *live = (struct conv_live_table){.entries = map_entries(CAPACITY_FIRST), .mask = CAPACITY_FIRST - 1};
    live->limit = CAPACITY_FIRST / 2;
    live->seed = conv_seed();
    return live->entries != NULL;
}

void conv_live_release(struct conv_live_table *live)
{
    const size_t bytes = (live->mask + 1) * sizeof *live->entries;
    if (live->entries != NULL) {
        (void)munmap(live->entries, bytes); /* cannot fail for a whole mapping */
        fp_memory_give(bytes);
    }
    *live = (struct conv_live_table){0};
}

/* Everything to where it belongs in a table that has become twice as large. From behind an empty entry on, cyclically, each is
 * taken out and put in again: those before it in its row have been, so it finds a place no later than its old one, or as far
 * into the upper half, and whatever stands between its home and there stays. */
static void spread(struct conv_live_table *live, size_t old_mask)
{
    size_t start = 0;
    while (!conv_live_is_empty(&live->entries[start]))
        start++; /* there is one: it was half full */
    for (size_t i = 1; i <= old_mask; i++) {
        struct conv_live_entry *from = &live->entries[(start + i) & old_mask];
        const struct conv_live_entry entry = *from;
        *from = (struct conv_live_entry){0, 0};
        if (!conv_live_is_empty(&entry))
            *conv_live_place(live, entry.word0 & LIVE_LOW48) = entry;
    }
}

/* The old pages become the lower half of the new table: no page is zeroed, or filled, twice. */
bool conv_live_grow(struct conv_live_table *live)
{
    const size_t mask = live->mask, bytes = (mask + 1) * sizeof *live->entries;
    struct conv_live_entry *entries = mask <= SIZE_MAX / 64 ? map_entries(mask * 2 + 2) : NULL;
    if (entries == NULL)
        return false;
    if (mremap(live->entries, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, entries) == MAP_FAILED) {
        memcpy(entries, live->entries, bytes);
        (void)munmap(live->entries, bytes);
    }
    fp_memory_give(bytes);
    live->entries = entries;
    live->mask = mask * 2 + 1;
    live->limit = mask + 1;
    spread(live, mask);
    return true;
}
