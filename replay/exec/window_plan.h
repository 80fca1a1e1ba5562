/* window_plan.h - a window, as each thread is to execute it.
 *
 *   part      the ops of one thread in the window, together and in their order
 *   segment   consecutive ops of a part that are timed as one run: before it its waits must hold, after it
 *             the thread may have to post
 *   post      to publish how many ops of its part a thread has executed
 *   wait      a count that another thread must have posted
 *
 * A plan is read by all threads while they execute its window; two plans take turns, so that the next
 * window's is made meanwhile. One thread at a time makes one. */
#ifndef MALLAB_REPLAY_EXEC_WINDOW_PLAN_H
#define MALLAB_REPLAY_EXEC_WINDOW_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "footprint/wl/workload.h"

/* A post may be late by this many ops, so that a thread whose every op is waited for by someone is still
 * timed in runs worth a clock read. Late posts cannot deadlock: see rep_plan_make. */
#define REP_POST_DELAY_OPS 64u

struct rep_wait {
    uint32_t thread; /* the other thread */
    uint32_t count;  /* what it must have posted */
    uint32_t op;     /* index in rep_plan.ops of the op that waits */
};

struct rep_segment {
    uint32_t op_first, op_count;     /* in rep_plan.ops */
    uint32_t wait_first, wait_count; /* in rep_plan.waits */
    bool post;                       /* someone waits for an op of it, or of a segment before */
};

struct rep_part {
    uint32_t thread;
    uint32_t op_first, op_count;
    uint32_t segment_first, segment_count;
    uint32_t wait_first, wait_count; /* all of the part, by rising op */
};

struct rep_plan {
    uint32_t part_count, segment_count;
    struct wl_op *ops;
    struct rep_part *parts;
    struct rep_segment *segments;
    uint8_t *code; /* of ops: op.h */
    struct rep_wait *waits;

    /* Kept between windows, or scratch of rep_plan_make. */
    bool serial;
    uint32_t ops_max;
    uint32_t *part_of;  /* by thread: 1 + its part's index, 0 for none */
    uint32_t *owner;    /* by op of the window: its part */
    uint32_t *position; /* by op of the window: its index in ops */
    uint8_t *marks;     /* by index in ops */
    uint16_t *pages;    /* by object id: pages touched; NULL when nothing is ever resized */
    uint64_t *times_ns; /* by index in ops: recorded time, not falling within a part; NULL: not asked for */
};

/* rep_plan_init - map what the largest window of a workload needs; it lasts until the process ends.
 * serial    every plan is to be one part of one segment, in the recorded order.
 * former    NULL, or a plan of the same workload that takes turns with this one: they share what goes on
 *           from window to window, and scratch.
 * Returns   false when it does not fit. */
bool rep_plan_init(struct rep_plan *plan, const struct wl_summary *summary, bool serial,
                   const struct rep_plan *former);

/* rep_plan_keep_times - have every plan hold the recorded time of each op: those that the window has, and
 * between two of them at even distances. Before the first plan. False when it does not fit. */
bool rep_plan_keep_times(struct rep_plan *plan);

/* rep_plan_make - plan a window. Parts stand in the order of their first ops.
 * Returns   FP_OK; FP_ERR_CORRUPT when the window exceeds what the summary promised. */
enum fp_status rep_plan_make(struct rep_plan *plan, const struct wl_window *window);

/* rep_plan_locate - the number within the window of the op that the plan holds at ops[index]. */
uint32_t rep_plan_locate(const struct rep_plan *plan, const struct wl_window *window, uint32_t index);

#endif
