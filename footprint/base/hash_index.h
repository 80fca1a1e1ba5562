/* hash_index.h - the item in an array that equals another, without looking at all of them.
 *
 * Keeps the numbers of items by a hash of what they are. The hash has a seed that files cannot know: none can make all items of
 * its own collide. Nothing that is written depends on it. */
#ifndef MALLAB_FOOTPRINT_BASE_HASH_INDEX_H
#define MALLAB_FOOTPRINT_BASE_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
