/* batons.c - see run_threads.h. */
#include "replay/exec/run_threads.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "replay/base/own_process.h"

#define STANDBY_TRIES 64u /* threads looked at for an idle one */

/* ---- gates -------------------------------------------------------------------------------------- */

void rep_futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    /* EAGAIN, EINTR and spurious returns all mean the same to callers: look again. */
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void rep_futex_wake(_Atomic uint32_t *word, int count)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0); /* cannot fail on our memory */
}

void rep_gate_signal(struct rep_gate *gate, enum rep_signal signal)
{
    /* Release: pairs with the acquire in rep_gate_pass. */
    if (atomic_exchange_explicit(&gate->state, signal, memory_order_acq_rel) == REP_GATE_SLEEPING)
        rep_futex_wake(&gate->state, 1);
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
            rep_futex_wait(&gate->state, REP_GATE_SLEEPING);
    }
}

/* ---- batons ------------------------------------------------------------------------------------- */

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
