/* promise_check.c - patterns and promises. */
#include "replay/exec/promise_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "footprint/base/words.h"
#include "replay/base/objects.h"
#include "replay/base/op.h"
#include "replay/base/own_process.h"

#define INTACT UINT64_MAX

bool rep_check_init(struct rep_check *check, const struct rep_loop *loop, uint32_t id_max)
{
    check->loop = *loop;
    check->loop.touch = REP_TOUCH_NONE;
    check->loop.far = false;
    check->id_max = id_max;
    check->rest_from = UINT64_MAX;
    atomic_init(&check->verified, 0);
    check->objects = rep_storage_map((size_t)id_max + 1, sizeof *check->objects);
    check->root = 0;
    check->extents = rep_storage_map((size_t)id_max + 1, sizeof *check->extents);
    return check->objects != NULL && check->extents != NULL && pthread_mutex_init(&check->lock, NULL) == 0;
}

/* ---- patterns -------------------------------------------------------------------------------- */

static unsigned char pattern(uint64_t op, uint64_t at)
{
    const uint64_t word = (op + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned char)((word >> (at & 7) * 8) + at / 8 * 0x9d);
}

/* The next place from `at` on that carries pattern, in an object of `bytes` bytes; else `bytes`. */
static uint64_t covered(uint64_t at, uint64_t bytes)
{
    if (bytes <= REP_CHECK_WHOLE_BYTES || at < REP_CHECK_EDGE_BYTES || at >= bytes - REP_CHECK_EDGE_BYTES)
        return at;
    if (at % REP_PAGE_BYTES < REP_CHECK_PAGE_BYTES)
        return at;
    const uint64_t page = (at / REP_PAGE_BYTES + 1) * REP_PAGE_BYTES;
    const uint64_t edge = bytes - REP_CHECK_EDGE_BYTES;
    return page < edge ? page : edge;
}

static void fill(unsigned char *object, const struct rep_checked *facts)
{
    if (facts->bytes <= REP_CHECK_WHOLE_BYTES) { /* most objects: without a question at each byte */
        for (uint64_t at = 0; at < facts->bytes; at++)
            object[at] = pattern(facts->op, at);
        return;
    }
    for (uint64_t at = 0; at < facts->bytes; at = covered(at + 1, facts->bytes))
        object[at] = pattern(facts->op, at);
}

/* The place of the first byte that differs, among the first `until`; INTACT when none does. */
static uint64_t damage(const unsigned char *object, const struct rep_checked *facts, uint64_t until)
{
    if (facts->bytes <= REP_CHECK_WHOLE_BYTES) {
        for (uint64_t at = 0; at < facts->bytes && at < until; at++) {
            if (object[at] != pattern(facts->op, at))
                return at;
        }
        return INTACT;
    }
    for (uint64_t at = 0; at < facts->bytes && at < until; at = covered(at + 1, facts->bytes)) {
        if (object[at] != pattern(facts->op, at))
            return at;
    }
    return INTACT;
}

/* ---- extents: a search tree by address, balanced by random-looking priorities (a treap) ----------- */

/* Fixed for an id: the tree's shape depends on nothing but its content. */
static uint32_t priority(uint32_t id)
{
    id *= UINT32_C(0x9e3779b1);
    return (id ^ id >> 15) * UINT32_C(0x85ebca77);
}

/* Nodes before `key` to the left, the others to the right. */
static void split(struct rep_check *check, uint32_t tree, uintptr_t key, uint32_t *ret_left,
                  uint32_t *ret_right)
{
    struct rep_extent *node = &check->extents[tree];
    if (tree == 0) {
        *ret_left = *ret_right = 0;
    } else if (node->begin < key) {
        split(check, node->right, key, &node->right, ret_right);
        *ret_left = tree;
    } else {
        split(check, node->left, key, ret_left, &node->left);
        *ret_right = tree;
    }
}

/* All of left comes before all of right. */
static uint32_t merge(struct rep_check *check, uint32_t left, uint32_t right)
{
    if (left == 0 || right == 0)
        return left != 0 ? left : right;
    if (priority(left) > priority(right)) {
        check->extents[left].right = merge(check, check->extents[left].right, right);
        return left;
    }
    check->extents[right].left = merge(check, left, check->extents[right].left);
    return right;
}

static uint32_t overlapping(const struct rep_check *check, uintptr_t begin, size_t bytes)
{
    uint32_t before = 0, after = 0; /* the nearest nodes on both sides */
    for (uint32_t at = check->root; at != 0;) {
        const struct rep_extent *node = &check->extents[at];
        if (node->begin <= begin) {
            before = at;
            at = node->right;
        } else {
            after = at;
            at = node->left;
        }
    }
    if (before != 0 && begin - check->extents[before].begin < check->extents[before].bytes)
        return before;
    return after != 0 && check->extents[after].begin - begin < bytes ? after : 0;
}

uint32_t rep_extent_add(struct rep_check *check, uint32_t id, const void *begin, size_t bytes)
{
    uint32_t left, right;
    const uint32_t other = overlapping(check, (uintptr_t)begin, bytes);
    if (other != 0)
        return other;
    check->extents[id] = (struct rep_extent){.begin = (uintptr_t)begin, .bytes = bytes};
    split(check, check->root, (uintptr_t)begin, &left, &right);
    check->root = merge(check, merge(check, left, id), right);
    return 0;
}

void rep_extent_remove(struct rep_check *check, uint32_t id)
{
    struct rep_extent *node = &check->extents[id];
    if (node->bytes == 0)
        return;
    uint32_t *link = &check->root;
    while (*link != id) {
        struct rep_extent *at = &check->extents[*link];
        link = node->begin < at->begin ? &at->left : &at->right;
    }
    *link = merge(check, node->left, node->right);
    *node = (struct rep_extent){0};
}

