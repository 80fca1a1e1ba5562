/* run_threads.c - a run from its begin to its end: its windows in turn, and a thread's life in them. */
#include "replay/exec/run_threads.h"

#include <assert.h>
#include <string.h>
#include <sys/resource.h>

#include "replay/clock/recorded.h"

/* ---- windows -------------------------------------------------------------------------------- */

static void tell_end(struct rep_thread *thread, enum thread_end end)
{
    /* Release: pairs with the loads in await_end, await_births. */
    atomic_store_explicit(&thread->end, end, memory_order_release);
    rep_futex_wake(&thread->end, REP_ANYONE);
}

/* Sleep until a thread that has ended, or is about to, is no more: the first to come joins it for all. */
static void await_end(struct rep_thread *thread)
{
    uint32_t end = atomic_load_explicit(&thread->end, memory_order_acquire);
    rep_watch_pause();
    while (end != THREAD_JOINED) {
        if (end != THREAD_LEAVES) {
            rep_futex_wait(&thread->end, end, REP_ANYONE);
        } else if (atomic_compare_exchange_strong(&thread->end, &end, THREAD_JOINING)) {
            const int error = pthread_join(thread->handle, NULL);
            assert(error == 0); /* it exists and is not this thread */
            (void)error;
            tell_end(thread, THREAD_JOINED);
        }
        end = atomic_load_explicit(&thread->end, memory_order_acquire);
    }
    rep_watch_resume();
}

/* Bury a thread that has ended, or is about to. By the opener, not by itself. */
static void join_thread(struct rep_exec *exec, struct rep_thread *thread)
{
    await_end(thread);
    thread->state = THREAD_ENDED;
    rep_stacks_give(&exec->stacks, thread->stack_number);
}

/* Fetch and plan the next window, into its place. At rest, or by whoever has taken ahead_taken. */
static void prepare_window(struct rep_exec *exec)
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

/* Make the window prepared last the current one. False: there is none; exec->status says why. */
static bool begin_window(struct rep_exec *exec)
{
    exec->now = last_prepared(exec);
    exec->status = exec->now->status;
    exec->totals.prepare_ns += exec->now->ns;
    exec->totals.prepare_faults_minor += exec->now->faults_minor;
    exec->totals.prepare_faults_major += exec->now->faults_major;
    return exec->status == FP_OK;
}

/* Notes where the parts of threads that end here, and of those that are born here, stand in the recorded order. */
static void note_lives(struct rep_exec *exec)
{
    const struct wl_window *window = &exec->now->window;
    for (uint32_t i = 0, op = 0; i < window->run_count; op += window->runs[i++].op_count) {
        struct rep_thread *thread = &exec->threads[window->runs[i].thread];
        if (thread->first_at == UINT32_MAX)
            thread->first_at = op;
        thread->last_at = op + window->runs[i].op_count - 1;
    }
}

/* A thread is born after those have ended that had ended before its birth in the recording: so never more are alive at once
 * than were there, for an allocator gives each its cache, and may give it an arena. This cannot deadlock: whatever those
 * threads still wait for comes earlier in the recorded order than this thread's first op, and has begun. The thread keeps
 * its baton meanwhile: with it another would be born. */
static void await_former(struct rep_exec *exec, const struct rep_thread *self)
{
    const struct rep_plan *plan = &exec->now->plan;
    if (exec->late != NULL && exec->late != self) /* it ended with the window before */
        await_end(exec->late);
    for (uint32_t i = 0; i < plan->part_count; i++) {
        struct rep_thread *former = &exec->threads[plan->parts[i].thread];
        if (former->ends && former->last_at < self->first_at)
            await_end(former);
    }
}

static void be_born(struct rep_exec *exec, struct rep_thread *self)
{
    uint32_t most = atomic_load_explicit(&exec->alive_most, memory_order_relaxed);
    await_former(exec, self);
    const uint32_t alive = atomic_fetch_add(&exec->alive, 1) + 1;
    while (most < alive && !atomic_compare_exchange_weak(&exec->alive_most, &most, alive))
        continue;
    tell_end(self, THREAD_GOES_ON);
}

/* A thread ends after those have been born that were born before its end: with the above, as many are alive at once as were.
 * No deadlock for the same reason: all of it comes earlier in the recorded order. Its baton has gone on. */
