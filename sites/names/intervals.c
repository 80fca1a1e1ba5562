/* intervals.c - see names_child.h. */
#include "sites/names/names_child.h"

#include <stdlib.h>

#include "footprint/base/grow.h"

bool intervals_add(struct intervals *intervals, uint64_t start, uint64_t bytes, uint32_t rank,
                   const void *what)
{
    if (intervals->count >= UINT32_MAX / 2 ||
        !FP_GROW(intervals->list, intervals->capacity, intervals->count + 1))
        return false;
    intervals->list[intervals->count] = (struct interval){.start = start,
                                                          .end = bytes <= UINT64_MAX - start ? start + bytes
                                                                                             : UINT64_MAX,
                                                          .what = what,
                                                          .rank = rank,
                                                          .order = (uint32_t)intervals->count};
    intervals->count++;
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct interval *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->order < b->order ? 1 : -1; /* of equals the first one is found */
}

void intervals_sort(struct intervals *intervals)
{
    uint64_t reach = 0;
    if (intervals->count > 0)
        qsort(intervals->list, intervals->count, sizeof *intervals->list, compare);
    for (size_t i = 0; i < intervals->count; i++) {
        if (intervals->list[i].end > reach)
            reach = intervals->list[i].end;
        intervals->list[i].reach = reach;
    }
}

/* The number of those that begin at the address or before it. */
static size_t count_before(const struct intervals *intervals, uint64_t address)
{
    size_t low = 0, high = intervals->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (intervals->list[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct interval *intervals_cover(const struct intervals *intervals, uint64_t address, bool latest)
{
    const struct interval *found = NULL;
    for (size_t i = count_before(intervals, address); i > 0 && intervals->list[i - 1].reach > address; i--) {
        const struct interval *one = &intervals->list[i - 1];
        if (one->end <= address || (found != NULL && found->order > one->order))
            continue;
        found = one;
        if (!latest)
            break;
    }
    return found;
}

const struct interval *intervals_begin(const struct intervals *intervals, uint64_t start)
{
    const size_t count = count_before(intervals, start);
    return count > 0 && intervals->list[count - 1].start == start ? &intervals->list[count - 1] : NULL;
}

void intervals_release(struct intervals *intervals)
{
    free(intervals->list);
    *intervals = (struct intervals){0};
}