/* ---- promises -------------------------------------------------------------------------------- */

struct maker {
    char words[48]; /* "op 7", "call 7 of the rest" */
};

static struct maker maker_of(const struct rep_check *check, const struct rep_checked *facts)
{
    struct maker maker;
    if (facts->op < check->rest_from)
        snprintf(maker.words, sizeof maker.words, "op %s", FP_GROUPED(facts->op));
    else
        snprintf(maker.words, sizeof maker.words, "call %s of the rest",
                 FP_GROUPED(facts->op - check->rest_from));
    return maker;
}

static bool broken(const struct rep_check *check, struct rep_check_problem *ret_problem, const char *what,
                   const struct rep_checked *facts, uint64_t at)
{
    snprintf(ret_problem->text, sizeof ret_problem->text,
             "%s: byte %s of the object of %s bytes that %s made", what, FP_GROUPED(at),
             FP_GROUPED(facts->bytes), maker_of(check, facts).words);
    return false;
}

/* Takes the object out before the allocator gets the object back: from then on it may be another thread's. */
static bool take_out(struct rep_check *check, const struct wl_op *op, struct rep_check_problem *ret_problem)
{
    struct rep_checked *facts = &check->objects[op->id];
    const unsigned char *object = check->loop.slots[op->id];
    if (op->id == 0 || !facts->live)
        return true;
    atomic_fetch_add_explicit(&check->verified, 1, memory_order_relaxed);
    const uint64_t at = damage(object, facts, facts->bytes);
    pthread_mutex_lock(&check->lock);
    rep_extent_remove(check, op->id);
    facts->live = false;
    pthread_mutex_unlock(&check->lock);
    return at == INTACT || broken(check, ret_problem, "overwritten while the program had it", facts, at);
}

static bool check_place(struct rep_check *check, const struct wl_op *op, const struct rep_checked *facts,
                        struct rep_check_problem *ret_problem)
{
    const void *object = check->loop.slots[op->id];
    const uint64_t alignment = rep_alignment_promised(op, facts->bytes);
    if (((uintptr_t)object & (alignment - 1)) != 0) {
        snprintf(ret_problem->text, sizeof ret_problem->text,
                 "misaligned: %s bytes at an address that is no multiple of %s", FP_GROUPED(facts->bytes),
                 FP_GROUPED(alignment));
        return false;
    }
    pthread_mutex_lock(&check->lock);
    const uint32_t other = rep_extent_add(check, op->id, object, facts->bytes);
    const struct rep_checked known = check->objects[other];
    if (other == 0)
        check->objects[op->id] = *facts; /* within the lock: the line above, of another thread, may read it */
    pthread_mutex_unlock(&check->lock);
    if (other != 0)
        snprintf(
            ret_problem->text, sizeof ret_problem->text,
            "overlapping: its %s bytes lie in the object of %s bytes that %s made and that is still in use",
            FP_GROUPED(facts->bytes), FP_GROUPED(known.bytes), maker_of(check, &known).words);
    return other == 0;
}

/* Takes the object in after the call; former: the object that was resized, not live when there was none. */
static bool take_in(struct rep_check *check, const struct wl_op *op, uint64_t number,
                    const struct rep_checked *former, struct rep_check_problem *ret_problem)
{
    const struct rep_checked facts = {.bytes = rep_op_bytes(op), .op = number, .live = true};
    unsigned char *object = check->loop.slots[op->id];
    if (facts.bytes == 0) { /* any answer will do, and nothing may be written there */
        check->objects[op->id] = facts;
        return true;
    }
    if (!check_place(check, op, &facts, ret_problem))
        return false;
    for (uint64_t at = 0; op->call == FP_CALL_CALLOC && at < facts.bytes; at++) {
        if (object[at] != 0)
            return broken(check, ret_problem, "not zero", &facts, at);
    }
    if (former->live) {
        const uint64_t at = damage(object, former, facts.bytes);
        if (at != INTACT)
            return broken(check, ret_problem, "not kept when it was resized", former, at);
    }
    fill(object, &facts);
    return true;
}

bool rep_check_op(struct rep_check *check, const struct wl_op *op, uint64_t number,
                  struct rep_check_problem *ret_problem)
{
    const enum fp_call_kind kind = fp_call_kind_of(op->call);
    const bool consumes = kind == FP_KIND_RELEASE ||
                          (kind == FP_KIND_RESIZE && (op->align_log2 & WL_OP_FRESH) == 0);
    const struct rep_checked former = consumes ? check->objects[op->id] : (struct rep_checked){0};
    ret_problem->text[0] = '\0';
    if (consumes && !take_out(check, op, ret_problem))
        return false;
    uint8_t code[2] = {0};
    rep_code_make(code, op, 1);
    if (rep_loop_run(&check->loop, op, code, 1) != 1)
        return false;
    return kind == FP_KIND_RELEASE || take_in(check, op, number, &former, ret_problem);
}

bool rep_check_end(struct rep_check *check, struct rep_check_problem *ret_problem)
{
    for (uint32_t id = 1; id <= check->id_max && id != 0; id++) {
        const struct rep_checked *facts = &check->objects[id];
        if (!facts->live)
            continue;
        atomic_fetch_add_explicit(&check->verified, 1, memory_order_relaxed);
        const uint64_t at = damage(check->loop.slots[id], facts, facts->bytes);
        if (at != INTACT)
            return broken(check, ret_problem, "overwritten while the program had it, seen at the end", facts,
                          at);
    }
    return true;
}
