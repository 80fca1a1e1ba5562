/* arrays.h - arrays that grow: at their end, or with an item for each number, which may come in any order; and which of the items in
 * one equals another, without looking at all of them.
 *
 * An index keeps the numbers of items by a hash of what they are. The hash has a seed that files cannot know: none can make all
 * items of its own collide. Nothing that is written depends on it. */
#ifndef MALLAB_FOOTPRINT_BASE_ARRAYS_H
#define MALLAB_FOOTPRINT_BASE_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* fp_grow - room for `wanted` items; new ones are zero. False: no memory, and items and capacity are as before.
 * items      NULL to begin with, and capacity 0; the caller's to free.
 * FP_GROW - the same of an array of any type, whose capacity is a size_t. */
static inline bool fp_grow(void **items, size_t *capacity, size_t wanted, size_t item_bytes)
{
    const size_t half_more = *capacity + *capacity / 2 + 64, more = half_more > wanted ? half_more : wanted;
    char *grown;
    if (wanted <= *capacity)
        return true;
    grown = realloc(*items, more * item_bytes);
    if (grown == NULL)
        return false;
    memset(grown + *capacity * item_bytes, 0, (more - *capacity) * item_bytes);
    *items = grown;
    *capacity = more;
    return true;
}

#define FP_GROW(items, capacity, wanted) fp_grow((void **)&(items), &(capacity), wanted, sizeof *(items))

#define FP_INDEX_END UINT32_MAX

/* Zeroes are an empty one. */
struct fp_index {
    struct fp_index_slot *slots;
    size_t size, count;
};

/* fp_index_hash - the hash of some bytes, and of what was hashed before (0: nothing). */
uint64_t fp_index_hash(const void *bytes, size_t size, uint64_t before);

/* fp_index_add - keep the number of an item, below FP_INDEX_END. Returns false: no memory. */
bool fp_index_add(struct fp_index *index, uint64_t hash, uint32_t number);

/* fp_index_next - the next item that may have this hash: the caller compares. step: 0 at first. FP_INDEX_END: no more. */
uint32_t fp_index_next(const struct fp_index *index, uint64_t hash, size_t *step);

void fp_index_release(struct fp_index *index);

#endif
