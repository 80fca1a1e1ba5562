/* replay_windows.h - random legal workloads in memory, for tests of replay without a file.
 *
 * Threads come and go at random windows; thread 0 is the main thread. Any thread resizes and releases what
 * any other allocated, with the waits that this needs, and more waits that nothing needs. Every op carries
 * its number in the workload plus one as its size (FP_CALL_MALLOC, FP_CALL_REALLOC, FP_CALL_FREE_SIZED), so
 * that functions in place of the allocator's know which op they are called for. */
#ifndef MALLAB_TESTS_REPLAY_WINDOWS_H
#define MALLAB_TESTS_REPLAY_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "footprint/wl/workload.h"
#include "unit/random.h"

#define SOME_THREADS    24u
#define SOME_WINDOWS    400u
#define SOME_WINDOW_OPS 90u
#define SOME_OPS        (SOME_WINDOWS * SOME_WINDOW_OPS)
#define SOME_LIVE_MAX   300u
#define SOME_TIMES                                                                                           \
    ((SOME_WINDOW_OPS + WL_TIME_STRIDE - 1) / WL_TIME_STRIDE) /* of a window; ops are 10 ns apart */
#define NO_OP UINT32_MAX

/* What is known of an object id while ops are made up. */
struct made_object {
    bool live;
    uint32_t window;  /* of the last op on it, plus one */
    uint32_t last_op; /* number within that window */
    uint32_t thread;  /* of that op */
};

struct made {
    struct wl_summary summary;
    struct wl_thread threads[SOME_THREADS];
    struct wl_window windows[SOME_WINDOWS];
    struct wl_op ops[SOME_OPS];
    struct wl_run runs[SOME_OPS];
    struct wl_wait waits[SOME_OPS];
    uint64_t times_ns[SOME_WINDOWS * SOME_TIMES];
    uint32_t thread_of[SOME_OPS];
    uint32_t wait_on[SOME_OPS]; /* op of the workload that the op waits for, NO_OP for none */
    uint32_t next;              /* the window that made_next hands out */

    uint64_t seed;
    uint32_t
        brief; /* not 0: every thread but the main one lives within a window, and has so many turns there: with one turn each is born
                       when the one before has ended, with more all are alive at once */
    uint32_t ids_used, live_count;
    struct made_object objects[SOME_OPS + 1];
    uint32_t live[SOME_LIVE_MAX];
};

static uint32_t made_pick(struct made *made, uint32_t below)
{
    return (uint32_t)(test_random(&made->seed) % below);
}

/* The id for a new object: one that is free for this thread in this window, or the next unused. */
static uint32_t made_id(struct made *made, uint32_t window, uint32_t thread)
{
    for (unsigned tries = 0; tries < 8 && made->ids_used > 0; tries++) {
        const uint32_t id = 1 + made_pick(made, made->ids_used);
        const struct made_object *object = &made->objects[id];
        if (!object->live && (object->window != window + 1 || object->thread == thread))
            return id;
    }
    return ++made->ids_used;
}

static void made_op(struct made *made, uint32_t window, uint32_t number, uint32_t thread)
{
    const uint32_t at = window * SOME_WINDOW_OPS + number;
    struct wl_op *op = &made->ops[at];
    struct wl_window *into = &made->windows[window];
    uint32_t on = NO_OP;
    *op = (struct wl_op){.size = at + 1};
    made->thread_of[at] = thread;
    if (made->live_count == 0 || (made->live_count < SOME_LIVE_MAX && made_pick(made, 2) == 0)) {
        op->call = FP_CALL_MALLOC;
        op->id = made_id(made, window, thread);
        made->live[made->live_count++] = op->id;
    } else {
        const uint32_t index = made_pick(made, made->live_count);
        op->id = made->live[index];
        op->call = made_pick(made, 4) == 0 ? FP_CALL_REALLOC : FP_CALL_FREE_SIZED;
        if (op->call == FP_CALL_FREE_SIZED)
            made->live[index] = made->live[--made->live_count];
        if (made->objects[op->id].window == window + 1 && made->objects[op->id].thread != thread)
            on = made->objects[op->id].last_op;
    }
    if (on == NO_OP && number > 0 && made_pick(made, 10) == 0) {
        const uint32_t other = made_pick(made, number);
        if (made->thread_of[window * SOME_WINDOW_OPS + other] != thread)
            on = other;
    }
    made->objects[op->id] = (struct made_object){op->call != FP_CALL_FREE_SIZED, window + 1, number, thread};
    made->wait_on[at] = on == NO_OP ? NO_OP : window * SOME_WINDOW_OPS + on;
    if (on != NO_OP)
        made->waits[window * SOME_WINDOW_OPS + into->wait_count++] = (struct wl_wait){number, on};
    made->summary.ops_by_call[op->call]++;
}

