/* intervals.h - ranges of addresses with what they are of, to find the one that covers an address.
 *
 * Ranges may nest and overlap. Filled, then sorted once, then asked: a search by halves and mostly one step. */
#ifndef MALLAB_SITES_NAMES_INTERVALS_H
#define MALLAB_SITES_NAMES_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interval {
    uint64_t start, end; /* equal: nobody knows how long it is */
    uint64_t reach;      /* the highest end of it and all before it */
    const void *what;
    uint32_t rank;  /* of those with one start the highest is found */
    uint32_t order; /* in which it was added */
};

/* Zeroes are an empty one. */
struct intervals {
    struct interval *list;
    size_t count, capacity;
};

/* intervals_add - one more; what is borrowed. Returns false: no memory, or too many. */
bool intervals_add(struct intervals *intervals, uint64_t start, uint64_t bytes, uint32_t rank,
                   const void *what);

/* intervals_sort - after the last one was added, before the first search. */
void intervals_sort(struct intervals *intervals);

/* intervals_cover - of those that cover the address the one that begins last; latest: the one that was added last.
 * Returns   NULL: none covers it. */
const struct interval *intervals_cover(const struct intervals *intervals, uint64_t address, bool latest);

/* intervals_begin - one that begins there, however long. NULL: none. */
const struct interval *intervals_begin(const struct intervals *intervals, uint64_t start);

void intervals_release(struct intervals *intervals);

#endif