static void await_births(struct rep_exec *exec, const struct rep_thread *self)
{
    const struct rep_plan *plan = &exec->now->plan;
    rep_watch_pause();
    for (uint32_t i = 0; i < plan->part_count; i++) {
        struct rep_thread *other = &exec->threads[plan->parts[i].thread];
        while (other->newborn && other->first_at < self->last_at &&
               atomic_load_explicit(&other->end, memory_order_acquire) == THREAD_COMES)
            rep_futex_wait(&other->end, THREAD_COMES, REP_ANYONE);
    }
    rep_watch_resume();
}

/* Give each thread its part, and those whose first window this is a stack. The opener's own part
 * (self) goes to the front: then one thread less must be woken. False when the window
 * contradicts the summary. */
static bool assign_parts(struct rep_exec *exec, struct rep_thread *self)
{
    struct rep_part *parts = exec->now->plan.parts;
    bool ends = false;
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
        thread->newborn = thread->state == THREAD_UNBORN;
        thread->first_at = UINT32_MAX;
        atomic_store_explicit(&thread->posted, 0, memory_order_relaxed);
        ends |= thread->ends;
        if (!thread->newborn)
            continue;
        thread->stack = rep_stacks_take(&exec->stacks, &thread->stack_number);
        exec->totals.threads_started++;
        if (thread->stack == NULL) {
            exec->status = FP_ERR_CORRUPT; /* more live at once than the summary says */
            return false;
        }
    }
    if (ends)
        note_lives(exec);
    return true;
}

/* Processor time of births and ends up to now: the process's, less what its threads spent in functions of ours. An allocator
 * makes a thread's caches as it is born and gives them back as it ends, in no call (pthread_key_create(3)). At rest. */
static uint64_t lives_ns(struct rep_exec *exec)
{
    uint64_t own_ns = atomic_load(&exec->ended_ns);
    for (uint32_t i = 0; i <= exec->options->summary->thread_count; i++) {
        const struct rep_thread *thread = &exec->threads[i];
        clockid_t clock;
        if (thread->state == THREAD_ALIVE && pthread_getcpuclockid(thread->handle, &clock) == 0)
            own_ns += rep_real_ns(clock) - thread->begun_ns;
    }
    const uint64_t all_ns = rep_real_ns(CLOCK_PROCESS_CPUTIME_ID) + atomic_load(&exec->bearing_ns);
    return all_ns > own_ns ? all_ns - own_ns : 0;
}

/* End the window: bury the threads that ended in it, add up, and report. */
static void close_window(struct rep_exec *exec, struct rep_thread *self)
{
    const struct rep_exec_options *options = exec->options;
    struct rep_window_times times = {0};
    uint64_t ticks = 0;
    /* It is this thread, when it ended with the last window and the others were faster than its last steps. */
    if (exec->late != NULL && exec->late != self) {
        join_thread(exec, exec->late);
        exec->late = NULL;
    }
    for (uint32_t i = 0; i < exec->now->plan.part_count; i++) {
        struct rep_thread *thread = &exec->threads[exec->now->plan.parts[i].thread];
        if (exec->now->plan.serial)
            thread = self;
        ticks += thread->ticks;
        times.runs += thread->runs;
        times.preempted_ns += rep_absence_preempted_ns(&thread->absence, thread->ticks);
        times.blocked_ns += thread->absence.blocked_ns;
        thread->ticks = thread->runs = 0;
        thread->absence = (struct rep_absence){0};
        thread->part = NULL;
        if (!thread->ends)
            continue;
        if (thread == self)
            exec->late = thread;
        else
            join_thread(exec, thread);
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
    if (options->recorded_clock)
        rep_recorded_advance(exec->now->window.facts.end_ns);
    if (options->latency != NULL)
        rep_latency_window(options->latency, &exec->now->plan, &exec->now->window, times.timed);
    options->at_rest(options->context, &exec->now->window, &times);
}

/* ---- a thread ------------------------------------------------------------------------------- */

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
    prepare_window(exec);
    return 1;
}

/* Open windows until one is under way that others will close. self: the opener. */
static void open_windows(struct rep_exec *exec, struct rep_thread *self)
{
    while (begin_window(exec) && assign_parts(exec, self)) {
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
        close_window(exec, self);
    }
    rep_gate_signal(&exec->first->gate, REP_GATE_QUIT);
}

/* Execute self's part; the stand-by has none, and prepares the next window. Then see that
 * somebody prepares it, once no part is left that could have this processor instead. Returns how
 * much of the window that was, see rep_exec. */
