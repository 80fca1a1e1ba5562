/* threads.c - threads, windows, waits and posts. */
#include "replay/threads.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

#include "replay/digest.h"
#include "replay/gate.h"
#include "replay/recorded.h"
#include "replay/storage.h"

/* How long a thread looks for a post before it sleeps: about what sleeping and being woken cost. */
#define SPIN_TICKS 8000u

enum thread_state {
    THREAD_UNBORN = 0, /* its first window has not opened */
    THREAD_ALIVE = 1,
    THREAD_ENDED = 2,
};

/* Lines that others write or poll stand apart from each other and from what only the thread itself uses. */
struct thread {
    /* Written by the thread, read by those that wait for it. */
    _Alignas(REP_CACHE_LINE) _Atomic uint32_t posted; /* ops of its part executed and published */
    _Atomic uint32_t sleepers;                        /* threads that sleep on `posted` */

    _Alignas(REP_CACHE_LINE) struct rep_gate gate;

    /* Set by the opener at rest. */
    _Alignas(REP_CACHE_LINE) struct rep_exec *exec;
    const struct rep_part *part; /* of the current window, if it has one there */
    uint32_t number;
    void *stack;
    uint32_t stack_number;
    bool ends; /* with its current part */

    /* Set by whoever starts its first part; read at rest. */
    enum thread_state state;
    pthread_t handle;

    /* The thread's own; read at rest. */
    bool baton;
    uint64_t ticks, runs; /* of the current window */
    uint64_t wait_ticks, waits_met, waits_slept;
    struct rep_digest digest;

    /* Where it is, for rep_exec_where: indexes in rep_plan.ops; at_count 0: in no op. */
    uint32_t at, at_count;
};

struct rep_exec {
    const struct rep_exec_options *options;
    struct rep_plan plan;
    struct wl_window window;
    struct thread *threads; /* those of the workload, then one more: see `first` */
    struct thread *first;   /* the process's first thread: the recorded main thread, or the one more */
    struct thread *late;    /* ended as an opener: joined by the next opener */
    struct rep_stacks stacks;
    const struct rep_pace *pace; /* NULL: none is kept */
    uint32_t batons;             /* that a window has */
    enum fp_status status;
    uint64_t windows; /* done, timed or not */
    struct rep_exec_totals totals;

    /* Both count within a window; each in its own line because every thread changes them. */
    _Alignas(REP_CACHE_LINE) _Atomic uint32_t next_part;  /* the first part that no baton reached */
    _Alignas(REP_CACHE_LINE) _Atomic uint32_t unfinished; /* parts, and the opener while it starts them */
    _Atomic uint32_t asleep;                              /* threads sleeping in a wait */
};

