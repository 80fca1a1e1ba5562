/* run_windows.c - from window to window. */
#include <string.h>
#include <sys/resource.h>

#include "replay/exec/exec.h"

void rep_window_prepare(struct rep_exec *exec)
{
    struct rep_prepared *next = &exec->prepared[exec->prepared_count++ % exec->places];
    struct rusage before, after;
    const uint64_t start_ns = rep_monotonic_ns();
    (void)getrusage(RUSAGE_THREAD, &before); /* cannot fail */
    next->status = exec->options->next(exec->options->context, &next->window);
    if (next->status == FP_OK)
        next->status = rep_plan_make(&next->plan, &next->window);
    (void)getrusage(RUSAGE_THREAD, &after);
    next->ns = rep_monotonic_ns() - start_ns;
    next->faults_minor = (uint64_t)(after.ru_minflt - before.ru_minflt);
    next->faults_major = (uint64_t)(after.ru_majflt - before.ru_majflt);
}

static struct rep_prepared *last_prepared(struct rep_exec *exec)
{
    return &exec->prepared[(exec->prepared_count - 1) % exec->places];
}

bool rep_window_begin(struct rep_exec *exec)
{
    exec->now = last_prepared(exec);
    exec->status = exec->now->status;
    exec->totals.prepare_ns += exec->now->ns;
    exec->totals.prepare_faults_minor += exec->now->faults_minor;
    exec->totals.prepare_faults_major += exec->now->faults_major;
    return exec->status == FP_OK;
}

/* Give each thread its part, and those whose first window this is a stack. The opener's own part, if it has
 * one, goes to the front: then one thread less must be woken. */
bool rep_window_assign(struct rep_exec *exec, struct rep_thread *self)
{
    struct rep_part *parts = exec->now->plan.parts;
    for (uint32_t i = 1; i < exec->now->plan.part_count; i++) {
        if (parts[i].thread != self->number)
            continue;
        const struct rep_part own = parts[i];
        memmove(&parts[1], &parts[0], i * sizeof parts[0]);
        parts[0] = own;
    }
    for (uint32_t i = 0; i < exec->now->plan.part_count; i++) {
        struct rep_thread *thread = &exec->threads[parts[i].thread];
        const struct wl_thread *recorded = &exec->options->summary->threads[parts[i].thread];
        if (thread->state == THREAD_ENDED) {
            exec->status = FP_ERR_CORRUPT; /* it has ops after its last window */
            return false;
        }
        thread->part = &parts[i];
        thread->ops_begun += parts[i].op_count;
        thread->ends = recorded->exited && thread->ops_begun == recorded->ops && thread != exec->first;
        atomic_store_explicit(&thread->posted, 0, memory_order_relaxed);
        if (thread->state != THREAD_UNBORN)
            continue;
        thread->stack = rep_stacks_take(&exec->stacks, &thread->stack_number);
        exec->totals.threads_started++;
        if (thread->stack == NULL) {
            exec->status = FP_ERR_CORRUPT; /* more live at once than the summary says */
            return false;
        }
    }
    return true;
}

void rep_window_close(struct rep_exec *exec, struct rep_thread *self)
{
    const struct rep_exec_options *options = exec->options;
    struct rep_window_times times = {0};
    uint64_t ticks = 0;
    /* This thread itself, when it ended with the window before and the others were faster than its last steps. */
    if (exec->late != NULL && exec->late != self) {
        rep_thread_join(exec, exec->late);
        exec->late = NULL;
    }
    for (uint32_t i = 0; i < exec->now->plan.part_count; i++) {
        struct rep_thread *thread = &exec->threads[exec->now->plan.parts[i].thread];
        if (exec->now->plan.serial)
            thread = self;
        ticks += thread->ticks;
        times.runs += thread->runs;
        thread->ticks = thread->runs = 0;
        thread->part = NULL;
        if (!thread->ends)
            continue;
        if (thread == self)
            exec->late = thread;
        else
            rep_thread_join(exec, thread);
    }
    const uint64_t cost = times.runs * options->clock->cost_ticks;
    times.allocator_ticks = ticks > cost ? ticks - cost : 0;
    exec->totals.ops += exec->now->window.op_count;
    times.timed = exec->totals.ops > options->untimed_ops;
    if (times.timed) {
        exec->totals.windows++;
        exec->totals.timed_runs += times.runs;
    } else {
        exec->totals.untimed_ops = exec->totals.ops;
        exec->totals.prepare_ns = 0;
        exec->totals.prepare_faults_minor = exec->totals.prepare_faults_major = 0;
        /* The next one too, if it was prepared beside this one: the meters begin after both. */
        last_prepared(exec)->ns = 0;
        last_prepared(exec)->faults_minor = last_prepared(exec)->faults_major = 0;
    }
    if (exec->pace != NULL)
        rep_pace_reach(exec->pace, exec->now->window.facts.end_ns);
    if (options->latency != NULL)
        rep_latency_window(options->latency, &exec->now->plan, &exec->now->window, times.timed);
    options->at_rest(options->context, &exec->now->window, &times);
}
