/* promise_check.h - execute ops and look whether the allocator keeps its promises.
 *
 *   pattern   what is written into each object: bytes that follow from the op that made it and their place
 *             in it. All of an object up to REP_CHECK_WHOLE_BYTES; of a larger one its begin, its end, and
 *             a few bytes of every page
 *   promises  aligned as asked, at least as the C standard demands; overlapping no live object; the
 *             pattern unchanged when the object is released, resized and at the end; a resized object
 *             keeps what it held; calloc's is zero; a request of at least one byte is not answered by NULL
 *
 * Ops are executed one by one by rep_loop_run, so the functions are those of a timed run. Nothing is
 * measured. Threads check side by side; the tree of addresses has a lock. */
#ifndef MALLAB_REPLAY_EXEC_PROMISE_CHECK_H
#define MALLAB_REPLAY_EXEC_PROMISE_CHECK_H

#include <pthread.h>
#include <stdatomic.h>

#include "replay/exec/loop.h"

#define REP_CHECK_WHOLE_BYTES 4096u
#define REP_CHECK_EDGE_BYTES  64u
#define REP_CHECK_PAGE_BYTES  8u

/* The addresses of a live object: two that overlap are found when the second is born. */
struct rep_extent {
    uintptr_t begin;
    size_t bytes;         /* 0: not in the tree */
    uint32_t left, right; /* ids; 0: none */
};

struct rep_checked {
    uint64_t bytes; /* requested */
    uint64_t op;    /* that made it, or resized it last: the pattern follows from it */
    bool live;
};

struct rep_check {
    struct rep_loop loop;        /* the run's, touching nothing */
    struct rep_checked *objects; /* by id */
    uint32_t id_max;
    struct rep_extent *extents; /* by id: a search tree by address, in which an id is a node */
    uint32_t root;
    pthread_mutex_t lock;      /* of extents */
    _Atomic uint64_t verified; /* objects whose pattern was looked at */
    uint64_t rest_from;        /* ops from this number on are the rest's (idle.h); UINT64_MAX: none */
};

/* A promise broken. */
struct rep_check_problem {
    char text[320]; /* without the op at fault, which the caller knows */
};

/* rep_check_init - loop is copied, its slots are shared; rest_from is none.
 * Returns  false when memory for ids up to id_max does not fit. */
bool rep_check_init(struct rep_check *check, const struct rep_loop *loop, uint32_t id_max);

/* rep_check_op - execute one op as rep_loop_run takes it.
 * number   of the op in the workload; patterns follow from it.
 * Returns  true; false with ret_problem filled: text is "" when the allocator answered with NULL. */
bool rep_check_op(struct rep_check *check, const struct wl_op *op, uint64_t number,
                  struct rep_check_problem *ret_problem);

/* rep_check_end - look at all objects that are still live; no thread runs. Returns as rep_check_op. */
bool rep_check_end(struct rep_check *check, struct rep_check_problem *ret_problem);

/* rep_extent_add - object id, which is not in the tree, occupies bytes > 0 from begin on. With the lock.
 * Returns  0; else the id of an object whose memory it overlaps, and the tree is as before.
 * rep_extent_remove - take an object out; one that is not in the tree is no error. */
uint32_t rep_extent_add(struct rep_check *check, uint32_t id, const void *begin, size_t bytes);
void rep_extent_remove(struct rep_check *check, uint32_t id);

#endif