static void made_window(struct made *made, uint32_t window)
{
    const uint32_t first = window * SOME_WINDOW_OPS;
    uint32_t alive[SOME_THREADS], alive_count = 0;
    struct wl_window *into = &made->windows[window];
    *into = (struct wl_window){
        .facts = {.first_op = first, .start_ns = window * 1000u, .end_ns = window * 1000u + 1000},
        .op_count = SOME_WINDOW_OPS,
        .ops = &made->ops[first],
        .runs = &made->runs[first],
        .waits = &made->waits[first],
        .times_ns = &made->times_ns[window * SOME_TIMES],
        .time_count = SOME_TIMES,
    };
    for (uint32_t i = 0; i < SOME_TIMES; i++)
        made->times_ns[window * SOME_TIMES + i] = window * 1000u + i * WL_TIME_STRIDE * 10;
    for (uint32_t i = 0; i < SOME_THREADS; i++) {
        if (made->threads[i].first_window <= window && window <= made->threads[i].last_window)
            alive[alive_count++] = i;
    }
    if (alive_count > made->summary.threads_at_once_max)
        made->summary.threads_at_once_max = alive_count;
    for (uint32_t number = 0, turn = 0; number < SOME_WINDOW_OPS;) {
        /* Each thread has a turn first, so that its first and last windows are what was said. */
        const uint32_t thread = alive[turn < alive_count ? turn
                                      : made->brief      ? turn % alive_count
                                                         : made_pick(made, alive_count)];
        struct wl_run *run = &made->runs[first + into->run_count++];
        const uint32_t length = made->brief
                                    ? (turn + 1) * SOME_WINDOW_OPS / (alive_count * made->brief) - number
                                    : 1 + made_pick(made, turn % 7 == 3 ? 30 : 4);
        *run = (struct wl_run){.thread = thread};
        while (run->op_count < length && number < SOME_WINDOW_OPS) {
            made_op(made, window, number++, thread);
            run->op_count++;
            made->threads[thread].ops++;
        }
        turn++;
    }
    into->facts.live_objects = made->live_count;
}

static void made_brief_lives(struct made *made)
{
    for (uint32_t i = 1; i < SOME_THREADS; i++) {
        made->threads[i].first_window = made->threads[i].last_window = i / 6;
        made->threads[i].exited = true;
    }
}

/* The same workload for the same seed; free() ends it. */
static struct made *make_workload_of(uint64_t seed, uint32_t brief)
{
    struct made *made = calloc(1, sizeof *made);
    made->seed = seed << 32;
    for (uint32_t i = 0; i < SOME_THREADS; i++) {
        struct wl_thread *thread = &made->threads[i];
        thread->thread_id = 100 + i;
        thread->is_main = i == 0;
        thread->first_window = i == 0 ? 0 : made_pick(made, SOME_WINDOWS);
        thread->last_window = thread->first_window +
                              made_pick(made, SOME_WINDOWS - (uint32_t)thread->first_window);
        thread->exited = i != 0 && made_pick(made, 3) != 0;
        if (!thread->exited)
            thread->last_window = SOME_WINDOWS - 1;
    }
    made->brief = brief;
    if (brief > 0)
        made_brief_lives(made);
    for (uint32_t i = 0; i < SOME_WINDOWS; i++)
        made_window(made, i);
    made->summary.ops = SOME_OPS;
    made->summary.windows = SOME_WINDOWS;
    made->summary.duration_ns = SOME_WINDOWS * 1000u;
    made->summary.id_max = made->ids_used;
    made->summary.window_ops_max = SOME_WINDOW_OPS;
    made->summary.thread_count = SOME_THREADS;
    made->summary.threads = made->threads;
    return made;
}

static inline struct made *make_workload(uint64_t seed)
{
    return make_workload_of(seed, 0);
}

/* Hand out the windows in turn, as wl_reader_next does. */
static enum fp_status made_next(struct made *made, struct wl_window *ret_window)
{
    if (made->next == SOME_WINDOWS)
        return FP_END;
    *ret_window = made->windows[made->next++];
    return FP_OK;
}

#endif
