/* grow.h - arrays that grow: at their end, or with an item for each number, which may come in any order. */
#ifndef MALLAB_FOOTPRINT_BASE_GROW_H
#define MALLAB_FOOTPRINT_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>
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

#endif
