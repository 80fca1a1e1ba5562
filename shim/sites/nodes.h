/* nodes.h - the frames of all stacks of a process, each once: an address under the node of its caller.
 *
 * Numbers are given out as nodes come, from FP_SITE_FIRST on, so a parent's is lower than its children's. A node is found by
 * its path, a hash of all addresses down to it, in a table of numbers, so that a processor may fetch a stack's at once. It joins by
 * one compare-and-swap: no lock, threads and handlers may come between any two instructions. A number whose owner lost the race to
 * the same node stays that lane's, for its next one.
 *
 * All of it lies in memory that a fork wipes: a child has stacks of its own. Pages come into use as they are needed. */
#ifndef MALLAB_SHIM_SITES_NODES_H
#define MALLAB_SHIM_SITES_NODES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "footprint/fp/fp_sites.h"

#define NODES_BITS   20u
#define NODES_MOST   (1u << NODES_BITS)
#define NODES_TABLES 4u

struct node {
    uint64_t key; /* address, and the module's epoch in bits 48-63 */
    uint32_t parent;
    uint32_t path; /* nodes_path of it and of all its callers */
};

/* New nodes join the first of the tables of 2^12, 2^15, 2^18 and 2^21 places that is not half full: few nodes touch few pages. */
#define NODES_TABLE_BITS(table)  (12u + 3u * (table))
#define NODES_TABLE_BEGIN(table) ((table) == 0 ? 0u : (1u << 12) * (((1u << 3u * (table)) - 1) / 7))
#define NODES_PLACES             NODES_TABLE_BEGIN(NODES_TABLES)

struct nodes {
    _Atomic uint32_t count; /* given out, above FP_SITE_FIRST */
    struct node items[NODES_MOST];
    /* Places by hash, open addressing within a table: the number, and above it some of the hash, so that few others' are looked at.
     * 0: none. */
    _Atomic uint32_t places[NODES_PLACES];
};

/* nodes_number - a number for a node that joins next, in *spare. Returns false where none is left. */
static inline bool nodes_number(struct nodes *nodes, uint32_t parent, uint32_t *spare)
{
    if (*spare > parent)
        return true; /* else none, or one that is older than the parent, and no child of it */
    const uint32_t made = atomic_fetch_add_explicit(&nodes->count, 1, memory_order_relaxed);
    if (made >= NODES_MOST - FP_SITE_FIRST) {
        atomic_fetch_sub_explicit(&nodes->count, 1, memory_order_relaxed);
        return false;
    }
    *spare = FP_SITE_FIRST + made;
    return true;
}

/* nodes_path - the path of a node with such a key, below one with the path `outer`. */
static inline uint32_t nodes_path(uint32_t outer, uint64_t key)
{
    return (uint32_t)(((uint64_t)outer << 31 ^ outer ^ key) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static inline uint64_t nodes_mix(uint32_t path)
{
    return (path + UINT64_C(1)) * UINT64_C(0xd6e8feb86659fd93);
}

/* The first place of a node in a table. */
static inline uint32_t nodes_place(uint64_t mixed, uint32_t table)
{
    return (uint32_t)(mixed >> (64 - NODES_TABLE_BITS(table)));
}

/* The table that new nodes join. */
static inline uint32_t nodes_last(const struct nodes *nodes)
{
    const uint32_t count = atomic_load_explicit(&nodes->count, memory_order_relaxed);
    uint32_t last = 0;
    while (last + 1 < NODES_TABLES && count >= 1u << (NODES_TABLE_BITS(last) - 1))
        last++;
    return last;
}

/* nodes_ask - have the processor fetch what nodes_take reads of a node. */
static inline void nodes_ask(const struct nodes *nodes, uint32_t path)
{
    const uint64_t mixed = nodes_mix(path);
    for (uint32_t table = 0, last = nodes_last(nodes); table <= last; table++)
        __builtin_prefetch(
            (const void *)(uintptr_t)&nodes->places[NODES_TABLE_BEGIN(table) + nodes_place(mixed, table)]);
}

/* nodes_take - the number of a node; made where there is none.
 * path      nodes_path's, of its own.
 * spare     of the lane: a number that is nobody's, 0: none.
 * ret_made  whether the caller made it and has to tell.
 * Returns   the number; FP_CUT_FULL where there is no room for more. */
static inline uint32_t nodes_take(struct nodes *nodes, uint64_t key, uint32_t parent, uint32_t path,
                                  uint32_t *spare, bool *ret_made)
{
    const uint64_t mixed = nodes_mix(path);
    const uint32_t tag = (uint32_t)mixed << NODES_BITS, last = nodes_last(nodes);
    *ret_made = false;
    for (uint32_t table = 0; table <= last; table++) {
        _Atomic uint32_t *places = nodes->places + NODES_TABLE_BEGIN(table);
        const uint32_t mask = (1u << NODES_TABLE_BITS(table)) - 1;
        for (uint32_t at = nodes_place(mixed, table);; at = (at + 1) & mask) {
            /* acquire: pairs with the release by which the node joined */
            uint32_t place = atomic_load_explicit(&places[at], memory_order_acquire);
            if (place == 0 && table < last)
                break;
            if (place == 0) {
                if (!nodes_number(nodes, parent, spare))
                    return FP_CUT_FULL;
                const uint32_t number = *spare;
                nodes->items[number].key = key;
                nodes->items[number].parent = parent;
                nodes->items[number].path = path;
                if (atomic_compare_exchange_strong_explicit(&places[at], &place, tag | number,
                                                            memory_order_release, memory_order_acquire)) {
                    *spare = 0;
                    *ret_made = true;
                    return number;
                }
            }
            const uint32_t number = place & (NODES_MOST - 1);
            if (place - number == tag && nodes->items[number].key == key &&
                nodes->items[number].parent == parent)
                return number;
        }
    }
    return FP_CUT_FULL; /* not come to: the last table has room, or it was returned */
}

#endif
