/* run_threads.c - a run from its begin to its end, and what a thread does in it. exec.h tells what the files beside this
 * one do. */

#include <assert.h>

#include "replay/clock/recorded.h"
#include "replay/exec/exec.h"

static bool prepare_places(struct rep_exec *exec, const struct rep_exec_options *options)
{
    exec->places = options->serial ? 1 : 2;
    for (unsigned i = 0; i < exec->places; i++) {
        if (!rep_plan_init(&exec->prepared[i].plan, options->summary, options->serial,
                           i > 0 ? &exec->prepared[0].plan : NULL))
            return false;
    }
    return true;
}

struct rep_exec *rep_exec_init(const struct rep_exec_options *options)
{
    const struct wl_summary *summary = options->summary;
    const size_t count = (size_t)summary->thread_count + 1;
    struct rep_exec *exec = rep_storage_map(1, sizeof *exec);
    struct rep_thread *threads = rep_storage_map(count, sizeof *threads);
    if (exec == NULL || threads == NULL || !prepare_places(exec, options))
        return NULL;
    exec->options = options;
    exec->threads = threads;
    exec->batons = options->processors;
    if (options->pace != NULL && rep_pace_follows(options->pace)) {
        exec->pace = options->pace;
        for (unsigned i = 0; i < exec->places; i++)
            if (!rep_plan_keep_times(&exec->prepared[i].plan))
                return NULL;
        /* A thread that sleeps until its time has come must not keep others from theirs. */
        if (options->pace->speed > 0)
            exec->batons = UINT32_MAX;
    }
    exec->first = &threads[summary->thread_count];
    for (size_t i = 0; i < count; i++) {
        threads[i].exec = exec;
        threads[i].number = (uint32_t)i;
        rep_digest_init(&threads[i].digest);
        if (i < summary->thread_count && summary->threads[i].is_main)
            exec->first = &threads[i];
    }
    exec->first->state = THREAD_ALIVE;
    /* One stack more than threads live at once: an opener that ends is still on its stack while the next
     * window's threads begin. */
    if (!options->serial && !rep_stacks_init(&exec->stacks, summary->threads_at_once_max + 1))
        return NULL;
    return exec;
}

void rep_thread_join(struct rep_exec *exec, struct rep_thread *thread)
{
    rep_watch_pause();
    const int error = pthread_join(thread->handle, NULL);
    rep_watch_resume();
    assert(error == 0); /* it exists and is not this thread */
    (void)error;
    thread->state = THREAD_ENDED;
    rep_stacks_give(&exec->stacks, thread->stack_number);
}

static uint32_t finish(struct rep_exec *exec, uint32_t count)
{
    /* Acquire and release: the last one sees all that the others did. */
    return atomic_fetch_sub_explicit(&exec->unfinished, count, memory_order_acq_rel) - count;
}

/* Let the batons that no part took prepare the next window, or the thread that has none in this one. */
static uint32_t spare_batons(struct rep_exec *exec, struct rep_thread *self)
{
    if (self->part != NULL || !rep_ahead_take(exec)) {
        (void)rep_baton_standby(exec);
        return 0;
    }
    rep_window_prepare(exec);
    return 1;
}

/* Open windows until one is under way that others will close. self: the opener. */
static void open_windows(struct rep_exec *exec, struct rep_thread *self)
{
    while (rep_window_begin(exec) && rep_window_assign(exec, self)) {
        const uint32_t parts = exec->now->plan.part_count;
        uint32_t batons = exec->batons, done = 1;
        rep_standby_choose(exec, self);
        /* Relaxed: published by the gates' signals. The opener counts as unfinished until it has started
         * the others, or they could end the window and change the plan under it. */
        atomic_store_explicit(&exec->next_part, 0, memory_order_relaxed);
        atomic_store_explicit(&exec->ahead_taken, false, memory_order_relaxed);
        atomic_store_explicit(&exec->unfinished, parts + 2, memory_order_relaxed);
        while (batons > 0 && rep_baton_start(exec))
            batons--;
        if (batons > 0)
            done += spare_batons(exec, self);
        if (finish(exec, done) != 0)
            return;
        rep_window_close(exec, self);
    }
    rep_gate_signal(&exec->first->gate, REP_GATE_QUIT);
}

/* Execute the part that self has, if any: the stand-by has none, and what it was called for is taken already. Then see
 * that the next window gets prepared, once no part is left that could have this processor instead.
 * Returns how much of the window that was, see rep_exec. */
static uint32_t contribute(struct rep_exec *exec, struct rep_thread *self)
{
    if (self->part == NULL) {
        rep_window_prepare(exec);
        if (self->baton)
            (void)rep_baton_start(exec); /* false: all parts have begun */
        return 1;
    }
    rep_execute_part(exec, self);
    if ((self->baton && rep_baton_start(exec)) || !rep_ahead_take(exec))
        return 1;
    rep_window_prepare(exec);
    return 2;
}

/* A thread's life: window after window. */
static void work(struct rep_exec *exec, struct rep_thread *self)
{
    while (rep_gate_pass(&self->gate) == REP_GATE_GO) {
        const bool ends = self->ends; /* once `unfinished` is down, others may change everything */
        if (finish(exec, contribute(exec, self)) == 0) {
            rep_window_close(exec, self);
            open_windows(exec, self);
        }
        if (ends)
            return;
    }
}

void *rep_thread_main(void *argument)
{
    struct rep_thread *self = argument;
    const struct rep_exec_options *options = self->exec->options;
    if (options->syscalls != NULL)
        rep_syscalls_inside(options->syscalls, false);
    if (options->binding != NULL)
        rep_binding_thread(options->binding, self->number);
    rep_recorded_worker();
    work(self->exec, self);
    return NULL;
}

static void run_serially(struct rep_exec *exec)
{
    struct rep_thread *self = exec->first;
    for (rep_window_prepare(exec); rep_window_begin(exec); rep_window_prepare(exec)) {
        const struct wl_window *window = &exec->now->window;
        const struct wl_op *ops = exec->now->plan.ops;
        rep_execute_segment(exec, self, &exec->now->plan.segments[0]);
        for (uint32_t i = 0; i < window->run_count; ops += window->runs[i++].op_count)
            rep_digest_add(&exec->threads[window->runs[i].thread].digest, ops, window->runs[i].op_count);
        rep_window_close(exec, self);
    }
}

enum fp_status rep_exec_run(struct rep_exec *exec)
{
    if (exec->options->serial) {
        run_serially(exec);
    } else {
        rep_window_prepare(exec);
        open_windows(exec, exec->first);
        work(exec, exec->first);
    }
    return exec->status == FP_END ? FP_OK : exec->status;
}

void rep_exec_end(struct rep_exec *exec, struct rep_exec_totals *ret_totals)
{
    const uint32_t count = exec->options->summary->thread_count;
    struct rep_digest total;
    rep_digest_init(&total);
    if (exec->late != NULL)
        rep_thread_join(exec, exec->late);
    exec->late = NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct rep_thread *thread = &exec->threads[i];
        if (thread->state == THREAD_ALIVE && thread != exec->first) {
            rep_gate_signal(&thread->gate, REP_GATE_QUIT);
            rep_thread_join(exec, thread);
        }
        exec->totals.wait_ticks += thread->wait_ticks;
        exec->totals.waits += thread->waits_met;
        exec->totals.sleeps += thread->waits_slept;
        rep_digest_combine(&total, &thread->digest);
    }
    exec->totals.digest = rep_digest_value(&total);
    *ret_totals = exec->totals;
}
