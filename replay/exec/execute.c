/* execute.c - the ops of a part: timed, or checked one by one; orders between threads; gates, and the batons that open them. */
#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "replay/base/own_process.h"
#include "replay/clock/recorded.h"
#include "replay/exec/run_threads.h"

/* Ops are hashed as they stand in memory: no byte of them is padding. */
_Static_assert(sizeof(struct wl_op) == 16, "struct wl_op has no padding");

/* The thread that this one is, once it executes ops. */
static _Thread_local struct rep_thread *current;

bool rep_exec_where(uint64_t *ret_first, uint64_t *ret_last, uint32_t *ret_thread)
{
    if (current == NULL || current->at_count == 0)
        return false;
    const struct rep_exec *exec = current->exec;
    const uint64_t begin = exec->now->window.facts.first_op;
    *ret_first = begin + rep_plan_locate(&exec->now->plan, &exec->now->window, current->at);
    *ret_last = begin +
                rep_plan_locate(&exec->now->plan, &exec->now->window, current->at + current->at_count - 1);
    *ret_thread = current->number;
    return true;
}

static void fail_at(struct rep_exec *exec, uint32_t thread, uint32_t index, const char *problem)
{
    const uint32_t op = rep_plan_locate(&exec->now->plan, &exec->now->window, index);
    const struct rep_failure failure = {.op = exec->now->window.facts.first_op + op,
                                        .thread = thread,
                                        .call = &exec->now->window.ops[op],
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

static uint32_t executing_thread(const struct rep_exec *exec, const struct rep_thread *self, uint32_t index)
{
    return exec->now->plan.serial ? thread_of_op(&exec->now->window, index) : self->number;
}

/* One op after the other, and nothing is timed. */
static void execute_checked(struct rep_exec *exec, struct rep_thread *self, uint32_t op_first,
                            uint32_t op_count)
{
    struct rep_check_problem problem;
    for (uint32_t i = 0; i < op_count; i++) {
        const uint32_t index = op_first + i;
        const uint64_t number = exec->now->window.facts.first_op +
                                rep_plan_locate(&exec->now->plan, &exec->now->window, index);
        self->at = index;
        self->at_count = 1;
        errno = 0;
        if (!rep_check_op(exec->options->check, &exec->now->plan.ops[index], number, &problem))
            fail_at(exec, executing_thread(exec, self, index), index,
                    problem.text[0] != '\0' ? problem.text : NULL);
    }
    self->at_count = 0;
}

/* Time one run of ops. */
static void execute_run(struct rep_exec *exec, struct rep_thread *self, uint32_t op_first, uint32_t op_count)
{
    current = self;
    if (exec->options->check != NULL) {
        execute_checked(exec, self, op_first, op_count);
        return;
    }
    self->at = op_first;
    self->at_count = op_count;
    const struct rep_clock *clock = exec->options->clock;
    const struct wl_op *ops = &exec->now->plan.ops[op_first];
    const uint8_t *code = &exec->now->plan.code[op_first];
    errno = 0; /* of this run, if it fails: what was left by others explains nothing */
    const uint64_t start = rep_ticks(clock);
    const size_t done = rep_loop_run(exec->options->loop, ops, code, op_count);
    const uint64_t end = rep_ticks(clock);
    if (end > start) /* counters of two processors may differ by a few ticks */
        self->ticks += end - start;
    self->runs++;
    self->at_count = 0;
    if (done == op_count)
        return;
    const uint32_t index = op_first + (uint32_t)done;
    fail_at(exec, executing_thread(exec, self, index), index, NULL);
}

void rep_execute_segment(struct rep_exec *exec, struct rep_thread *self, const struct rep_segment *segment)
{
    if (exec->options->latency != NULL)
        rep_latency_enter(exec->options->latency, segment->op_first);
    if (!exec->options->recorded_clock) {
        execute_run(exec, self, segment->op_first, segment->op_count);
        return;
    }
    for (uint32_t done = 0; done < segment->op_count;) {
        const uint32_t first = segment->op_first + done;
        const uint64_t *times_ns = &exec->now->plan.times_ns[first];
        const uint32_t step = (uint32_t)rep_recorded_step(times_ns, segment->op_count - done);
        rep_recorded_advance(times_ns[0]);
        execute_run(exec, self, first, step);
        done += step;
    }
}

/* ---- waiting: sleep until another thread has got that far, and tell those that sleep --------- */

static bool has_posted(struct rep_thread *source, uint32_t count)
{
    /* Acquire: pairs with the store in post(), so the objects' slots are seen. */
    return atomic_load_explicit(&source->posted, memory_order_acquire) >= count;
}

/* A bit for each REP_POST_DELAY_OPS ops of a part, in turn: a post wakes those only who sleep for a count that it reached. */
static uint32_t bits_of(uint32_t first_count, uint32_t last_count)
{
    const uint32_t first = first_count / REP_POST_DELAY_OPS, more = last_count / REP_POST_DELAY_OPS - first;
    const uint64_t bits = (UINT64_C(2) << (more < 31 ? more : 31)) - 1;
    return (uint32_t)(bits << first % 32 | bits << first % 32 >> 32);
}

/* Sequentially consistent against post(): either the sleeper sees the count, or the poster the sleeper. */
static void sleep_for(struct rep_thread *source, uint32_t count)
{
    atomic_fetch_add(&source->sleepers, 1);
    for (;;) {
        const uint32_t posted = atomic_load(&source->posted);
        if (posted >= count)
            break;
        rep_futex_wait(&source->posted, posted, bits_of(count, count));
    }
    atomic_fetch_sub(&source->sleepers, 1);
}

static void wait_for(struct rep_exec *exec, struct rep_thread *self, const struct rep_wait *wait)
{
    struct rep_thread *source = &exec->threads[wait->thread];
    if (has_posted(source, wait->count))
        return;
    const uint64_t start = rep_ticks(exec->options->clock);
    self->waits_met++;
    rep_presence_end(exec->options->clock, &self->presence, &self->absence);
    /* The baton is gone: this thread goes on without one when its wait is over: for that moment one more
     * may run than there are processors. While parts are left, the baton is what keeps them starting; else this processor has
     * nothing to do meanwhile. */
    const bool passed_on = self->baton && rep_baton_start(exec);
    self->baton = false;
    if (!passed_on)
        (void)rep_baton_standby(exec);
    sleep_for(source, wait->count);
    self->wait_ticks += rep_ticks(exec->options->clock) - start;
    self->presence = rep_presence_begin(exec->options->clock);
}

static void post(struct rep_thread *self, uint32_t count)
{
    const uint32_t before = atomic_exchange(&self->posted, count);
    if (atomic_load(&self->sleepers) != 0)
        rep_futex_wake(&self->posted, bits_of(before + 1, count));
}

void rep_digest_add(struct rep_digest *digest, const struct wl_op *ops, size_t count)
{
    (void)XXH64_update(&digest->state, ops, count * sizeof *ops); /* fails for NULL only */
    digest->ops += count;
}

/* ---- a part -------------------------------------------------------------------------------------- */

void rep_execute_part(struct rep_exec *exec, struct rep_thread *self)
{
    const struct rep_part *part = self->part;
    const struct rep_plan *plan = &exec->now->plan;
    self->presence = rep_presence_begin(exec->options->clock);
    for (uint32_t i = 0; i < part->segment_count; i++) {
        const struct rep_segment *segment = &plan->segments[part->segment_first + i];
        for (uint32_t j = 0; j < segment->wait_count; j++)
            wait_for(exec, self, &plan->waits[segment->wait_first + j]);
        rep_execute_segment(exec, self, segment);
        if (i + 1 == part->segment_count)
            rep_presence_end(exec->options->clock, &self->presence, &self->absence);
        if (segment->post)
            post(self, segment->op_first - part->op_first + segment->op_count);
        rep_digest_add(&self->digest, &plan->ops[segment->op_first], segment->op_count);
    }
}

/* ---- gates -------------------------------------------------------------------------------------- */

void rep_futex_wait(_Atomic uint32_t *word, uint32_t value, uint32_t bits)
{
    /* EAGAIN, EINTR and spurious returns all mean the same to callers: look again. */
    (void)syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value, NULL, NULL, bits);
}

void rep_futex_wake(_Atomic uint32_t *word, uint32_t bits)
{
    /* Cannot fail on our memory. */
    (void)syscall(SYS_futex, word, FUTEX_WAKE_BITSET_PRIVATE, INT32_MAX, NULL, NULL, bits);
}

void rep_gate_signal(struct rep_gate *gate, enum rep_signal signal)
{
    /* Release: pairs with the acquire in rep_gate_pass. */
    if (atomic_exchange_explicit(&gate->state, signal, memory_order_acq_rel) == REP_GATE_SLEEPING)
        rep_futex_wake(&gate->state, REP_ANYONE);
}

enum rep_signal rep_gate_pass(struct rep_gate *gate)
{
    for (;;) {
        uint32_t state = atomic_load_explicit(&gate->state, memory_order_acquire);
        if (state == REP_GATE_GO || state == REP_GATE_QUIT) {
            /* Nobody signals again before this thread has acted, so a plain store loses nothing. */
            atomic_store_explicit(&gate->state, REP_GATE_SHUT, memory_order_relaxed);
            return (enum rep_signal)state;
        }
        if (state == REP_GATE_SLEEPING ||
            atomic_compare_exchange_strong_explicit(&gate->state, &state, REP_GATE_SLEEPING,
                                                    memory_order_relaxed, memory_order_relaxed))
            rep_futex_wait(&gate->state, REP_GATE_SLEEPING, REP_ANYONE);
    }
}

/* ---- batons ------------------------------------------------------------------------------------- */

#define STANDBY_TRIES 64u /* threads looked at for an idle one */

/* Make the thread itself. Not the opener does, but who starts its first part: so several begin side by side. */
static void create(struct rep_exec *exec, struct rep_thread *thread)
{
    pthread_attr_t attributes;
    rep_watch_pause();
    const uint64_t start_ns = rep_real_ns(CLOCK_THREAD_CPUTIME_ID);
    int error = pthread_attr_init(&attributes);
    if (error == 0)
        error = pthread_attr_setstack(&attributes, thread->stack, exec->stacks.stack_bytes);
    if (error == 0)
        error = pthread_create(&thread->handle, &attributes, exec->thread_main, thread);
    (void)pthread_attr_destroy(&attributes); /* frees nothing */
    atomic_fetch_add(&exec->bearing_ns, rep_real_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns);
    rep_watch_resume();
    if (error == 0)
        return;
    const struct rep_failure failure = {.thread = thread->number, .sys_errno = error};
    exec->options->fail(exec->options->context, &failure);
}

bool rep_baton_start(struct rep_exec *exec)
{
    const uint32_t index = atomic_fetch_add_explicit(&exec->next_part, 1, memory_order_relaxed);
    if (index >= exec->now->plan.part_count)
        return false;
    struct rep_thread *thread = &exec->threads[exec->now->plan.parts[index].thread];
    thread->baton = true;
    rep_gate_signal(&thread->gate, REP_GATE_GO);
    if (thread->state == THREAD_UNBORN) { /* nobody else has this part, so nobody else looks at its state */
        thread->state = THREAD_ALIVE;
        create(exec, thread);
    }
    return true;
}

/* Relaxed: what the taker writes is published by `unfinished`. */
bool rep_ahead_take(struct rep_exec *exec)
{
    return !atomic_load_explicit(&exec->ahead_taken, memory_order_relaxed) &&
           !atomic_exchange_explicit(&exec->ahead_taken, true, memory_order_relaxed);
}

bool rep_baton_standby(struct rep_exec *exec)
{
    struct rep_thread *thread = exec->standby;
    if (thread == NULL || !rep_ahead_take(exec))
        return false;
    thread->baton = true;
    rep_gate_signal(&thread->gate, REP_GATE_GO);
    return true;
}

static bool is_idle(const struct rep_exec *exec, const struct rep_thread *thread)
{
    return thread->state == THREAD_ALIVE && thread->part == NULL && thread != exec->late;
}

/* The first thread before all: programs often have it wait for the others. Else the search goes
 * on where the last one ended: so a window costs the same however many threads there are. */
void rep_standby_choose(struct rep_exec *exec, struct rep_thread *self)
{
    const uint32_t count = exec->options->summary->thread_count;
    exec->standby = NULL;
    if (exec->first != self && is_idle(exec, exec->first)) {
        exec->standby = exec->first;
        return;
    }
    for (uint32_t tries = 0; tries < count && tries < STANDBY_TRIES; tries++) {
        struct rep_thread *thread = &exec->threads[exec->standby_from];
        if (thread != self && is_idle(exec, thread)) {
            exec->standby = thread;
            return;
        }
        exec->standby_from = exec->standby_from + 1 < count ? exec->standby_from + 1 : 0;
    }
}
