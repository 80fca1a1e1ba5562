/* live_table.h - the table of live objects: address -> id and size, 16 bytes an entry.
 *
 * Open addressing with linear probing and backward shifts, so removals leave nothing behind and memory
 * follows the peak of live objects: at most half full, so that probes and shifts are short, a quarter after growing.
 * Addresses and sizes are below 2^48, address 0 is never stored.
 * The hash is seeded per process, so that no file can be made to collide; nothing that is written
 * depends on the order within the table. */
#ifndef MALLAB_CONVERT_OPS_LIVE_TABLE_H
#define MALLAB_CONVERT_OPS_LIVE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_LOW48 ((UINT64_C(1) << 48) - 1)

struct conv_object {
    uint32_t id;
    uint64_t bytes;
};

struct conv_live_entry {
    uint64_t word0; /* bits 0-47 address, 48-63 id bits 0-15 */
    uint64_t word1; /* bits 0-47 bytes,   48-63 id bits 16-31 */
};

struct conv_live_table {
    struct conv_live_entry *entries;
    size_t mask;         /* capacity - 1 */
    size_t count, limit; /* entries; it grows beyond limit */
    uint64_t seed;
};

/* conv_seed - a number that files cannot know. */
uint64_t conv_seed(void);

static inline uint64_t conv_mix(uint64_t key, uint64_t seed)
{
    uint64_t hash = (key ^ seed) * UINT64_C(0x9fb21c651e98df25);
    hash ^= hash >> 32;
    return hash * UINT64_C(0xd6e8feb86659fd93) >> 16;
}

/* conv_live_init - an empty table; false: no memory. */
bool conv_live_init(struct conv_live_table *live);
void conv_live_release(struct conv_live_table *live);
bool conv_live_grow(struct conv_live_table *live);

static inline bool conv_live_is_empty(const struct conv_live_entry *entry)
{
    return (entry->word0 & LIVE_LOW48) == 0;
}

/* conv_live_prefetch - address is going to be asked about soon. */
static inline void conv_live_prefetch(const struct conv_live_table *live, uint64_t address)
{
    __builtin_prefetch(&live->entries[conv_mix(address, live->seed) & live->mask], 1);
}

/* conv_live_place - the entry of address, or the empty one where it belongs. Lasts until the next insertion
 * or removal. */
static inline struct conv_live_entry *conv_live_place(const struct conv_live_table *live, uint64_t address)
{
    for (size_t at = conv_mix(address, live->seed) & live->mask;; at = (at + 1) & live->mask) {
        const uint64_t there = live->entries[at].word0 & LIVE_LOW48;
        if (there == address || there == 0)
            return &live->entries[at];
    }
}

/* conv_live_find - the entry of address, or NULL. Lasts as conv_live_place's. */
static inline struct conv_live_entry *conv_live_find(const struct conv_live_table *live, uint64_t address)
{
    struct conv_live_entry *entry = conv_live_place(live, address);
    return conv_live_is_empty(entry) ? NULL : entry;
}

static inline struct conv_object conv_live_object(const struct conv_live_entry *entry)
{
    return (struct conv_object){
        .id = (uint32_t)(entry->word0 >> 48) | (uint32_t)(entry->word1 >> 48) << 16,
        .bytes = entry->word1 & LIVE_LOW48,
    };
}

/* conv_live_set - another object into the entry of an address. */
static inline void conv_live_set(struct conv_live_entry *entry, struct conv_object object)
{
    entry->word0 = (entry->word0 & LIVE_LOW48) | (uint64_t)(object.id & 0xffff) << 48;
    entry->word1 = object.bytes | (uint64_t)(object.id >> 16) << 48;
}

/* conv_live_insert_at - put an object into the empty entry that conv_live_place returned for address.
 * False: no memory, nothing changed. */
static inline bool conv_live_insert_at(struct conv_live_table *live, struct conv_live_entry *entry,
                                       uint64_t address, struct conv_object object)
{
    if (__builtin_expect(live->count >= live->limit, 0)) {
        if (!conv_live_grow(live))
            return false;
        entry = conv_live_place(live, address);
    }
    entry->word0 = address;
    conv_live_set(entry, object);
    live->count++;
    return true;
}

/* conv_live_insert - the same, found here. address must not be in the table. */
static inline bool conv_live_insert(struct conv_live_table *live, uint64_t address, struct conv_object object)
{
    return conv_live_insert_at(live, conv_live_place(live, address), address, object);
}

/* conv_live_remove - entry as conv_live_find returned it. */
static inline void conv_live_remove(struct conv_live_table *live, struct conv_live_entry *entry)
{
    size_t hole = (size_t)(entry - live->entries);
    size_t at = hole;
    for (;;) {
        uint64_t address;
        size_t home;
        at = (at + 1) & live->mask;
        address = live->entries[at].word0 & LIVE_LOW48;
        if (address == 0)
            break;
        home = conv_mix(address, live->seed) & live->mask;
        /* An entry may move back to the hole unless its home lies behind it, cyclically. */
        if (((at - home) & live->mask) >= ((at - hole) & live->mask)) {
            live->entries[hole] = live->entries[at];
            hole = at;
        }
    }
    live->entries[hole] = (struct conv_live_entry){0, 0};
    live->count--;
}

#endif