static uint32_t contribute(struct rep_exec *exec, struct rep_thread *self)
{
    if (self->part == NULL) {
        prepare_window(exec);
        if (self->baton)
            (void)rep_baton_start(exec); /* false: all parts have begun */
        return 1;
    }
    if (self->newborn)
        be_born(exec, self);
    rep_execute_part(exec, self);
    const bool ahead = !(self->baton && rep_baton_start(exec)) && rep_ahead_take(exec);
    if (ahead)
        prepare_window(exec);
    if (self->ends)
        await_births(exec, self);
    return ahead ? 2 : 1;
}

/* A thread's life: window after window. */
static void work(struct rep_exec *exec, struct rep_thread *self)
{
    while (rep_gate_pass(&self->gate) == REP_GATE_GO) {
        const bool ends = self->ends; /* once `unfinished` is down, others may change everything */
        if (finish(exec, contribute(exec, self)) == 0) {
            close_window(exec, self);
            open_windows(exec, self);
        }
        if (ends)
            return;
    }
}

static void *thread_main(void *argument)
{
    struct rep_thread *self = argument;
    self->begun_ns = rep_real_ns(CLOCK_THREAD_CPUTIME_ID);
    rep_recorded_worker();
    work(self->exec, self);
    atomic_fetch_sub(&self->exec->alive, 1);
    atomic_fetch_add(&self->exec->ended_ns, rep_real_ns(CLOCK_THREAD_CPUTIME_ID) - self->begun_ns);
    tell_end(self, THREAD_LEAVES);
    return NULL;
}

/* ---- the run --------------------------------------------------------------------------------- */

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
    exec->thread_main = thread_main;
    exec->batons = options->processors;
    for (unsigned i = 0; options->recorded_clock && i < exec->places; i++)
        if (!rep_plan_keep_times(&exec->prepared[i].plan))
            return NULL;
    exec->first = &threads[summary->thread_count];
    for (size_t i = 0; i < count; i++) {
        threads[i].exec = exec;
        threads[i].number = (uint32_t)i;
        (void)XXH64_reset(&threads[i].digest.state, 0); /* fails for NULL only */
        if (i < summary->thread_count && summary->threads[i].is_main)
            exec->first = &threads[i];
    }
    exec->first->state = THREAD_ALIVE;
    exec->first->handle = pthread_self();
    /* One stack more than threads live at once: an opener that ends is still on its stack while the next
     * window's threads begin. */
    if (!options->serial && !rep_stacks_init(&exec->stacks, summary->threads_at_once_max + 1))
        return NULL;
    return exec;
}

static void run_serially(struct rep_exec *exec)
{
    struct rep_thread *self = exec->first;
    for (prepare_window(exec); begin_window(exec); prepare_window(exec)) {
        const struct wl_window *window = &exec->now->window;
        const struct wl_op *ops = exec->now->plan.ops;
        self->presence = rep_presence_begin(exec->options->clock);
        rep_execute_segment(exec, self, &exec->now->plan.segments[0]);
        rep_presence_end(exec->options->clock, &self->presence, &self->absence);
        for (uint32_t i = 0; i < window->run_count; ops += window->runs[i++].op_count)
            rep_digest_add(&exec->threads[window->runs[i].thread].digest, ops, window->runs[i].op_count);
        close_window(exec, self);
    }
}

enum fp_status rep_exec_run(struct rep_exec *exec)
{
    if (exec->options->serial) {
        run_serially(exec);
    } else {
        prepare_window(exec);
        open_windows(exec, exec->first);
        work(exec, exec->first);
    }
    return exec->status == FP_END ? FP_OK : exec->status;
}

void rep_exec_end(struct rep_exec *exec, struct rep_exec_totals *ret_totals)
{
    const uint32_t count = exec->options->summary->thread_count;
    XXH64_state_t total;
    (void)XXH64_reset(&total, 0);
    if (exec->late != NULL)
        join_thread(exec, exec->late);
    exec->late = NULL;
    exec->totals.lives_ns = exec->totals.threads_started > 0 ? lives_ns(exec) : 0;
    for (uint32_t i = 0; i < count; i++) {
        struct rep_thread *thread = &exec->threads[i];
        if (thread->state == THREAD_ALIVE && thread != exec->first) {
            rep_gate_signal(&thread->gate, REP_GATE_QUIT);
            join_thread(exec, thread);
        }
        exec->totals.wait_ticks += thread->wait_ticks;
        exec->totals.waits += thread->waits_met;
        const uint64_t words[2] = {thread->digest.ops, XXH64_digest(&thread->digest.state)};
        (void)XXH64_update(&total, words, sizeof words);
    }
    exec->totals.digest = XXH64_digest(&total);
    exec->totals.threads_at_once = atomic_load(&exec->alive_most) + 1; /* and the first */
    *ret_totals = exec->totals;
}
