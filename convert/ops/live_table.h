/* live_table.h - the table of live objects: address -> number and bytes. 8 bytes an entry, and 8 a number.
 *
 * Open addressing with linear probing and backward shifts, so removals leave nothing behind and memory
 * follows the peak of live objects: at most five eighths full, so that probes and shifts are short, half of that after growing.
 * Addresses and bytes are below 2^48, address 0 is never stored.
 * The hash is seeded per process, so that no file can be made to collide; nothing that is written
 * depends on the order within the table.
 *
 *   home   where an entry belongs: the low bits of its address' hash. No address is stored, as the hash is one to one
 *   entry  from bit 0 on: step, rest, tag. 0: empty
 *   step   how far from home it stands, plus 1
 *   rest   of the hash
 *   tag    twice the object's number; an odd one says that the object is not in the table at the moment, but its place is:
 *          LIVE_TAG_NONE, or what pair_fast.c makes of it
 *   number the owner's, or given out here. Numbers are dense: bytes stand in an array by number */
#ifndef MALLAB_CONVERT_OPS_LIVE_TABLE_H
#define MALLAB_CONVERT_OPS_LIVE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_STEP_BITS      8u
#define LIVE_STEP_MASK      ((UINT64_C(1) << LIVE_STEP_BITS) - 1)
#define LIVE_NUMBER_MAX     INT32_MAX
#define LIVE_TAG_NONE       1u /* made for the next object that is put in */
#define LIVE_TAG_OF(number) ((uint32_t)(number) << 1)

struct conv_object {
    uint32_t id;
    uint64_t bytes;
};

struct conv_live_table {
    uint64_t *entries;
    uint64_t *bytes; /* by number; of one that was given back: the next of those */
    size_t bytes_capacity;
    size_t mask;         /* capacity - 1 */
    size_t latest;       /* entry that place was made for, unless it has moved */
    size_t count, limit; /* entries; it grows beyond limit */
    uint64_t seed, key_mask;
    unsigned home_bits, tag_shift;
    uint32_t numbers, free_number; /* given out so far; given back last, 0: none */
};

/* conv_seed - a number that files cannot know. */
uint64_t conv_seed(void);

/* conv_mix - a hash of the low 48 bits of key, one to one: each step can be undone. */
static inline uint64_t conv_mix(uint64_t key, uint64_t seed)
{
    const uint64_t half = __builtin_bswap64(((key ^ seed) * UINT64_C(0x9fb21c651e98df25)) << 16);
    return __builtin_bswap64((half * UINT64_C(0xd6e8feb86659fd93)) << 16);
}

/* conv_live_init - an empty table; false: no memory. */
bool conv_live_init(struct conv_live_table *live);
void conv_live_release(struct conv_live_table *live);
bool conv_live_grow(struct conv_live_table *live);

/* conv_live_more_bytes - room for the bytes of objects up to this number. Entries may change their places. False: no memory. */
bool conv_live_more_bytes(struct conv_live_table *live, uint32_t number);

/* conv_live_take_number - a free one, from 1 on, where the owner has no numbers itself. False: no memory.
 * conv_live_give_number - the object is no more in the table, nor under way. */
bool conv_live_take_number(struct conv_live_table *live, uint32_t *ret_number);

static inline void conv_live_give_number(struct conv_live_table *live, uint32_t number)
{
    live->bytes[number] = live->free_number;
    live->free_number = number;
}

/* conv_live_prefetch - address is going to be asked about soon. */
static inline void conv_live_prefetch(const struct conv_live_table *live, uint64_t address)
{
    __builtin_prefetch(&live->entries[conv_mix(address, live->seed) & live->mask], 1);
}

/* conv_live_peek - the number of the object of address, if its entry is at home; else another's, or 0. */
static inline uint32_t conv_live_peek(const struct conv_live_table *live, uint64_t address)
{
    return (uint32_t)(live->entries[conv_mix(address, live->seed) & live->mask] >> live->tag_shift) >> 1;
}

/* conv_live_place - the entry of address, or the empty one where it belongs; NULL where it is not there and has no place before
 * the table grows. Lasts until the next insertion or removal.
 * ret_key  what such an entry holds below the tag. */
static inline uint64_t *conv_live_place(const struct conv_live_table *live, uint64_t address,
                                        uint64_t *ret_key)
{
    const uint64_t hash = conv_mix(address, live->seed);
    uint64_t key = (hash >> live->home_bits << LIVE_STEP_BITS) + 1;
    for (size_t at = hash & live->mask; (key & LIVE_STEP_MASK) != 0; at = (at + 1) & live->mask, key++) {
        const uint64_t there = live->entries[at];
        *ret_key = key;
        if (((there ^ key) & live->key_mask) == 0 || there == 0)
            return &live->entries[at];
    }
    return NULL;
}

