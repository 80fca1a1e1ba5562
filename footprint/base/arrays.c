/* arrays.c - an index: open addressing, at most half full. */
#include "footprint/base/arrays.h"

#include <sys/auxv.h>
#include <xxhash.h>

#define SLOTS_FIRST 64u

struct fp_index_slot {
    uint32_t hash, number; /* 1 + the item's; 0: free */
};

/* The random bytes that the kernel gave this process. */
static uint64_t seed(void)
{
    const void *random = (const void *)getauxval(AT_RANDOM); /* NULL: only the protection is lost */
    uint64_t value = 0;
    if (random != NULL)
        memcpy(&value, random, sizeof value);
    return value;
}

uint64_t fp_index_hash(const void *bytes, size_t size, uint64_t before)
{
    return XXH64(size > 0 ? bytes : "", size, before ^ seed());
}

static void put(struct fp_index *index, struct fp_index_slot slot)
{
    size_t at = slot.hash & (index->size - 1);
    while (index->slots[at].number != 0)
        at = (at + 1) & (index->size - 1);
    index->slots[at] = slot;
}

static bool grow(struct fp_index *index)
{
    struct fp_index grown = {.size = index->size == 0 ? SLOTS_FIRST : 2 * index->size, .count = index->count};
    grown.slots = calloc(grown.size, sizeof *grown.slots);
    if (grown.slots == NULL)
        return false;
    for (size_t i = 0; i < index->size; i++)
        if (index->slots[i].number != 0)
            put(&grown, index->slots[i]);
    free(index->slots);
    *index = grown;
    return true;
}

bool fp_index_add(struct fp_index *index, uint64_t hash, uint32_t number)
{
    if (index->count >= index->size / 2 && !grow(index))
        return false;
    put(index, (struct fp_index_slot){(uint32_t)hash, number + 1});
    index->count++;
    return true;
}

uint32_t fp_index_next(const struct fp_index *index, uint64_t hash, size_t *step)
{
    while (index->size > 0) {
        const struct fp_index_slot *slot = &index->slots[((uint32_t)hash + (*step)++) & (index->size - 1)];
        if (slot->number == 0)
            break;
        if (slot->hash == (uint32_t)hash)
            return slot->number - 1;
    }
    return FP_INDEX_END;
}

void fp_index_release(struct fp_index *index)
{
    free(index->slots);
    *index = (struct fp_index){0};
}
