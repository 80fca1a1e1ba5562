/* extents.c - a treap in an array. */
#include "replay/base/extents.h"

#include "replay/base/storage.h"

bool rep_extents_init(struct rep_extents *extents, uint32_t id_max)
{
    extents->root = 0;
    extents->nodes = rep_storage_map((size_t)id_max + 1, sizeof *extents->nodes);
    return extents->nodes != NULL;
}

/* Fixed for an id: the tree's shape depends on nothing but its content. */
static uint32_t priority(uint32_t id)
{
    id *= UINT32_C(0x9e3779b1);
    return (id ^ id >> 15) * UINT32_C(0x85ebca77);
}

/* Nodes before `key` to the left, the others to the right. */
static void split(struct rep_extents *extents, uint32_t tree, uintptr_t key, uint32_t *ret_left,
                  uint32_t *ret_right)
{
    struct rep_extent *node = &extents->nodes[tree];
    if (tree == 0) {
        *ret_left = *ret_right = 0;
    } else if (node->begin < key) {
        split(extents, node->right, key, &node->right, ret_right);
        *ret_left = tree;
    } else {
        split(extents, node->left, key, ret_left, &node->left);
        *ret_right = tree;
    }
}

/* All of left comes before all of right. */
static uint32_t merge(struct rep_extents *extents, uint32_t left, uint32_t right)
{
    if (left == 0 || right == 0)
        return left != 0 ? left : right;
    if (priority(left) > priority(right)) {
        extents->nodes[left].right = merge(extents, extents->nodes[left].right, right);
        return left;
    }
    extents->nodes[right].left = merge(extents, left, extents->nodes[right].left);
    return right;
}

static uint32_t overlapping(const struct rep_extents *extents, uintptr_t begin, size_t bytes)
{
    uint32_t before = 0, after = 0; /* the nearest nodes on both sides */
    for (uint32_t at = extents->root; at != 0;) {
        const struct rep_extent *node = &extents->nodes[at];
        if (node->begin <= begin) {
            before = at;
            at = node->right;
        } else {
            after = at;
            at = node->left;
        }
    }
    if (before != 0 && begin - extents->nodes[before].begin < extents->nodes[before].bytes)
        return before;
    return after != 0 && extents->nodes[after].begin - begin < bytes ? after : 0;
}

uint32_t rep_extents_add(struct rep_extents *extents, uint32_t id, const void *begin, size_t bytes)
{
    uint32_t left, right;
    const uint32_t other = overlapping(extents, (uintptr_t)begin, bytes);
    if (other != 0)
        return other;
    extents->nodes[id] = (struct rep_extent){.begin = (uintptr_t)begin, .bytes = bytes};
    split(extents, extents->root, (uintptr_t)begin, &left, &right);
    extents->root = merge(extents, merge(extents, left, id), right);
    return 0;
}

void rep_extents_remove(struct rep_extents *extents, uint32_t id)
{
    struct rep_extent *node = &extents->nodes[id];
    if (node->bytes == 0)
        return;
    uint32_t *link = &extents->root;
    while (*link != id) {
        struct rep_extent *at = &extents->nodes[*link];
        link = node->begin < at->begin ? &at->left : &at->right;
    }
    *link = merge(extents, node->left, node->right);
    *node = (struct rep_extent){0};
}
