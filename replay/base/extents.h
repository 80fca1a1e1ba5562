/* extents.h - which addresses belong to which live object: finds two that overlap at the moment the second is born.
 *
 * A search tree by address whose nodes are object ids, balanced by random-looking priorities (a treap), in memory that
 * is mapped once. One thread at a time: the caller locks. */
#ifndef MALLAB_REPLAY_BASE_EXTENTS_H
#define MALLAB_REPLAY_BASE_EXTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rep_extent {
    uintptr_t begin;
    size_t bytes; /* 0: not in the tree */
    uint32_t left, right;
};

struct rep_extents {
    struct rep_extent *nodes; /* by object id; 0 is no object and no node */
    uint32_t root;
};

/* rep_extents_init - map room for ids up to id_max. Returns false when it does not fit. */
bool rep_extents_init(struct rep_extents *extents, uint32_t id_max);

/* rep_extents_add - object id, which is not in the tree, occupies bytes > 0 from begin on.
 * Returns   0; else the id of an object whose memory it overlaps, and the tree is as before. */
uint32_t rep_extents_add(struct rep_extents *extents, uint32_t id, const void *begin, size_t bytes);

/* rep_extents_remove - take an object out; one that is not in the tree is no error. */
void rep_extents_remove(struct rep_extents *extents, uint32_t id);

#endif
