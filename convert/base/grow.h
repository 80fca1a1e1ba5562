/* grow.h - arrays that grow: with an item for each lane, whose numbers come in any order; or at their end. */
#ifndef MALLAB_CONVERT_BASE_GROW_H
#define MALLAB_CONVERT_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* conv_grown - make sure that there is an item `number`; new ones are zero.
 * items      NULL to begin with; to be replaced by what is returned, since it may have moved.
 * capacity   how many there are; 0 to begin with.
 * Returns    the items; NULL: no memory, and items and capacity are as before. */
static inline void *conv_grown(void *items, size_t item_bytes, size_t *capacity, uint32_t number)
{
    const size_t more = ((size_t)number + 1) * 2;
    char *grown;
    if (number < *capacity)
        return items;
    grown = realloc(items, more * item_bytes);
    if (grown == NULL)
        return NULL;
    memset(grown + *capacity * item_bytes, 0, (more - *capacity) * item_bytes);
    *capacity = more;
    return grown;
}

/* conv_reserve - room for `wanted` items; new ones are not set. False: no memory, and items and capacity are as before.
 * CONV_RESERVE - the same of an array of any type, whose capacity is a size_t. */
static inline bool conv_reserve(void **items, size_t *capacity, size_t wanted, size_t item_bytes)
{
    const size_t half_more = *capacity + *capacity / 2 + 64, more = half_more > wanted ? half_more : wanted;
    void *grown;
    if (wanted <= *capacity)
        return true;
    grown = realloc(*items, more * item_bytes);
    if (grown == NULL)
        return false;
    *items = grown;
    *capacity = more;
    return true;
}

#define CONV_RESERVE(items, capacity, wanted)                                                                \
    conv_reserve((void **)&(items), &(capacity), wanted, sizeof *(items))

#endif
