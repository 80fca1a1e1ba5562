/* live_table.c - growing the table of live objects. */
#include "convert/ops/live_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "convert/base/error.h"
#include "footprint/base/memory_bound.h"

#define HOME_BITS_FIRST 12u

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
static uint64_t *map_entries(size_t capacity)
{
    const size_t bytes = capacity * sizeof(uint64_t);
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
    return (uint64_t *)entries;
}

static void lay_out(struct conv_live_table *live, uint64_t *entries, unsigned home_bits)
{
    const size_t capacity = (size_t)1 << home_bits;
    live->entries = entries;
    live->mask = capacity - 1;
    live->limit = capacity / 8 * 5;
    live->home_bits = home_bits;
    live->tag_shift = 48 - home_bits + LIVE_STEP_BITS;
    live->key_mask = (UINT64_C(1) << live->tag_shift) - 1;
}

bool conv_live_init(struct conv_live_table *live)
{
    *live = (struct conv_live_table){.seed = conv_seed()};
    lay_out(live, map_entries((size_t)1 << HOME_BITS_FIRST), HOME_BITS_FIRST);
    return live->entries != NULL;
}

void conv_live_release(struct conv_live_table *live)
{
    const size_t bytes = (live->mask + 1) * sizeof *live->entries;
    if (live->entries != NULL) {
        (void)munmap(live->entries, bytes); /* cannot fail for a whole mapping */
        fp_memory_give(bytes);
    }
    free(live->bytes);
    fp_memory_give(live->bytes_capacity * sizeof *live->bytes);
    *live = (struct conv_live_table){0};
}

bool conv_live_more_bytes(struct conv_live_table *live, uint32_t number)
{
    if (!CONV_RESERVE_COUNTED(live->bytes, live->bytes_capacity, (size_t)number + 1))
        return false;
    while (live->tag_shift > 32 &&
           live->bytes_capacity * 2 >> (64 - live->tag_shift) != 0) /* a tag has no more bits */
        if (!conv_live_grow(live))
            return false;
    return true;
}

bool conv_live_take_number(struct conv_live_table *live, uint32_t *ret_number)
{
    *ret_number = live->free_number;
    if (live->free_number != 0)
        live->free_number = (uint32_t)live->bytes[live->free_number];
    else if (live->numbers < LIVE_NUMBER_MAX && conv_live_more_bytes(live, live->numbers + 1))
        *ret_number = ++live->numbers;
    return *ret_number != 0;
}

/* Everything to where it belongs in a table that has become twice as large. From behind an empty entry on, cyclically, each is
 * taken out and put in again: those before it in its row have been, so it finds a place no later than its old one, or as far
 * into the upper half, and whatever stands between its home and there stays. */
static void spread(struct conv_live_table *live, const struct conv_live_table *old)
{
    size_t start = 0;
    while (live->entries[start] != 0)
        start++; /* there is one: it was never full */
    for (size_t i = 1; i <= old->mask; i++) {
        const size_t from = (start + i) & old->mask;
        const uint64_t word = live->entries[from];
        const uint64_t home = (from - (word & LIVE_STEP_MASK) + 1) & old->mask;
        const uint64_t hash = (word & old->key_mask) >> LIVE_STEP_BITS << old->home_bits | home;
        size_t at = hash & live->mask, step = 1;
        live->entries[from] = 0;
        if (word == 0)
            continue;
        for (; live->entries[at] != 0; step++)
            at = (at + 1) & live->mask;
        live->entries[at] = (hash >> live->home_bits << LIVE_STEP_BITS) + step;
        conv_live_set_tag(live, &live->entries[at], (uint32_t)(word >> old->tag_shift));
    }
}

/* The old pages become the lower half of the new table: no page is zeroed, or filled, twice. */
bool conv_live_grow(struct conv_live_table *live)
{
    const struct conv_live_table old = *live;
    const size_t bytes = (old.mask + 1) * sizeof *old.entries;
    uint64_t *entries = map_entries(old.mask * 2 + 2);
    if (entries == NULL)
        return false;
    if (mremap(old.entries, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, entries) == MAP_FAILED) {
        memcpy(entries, old.entries, bytes);
        (void)munmap(old.entries, bytes);
    }
    fp_memory_give(bytes);
    lay_out(live, entries, old.home_bits + 1);
    spread(live, &old);
    return true;
}
