/* seen.h - stacks that a thread has had, each whole: the words of the stack by which it was found.
 *
 * A stack follows from where it is walked from and the words that its rules lead to (walk.h). Where sp and all of those words are as
 * they were it is the same one, and nothing is walked, looked up or stored.
 *
 *   piece   SEEN_WORDS words and their places. A stack is the piece of its innermost frames, with its site, and a list of outer
 *           ones, each full. Stacks that have their outer frames in common share those pieces, so that most are in a cache
 *   next    of an innermost piece: which stack came after this one the last time. It is compared first, and asked for while the
 *           program runs
 *   index   pieces by hash: a stack by the one before, sp and what it returns to; a stack by its site; an outer piece by its words.
 *           0: none
 *
 * When all places are taken it begins anew. A jump out of here leaves no piece that is found and not whole. */
#ifndef MALLAB_SHIM_SITES_SEEN_H
#define MALLAB_SHIM_SITES_SEEN_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#define SEEN_REGION_MOST (UINT64_C(32) << 30) /* bytes, as places are told */
#define SEEN_WORDS                                                                                           \
    8u /* words that are compared at once: the last one is repeated to fill an innermost piece */

struct seen {
    alignas(128) uint64_t sp; /* of the innermost frame; of an outer piece 0 */
    uint64_t fp, fp_mask;     /* fp_mask 0: its fp may be any */
    uint32_t site;
    uint16_t outer, next;        /* 0: none */
    uint32_t places[SEEN_WORDS]; /* in words below the region's end */
    uint64_t words[SEEN_WORDS];
};

_Static_assert(sizeof(struct seen) == 128, "two lines");

struct seen_table {
    struct seen *items; /* the first is no stack's */
    uint16_t *index;    /* 2^index_bits */
    uint32_t index_bits, most;
    uint32_t count; /* of items */
    uint32_t last;  /* the stack of the allocation before; 0: it is not here */
    uint32_t generation;
    uintptr_t
        high; /* of the region; of another one, or another generation, nothing is believed. 0: nothing at all */
};

static inline uint16_t *seen_index(const struct seen_table *table, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t mixed = (a * UINT64_C(0x9e3779b97f4a7c15)) ^ (b * UINT64_C(0xc2b2ae3d27d4eb4f)) ^
                           (c * UINT64_C(0x165667b19e3779f9));
    return &table->index[(mixed * UINT64_C(0xd6e8feb86659fd93)) >> (64 - table->index_bits)];
}

/* The place of the guess which stack it is. */
static inline uint16_t *seen_guess(const struct seen_table *table, uint64_t sp, uint64_t address)
{
    return seen_index(table, table->last, sp, address);
}

/* seen_is - whether the stack is this one.
 * sp, fp   of the program's innermost frame, sp in the table's region. */
static inline bool seen_is(const struct seen_table *table, const struct seen *seen, uint64_t sp, uint64_t fp)
{
    if (((seen->sp ^ sp) | ((seen->fp ^ fp) & seen->fp_mask)) != 0)
        return false;
    uint64_t differ = 0;
    for (;; seen = &table->items[seen->outer]) {
        for (uint32_t i = 0; i < SEEN_WORDS; i++)
            differ |= ((const uint64_t *)table->high)[-(int64_t)seen->places[i]] ^ seen->words[i];
        if (seen->outer == 0)
            return differ == 0;
    }
}

/* seen_follow - this is the stack now; the one that probably comes next is asked for. */
static inline void seen_follow(struct seen_table *table, uint32_t item)
{
    struct seen *before = &table->items[table->last];
    if (before->next != item)
        before->next = (uint16_t)item;
    table->last = item;
    const struct seen *next = &table->items[table->items[item].next];
    __builtin_prefetch(next);
    __builtin_prefetch(next->words);
}

/* seen_find - the site of the stack, if it is here; else 0.
 * sp, fp   of the program's innermost frame, sp in the table's region.
 * slot     where its address is, as the recorder returns to it. */
static inline uint32_t seen_find(struct seen_table *table, uint64_t sp, uint64_t fp, uint64_t slot)
{
    uint32_t item = table->items[table->last].next;
    if (!seen_is(table, &table->items[item], sp, fp)) {
        item = *seen_guess(table, sp, *(const uint64_t *)(uintptr_t)slot);
        if (!seen_is(table, &table->items[item], sp, fp))
            return 0;
    }
    seen_follow(table, item);
    return table->items[item].site;
}

#endif