/* conv_live_find - the entry of address, or NULL. Lasts as conv_live_place's. */
static inline uint64_t *conv_live_find(const struct conv_live_table *live, uint64_t address)
{
    uint64_t key, *entry = conv_live_place(live, address, &key);
    return entry == NULL || *entry == 0 ? NULL : entry;
}

static inline uint32_t conv_live_tag(const struct conv_live_table *live, const uint64_t *entry)
{
    return (uint32_t)(*entry >> live->tag_shift);
}

static inline struct conv_object conv_live_object(const struct conv_live_table *live, const uint64_t *entry)
{
    const uint32_t number = conv_live_tag(live, entry) >> 1;
    return (struct conv_object){.id = number, .bytes = live->bytes[number]};
}

/* conv_live_reach - the entry of address; where there is none, a new one of this tag, of a number that there is room for. Returns
 * NULL: no memory, nothing changed.
 * ret_before  the tag that was there; 0: none. */
static inline uint64_t *conv_live_reach(struct conv_live_table *live, uint64_t address, uint32_t tag,
                                        uint32_t *ret_before)
{
    uint64_t key, *entry = conv_live_place(live, address, &key);
    *ret_before = entry != NULL ? conv_live_tag(live, entry) : 0;
    if (entry != NULL && *entry != 0)
        return entry;
    while (__builtin_expect(live->count >= live->limit || entry == NULL, 0)) {
        if (!conv_live_grow(live))
            return NULL;
        entry = conv_live_place(live, address, &key);
    }
    *entry = key | (uint64_t)tag << live->tag_shift;
    live->count++;
    return entry;
}

/* conv_live_set_tag - another tag for the address of an entry: of a number that there is room for. */
static inline void conv_live_set_tag(const struct conv_live_table *live, uint64_t *entry, uint32_t tag)
{
    *entry = (*entry & live->key_mask) | (uint64_t)tag << live->tag_shift;
}

/* conv_live_make_place - an entry for an address, which gets its object by the next conv_live_insert. False: no memory.
 * ret_before  the object that stood there; id 0: none. */
static inline bool conv_live_make_place(struct conv_live_table *live, uint64_t address,
                                        struct conv_object *ret_before)
{
    uint32_t before;
    uint64_t *entry = conv_live_reach(live, address, LIVE_TAG_NONE, &before);
    if (entry == NULL)
        return false;
    conv_live_set_tag(live, entry, LIVE_TAG_NONE);
    live->latest = (size_t)(entry - live->entries);
    ret_before->id = before >> 1;
    ret_before->bytes = before != 0 ? live->bytes[before >> 1] : 0;
    return true;
}

/* conv_live_insert - put an object to an address that is not in the table, or to the one that place was just made for. False: no
 * memory. */
static inline bool conv_live_insert(struct conv_live_table *live, uint64_t address, struct conv_object object)
{
    struct conv_object before;
    if ((object.id >= live->bytes_capacity && !conv_live_more_bytes(live, object.id)) ||
        (conv_live_tag(live, &live->entries[live->latest & live->mask]) != LIVE_TAG_NONE &&
         !conv_live_make_place(live, address, &before)))
        return false;
    conv_live_set_tag(live, &live->entries[live->latest], LIVE_TAG_OF(object.id));
    live->bytes[object.id] = object.bytes;
    return true;
}

/* conv_live_remove - entry as conv_live_find returned it. */
static inline void conv_live_remove(struct conv_live_table *live, uint64_t *entry)
{
    size_t hole = (size_t)(entry - live->entries);
    for (size_t at = (hole + 1) & live->mask; live->entries[at] != 0; at = (at + 1) & live->mask) {
        const uint64_t word = live->entries[at], back = (at - hole) & live->mask;
        if ((word & LIVE_STEP_MASK) > back) { /* not beyond its home */
            live->entries[hole] = word - back;
            hole = at;
        }
    }
    live->entries[hole] = 0;
    live->count--;
}

/* conv_live_take_out - what stands at an address is no more there. False: nothing does. */
static inline bool conv_live_take_out(struct conv_live_table *live, uint64_t address,
                                      struct conv_object *ret_object)
{
    uint64_t *entry = conv_live_find(live, address);
    if (entry == NULL)
        return false;
    *ret_object = conv_live_object(live, entry);
    conv_live_remove(live, entry);
    return true;
}

#endif