struct rep_exec *rep_exec_init(const struct rep_exec_options *options)
{
    const struct wl_summary *summary = options->summary;
    const size_t count = (size_t)summary->thread_count + 1;
    struct rep_exec *exec = rep_storage_map(1, sizeof *exec);
    struct thread *threads = rep_storage_map(count, sizeof *threads);
    if (exec == NULL || threads == NULL || !rep_plan_init(&exec->plan, summary, options->serial))
        return NULL;
    exec->options = options;
    exec->threads = threads;
    exec->batons = options->processors;
    if (options->pace != NULL && rep_pace_follows(options->pace)) {
        exec->pace = options->pace;
        if (!rep_plan_keep_times(&exec->plan))
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

/* ---- executing a part ---------------------------------------------------------------------- */

/* The thread that this one is, once it executes ops. */
static _Thread_local struct thread *current;

bool rep_exec_where(uint64_t *ret_first, uint64_t *ret_last, uint32_t *ret_thread)
{
    if (current == NULL || current->at_count == 0)
        return false;
    const struct rep_exec *exec = current->exec;
    const uint64_t begin = exec->window.facts.first_op;
    *ret_first = begin + rep_plan_locate(&exec->plan, &exec->window, current->at);
    *ret_last = begin + rep_plan_locate(&exec->plan, &exec->window, current->at + current->at_count - 1);
    *ret_thread = current->number;
    return true;
}

static void fail_at(struct rep_exec *exec, uint32_t thread, uint32_t index, const char *problem)
{
    const uint32_t op = rep_plan_locate(&exec->plan, &exec->window, index);
    const struct rep_failure failure = {.op = exec->window.facts.first_op + op,
                                        .thread = thread,
                                        .call = &exec->window.ops[op],
                                        .sys_errno = errno,
                                        .problem = problem};
    exec->options->fail(exec->options->context, &failure);
}

static uint32_t thread_of_op(const struct wl_window *window, uint32_t op)
{
    const struct wl_run *run = window->runs;
    while (op >= run->op_count)
        op -= run++->op_count;
    return run->thread;
}

static uint32_t executing_thread(const struct rep_exec *exec, const struct thread *self, uint32_t index)
{
    return exec->plan.serial ? thread_of_op(&exec->window, index) : self->number;
}

/* One op after the other, and nothing is timed. */
static void execute_checked(struct rep_exec *exec, struct thread *self, uint32_t op_first, uint32_t op_count)
{
    struct rep_check_problem problem;
    for (uint32_t i = 0; i < op_count; i++) {
        const uint32_t index = op_first + i;
        const uint64_t number = exec->window.facts.first_op +
                                rep_plan_locate(&exec->plan, &exec->window, index);
        self->at = index;
        self->at_count = 1;
        if (!rep_check_op(exec->options->check, &exec->plan.ops[index], number, &problem))
            fail_at(exec, executing_thread(exec, self, index), index,
                    problem.text[0] != '\0' ? problem.text : NULL);
    }
    self->at_count = 0;
}

/* Time one run of ops. */
static void execute_run(struct rep_exec *exec, struct thread *self, uint32_t op_first, uint32_t op_count)
{
    current = self;
    if (exec->options->check != NULL) {
        execute_checked(exec, self, op_first, op_count);
        return;
    }
    self->at = op_first;
    self->at_count = op_count;
    const struct rep_clock *clock = exec->options->clock;
    const struct wl_op *ops = &exec->plan.ops[op_first];
    if (exec->options->syscalls != NULL)
        rep_syscalls_inside(exec->options->syscalls, true);
    const uint64_t start = rep_ticks(clock);
    const size_t done = rep_loop_run(exec->options->loop, ops, op_count);
    const uint64_t end = rep_ticks(clock);
    if (exec->options->syscalls != NULL)
        rep_syscalls_inside(exec->options->syscalls, false);
    if (end > start) /* counters of two processors may differ by a few ticks */
        self->ticks += end - start;
    self->runs++;
    self->at_count = 0;
    if (done == op_count)
        return;
    const uint32_t index = op_first + (uint32_t)done;
    fail_at(exec, executing_thread(exec, self, index), index, NULL);
}

/* A segment: one run, or one for each step that keeps with the clock. */
static void execute(struct rep_exec *exec, struct thread *self, const struct rep_segment *segment)
{
    if (exec->options->latency != NULL)
        rep_latency_enter(exec->options->latency, segment->op_first);
    if (exec->pace == NULL) {
        execute_run(exec, self, segment->op_first, segment->op_count);
        return;
    }
    for (uint32_t done = 0; done < segment->op_count;) {
        const uint32_t first = segment->op_first + done;
        const uint64_t *times_ns = &exec->plan.times_ns[first];
        const uint32_t step = (uint32_t)rep_pace_step(times_ns, segment->op_count - done);
        rep_pace_reach(exec->pace, times_ns[0]);
        execute_run(exec, self, first, step);
        done += step;
    }
}

static void *thread_main(void *argument);

/* Make the thread itself. Whoever starts its first part does it, not the opener: so it costs no thread more
 * than one sleep, and several begin side by side. */
static void create(struct rep_exec *exec, struct thread *thread)
{
    pthread_attr_t attributes;
    rep_watch_pause();
    int error = pthread_attr_init(&attributes);
    if (error == 0)
        error = pthread_attr_setstack(&attributes, thread->stack, exec->stacks.stack_bytes);
    if (error == 0)
        error = pthread_create(&thread->handle, &attributes, thread_main, thread);
    (void)pthread_attr_destroy(&attributes); /* frees nothing */
    rep_watch_resume();
    if (error == 0)
        return;
    const struct rep_failure failure = {.thread = thread->number, .sys_errno = error};
    exec->options->fail(exec->options->context, &failure);
}

/* Hand the right to run to a thread whose part has not begun. Returns false when all have. */
static bool start_next(struct rep_exec *exec)
{
    const uint32_t index = atomic_fetch_add_explicit(&exec->next_part, 1, memory_order_relaxed);
    if (index >= exec->plan.part_count)
        return false;
    struct thread *thread = &exec->threads[exec->plan.parts[index].thread];
    thread->baton = true;
    rep_gate_signal(&thread->gate, REP_GATE_GO);
    if (thread->state == THREAD_UNBORN) { /* nobody else has this part, so nobody else looks at its state */
        thread->state = THREAD_ALIVE;
        create(exec, thread);
    }
    return true;
}

static void pause_processor(void)
{
#if defined(__x86_64__)
    _mm_pause();
#endif
}

static bool has_posted(struct thread *source, uint32_t count)
{
    /* Acquire: pairs with the store in post(), so the objects' slots are seen. */
    return atomic_load_explicit(&source->posted, memory_order_acquire) >= count;
}

/* Worth it only while the thread that will post can be running at the same time. */
static bool spin_for(struct rep_exec *exec, struct thread *source, uint32_t count, uint64_t start)
{
    const struct rep_clock *clock = exec->options->clock;
    const uint32_t runnable = atomic_load_explicit(&exec->unfinished, memory_order_relaxed) -
                              atomic_load_explicit(&exec->asleep, memory_order_relaxed);
    if (runnable > exec->options->processors)
        return false;
    do {
        for (int i = 0; i < 16; i++) {
            if (has_posted(source, count))
                return true;
            pause_processor();
        }
    } while (rep_ticks(clock) - start < SPIN_TICKS);
    return false;
}

/* Sequentially consistent against post(): either the sleeper sees the count, or the poster the sleeper. */
static void sleep_for(struct rep_exec *exec, struct thread *source, uint32_t count)
{
    atomic_fetch_add(&exec->asleep, 1);
    atomic_fetch_add(&source->sleepers, 1);
    for (;;) {
        const uint32_t posted = atomic_load(&source->posted);
        if (posted >= count)
            break;
        rep_futex_wait(&source->posted, posted);
    }
    atomic_fetch_sub(&source->sleepers, 1);
    atomic_fetch_sub(&exec->asleep, 1);
}

static void wait_for(struct rep_exec *exec, struct thread *self, const struct rep_wait *wait)
{
    struct thread *source = &exec->threads[wait->thread];
    if (has_posted(source, wait->count))
        return;
    const uint64_t start = rep_ticks(exec->options->clock);
    self->waits_met++;
    /* With the baton gone, this thread goes on without one when its wait is over: for that moment one more
     * may run than there are processors. While parts are left, the baton is what keeps them starting. */
    bool passed_on = false;
    if (self->baton) {
        passed_on = start_next(exec);
        self->baton = false;
    }
    if (passed_on || !spin_for(exec, source, wait->count, start)) {
        sleep_for(exec, source, wait->count);
        self->waits_slept++;
    }
    self->wait_ticks += rep_ticks(exec->options->clock) - start;
}

static void post(struct thread *self, uint32_t count)
{
    atomic_store(&self->posted, count);
    if (atomic_load(&self->sleepers) != 0)
        rep_futex_wake(&self->posted, INT32_MAX);
}

static void execute_part(struct rep_exec *exec, struct thread *self)
{
    const struct rep_part *part = self->part;
    for (uint32_t i = 0; i < part->segment_count; i++) {
        const struct rep_segment *segment = &exec->plan.segments[part->segment_first + i];
        for (uint32_t j = 0; j < segment->wait_count; j++)
            wait_for(exec, self, &exec->plan.waits[segment->wait_first + j]);
        execute(exec, self, segment);
        if (segment->post)
            post(self, segment->op_first - part->op_first + segment->op_count);
        rep_digest_add(&self->digest, &exec->plan.ops[segment->op_first], segment->op_count);
    }
}

/* ---- from window to window, at rest -------------------------------------------------------- */

static void join(struct rep_exec *exec, struct thread *thread)
{
    rep_watch_pause();
    const int error = pthread_join(thread->handle, NULL);
    rep_watch_resume();
    assert(error == 0); /* it exists and is not this thread */
    (void)error;
    thread->state = THREAD_ENDED;
    rep_stacks_give(&exec->stacks, thread->stack_number);
}

/* End the window: bury the threads that ended in it, add up, and report. self: the opener. */
static void close_window(struct rep_exec *exec, struct thread *self)
{
    const struct rep_exec_options *options = exec->options;
    struct rep_window_times times = {0};
    uint64_t ticks = 0;
    /* This thread itself, when it ended with the window before and the others were faster than its last steps. */
    if (exec->late != NULL && exec->late != self) {
        join(exec, exec->late);
        exec->late = NULL;
    }
    for (uint32_t i = 0; i < exec->plan.part_count; i++) {
        struct thread *thread = &exec->threads[exec->plan.parts[i].thread];
        if (exec->plan.serial)
            thread = self;
        ticks += thread->ticks;
        times.runs += thread->runs;
        thread->ticks = thread->runs = 0;
        if (!thread->ends)
            continue;
        if (thread == self)
            exec->late = thread;
        else
            join(exec, thread);
    }
    const uint64_t cost = times.runs * options->clock->cost_ticks;
    times.allocator_ticks = ticks > cost ? ticks - cost : 0;
    exec->totals.ops += exec->window.op_count;
    exec->windows++;
    times.timed = exec->totals.ops > options->untimed_ops;
    if (times.timed) {
        exec->totals.windows++;
        exec->totals.timed_runs += times.runs;
    } else {
        exec->totals.untimed_ops = exec->totals.ops;
        exec->totals.prepare_ns = 0;
        exec->totals.prepare_faults_minor = exec->totals.prepare_faults_major = 0;
    }
    if (exec->pace != NULL)
        rep_pace_reach(exec->pace, exec->window.facts.end_ns);
    if (options->latency != NULL)
        rep_latency_window(options->latency, &exec->plan, &exec->window, times.timed);
    options->at_rest(options->context, &exec->window, &times);
}

/* Fetch and plan the next window; false when there is none or it is no good. */
static bool fetch_window(struct rep_exec *exec)
{
    struct rusage before, after;
    const uint64_t start_ns = rep_monotonic_ns();
    (void)getrusage(RUSAGE_THREAD, &before); /* cannot fail */
    exec->status = exec->options->next(exec->options->context, &exec->window);
    if (exec->status == FP_OK)
        exec->status = rep_plan_make(&exec->plan, &exec->window);
    (void)getrusage(RUSAGE_THREAD, &after);
    exec->totals.prepare_ns += rep_monotonic_ns() - start_ns;
    exec->totals.prepare_faults_minor += (uint64_t)(after.ru_minflt - before.ru_minflt);
    exec->totals.prepare_faults_major += (uint64_t)(after.ru_majflt - before.ru_majflt);
    return exec->status == FP_OK;
}

/* Give each thread its part, and those whose first window this is a stack. The opener's own part, if it has
 * one, goes to the front: then one thread less must be woken. */
static bool assign_parts(struct rep_exec *exec, struct thread *self)
{
    struct rep_part *parts = exec->plan.parts;
    for (uint32_t i = 1; i < exec->plan.part_count; i++) {
        if (parts[i].thread != self->number)
            continue;
        const struct rep_part own = parts[i];
        memmove(&parts[1], &parts[0], i * sizeof parts[0]);
        parts[0] = own;
    }
    for (uint32_t i = 0; i < exec->plan.part_count; i++) {
        struct thread *thread = &exec->threads[parts[i].thread];
        const struct wl_thread *recorded = &exec->options->summary->threads[parts[i].thread];
        if (thread->state == THREAD_ENDED) {
            exec->status = FP_ERR_CORRUPT; /* it has ops after its last window */
            return false;
        }
        thread->part = &parts[i];
        thread->ends = recorded->exited && recorded->last_window == exec->windows && thread != exec->first;
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

/* Open windows until one is under way that others will close. self: the opener. */
static void open_windows(struct rep_exec *exec, struct thread *self)
{
    do {
        if (!fetch_window(exec) || !assign_parts(exec, self)) {
            rep_gate_signal(&exec->first->gate, REP_GATE_QUIT);
            return;
        }
        const uint32_t parts = exec->plan.part_count;
        uint32_t batons = exec->batons < parts ? exec->batons : parts;
        /* Relaxed: published by the gates' signals. The opener counts as unfinished until it has started
         * the others, or they could end the window and change the plan under it. */
        atomic_store_explicit(&exec->next_part, 0, memory_order_relaxed);
        atomic_store_explicit(&exec->unfinished, parts + 1, memory_order_relaxed);
        while (batons-- > 0 && start_next(exec))
            ;
        if (atomic_fetch_sub_explicit(&exec->unfinished, 1, memory_order_acq_rel) != 1)
            return;
        close_window(exec, self);
    } while (true);
}

/* A thread's life: part after part. */
static void work(struct rep_exec *exec, struct thread *self)
{
    while (rep_gate_pass(&self->gate) == REP_GATE_GO) {
        const bool ends = self->ends; /* once `unfinished` is down, others may change everything */
        execute_part(exec, self);
        if (self->baton)
            (void)start_next(exec); /* false: all parts have begun */
        /* Acquire and release: the last one sees all that the others did. */
        if (atomic_fetch_sub_explicit(&exec->unfinished, 1, memory_order_acq_rel) == 1) {
            close_window(exec, self);
            open_windows(exec, self);
        }
        if (ends)
            return;
    }
}

static void *thread_main(void *argument)
{
    struct thread *self = argument;
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
    struct thread *self = exec->first;
    while (fetch_window(exec)) {
        const struct wl_op *ops = exec->plan.ops;
        execute(exec, self, &exec->plan.segments[0]);
        for (uint32_t i = 0; i < exec->window.run_count; ops += exec->window.runs[i++].op_count)
            rep_digest_add(&exec->threads[exec->window.runs[i].thread].digest, ops,
                           exec->window.runs[i].op_count);
        close_window(exec, self);
    }
}

enum fp_status rep_exec_run(struct rep_exec *exec)
{
    if (exec->options->serial) {
        run_serially(exec);
    } else {
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
        join(exec, exec->late);
    exec->late = NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct thread *thread = &exec->threads[i];
        if (thread->state == THREAD_ALIVE && thread != exec->first) {
            rep_gate_signal(&thread->gate, REP_GATE_QUIT);
            join(exec, thread);
        }
        exec->totals.wait_ticks += thread->wait_ticks;
        exec->totals.waits += thread->waits_met;
        exec->totals.sleeps += thread->waits_slept;
        rep_digest_combine(&total, &thread->digest);
    }
    exec->totals.digest = rep_digest_value(&total);
    *ret_totals = exec->totals;
}
