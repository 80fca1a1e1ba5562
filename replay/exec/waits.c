/* waits.c - orders between threads: sleep until another has got that far, and tell those that sleep. */
#include "replay/exec/exec.h"

/* How long a thread looks for a post before it sleeps: about what sleeping and being woken cost. */
#define SPIN_TICKS 8000u

static void pause_processor(void)
{
#if defined(__x86_64__)
    _mm_pause();
#endif
}

static bool has_posted(struct rep_thread *source, uint32_t count)
{
    /* Acquire: pairs with the store in rep_post(), so the objects' slots are seen. */
    return atomic_load_explicit(&source->posted, memory_order_acquire) >= count;
}

/* Worth it only while the thread that will post can be running at the same time. */
static bool spin_for(struct rep_exec *exec, struct rep_thread *source, uint32_t count, uint64_t start)
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

/* Sequentially consistent against rep_post(): either the sleeper sees the count, or the poster the sleeper. */
static void sleep_for(struct rep_exec *exec, struct rep_thread *source, uint32_t count)
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

void rep_wait_for(struct rep_exec *exec, struct rep_thread *self, const struct rep_wait *wait)
{
    struct rep_thread *source = &exec->threads[wait->thread];
    if (has_posted(source, wait->count))
        return;
    const uint64_t start = rep_ticks(exec->options->clock);
    self->waits_met++;
    /* With the baton gone, this thread goes on without one when its wait is over: for that moment one more
     * may run than there are processors. While parts are left, the baton is what keeps them starting. */
    bool passed_on = false;
    if (self->baton) {
        passed_on = rep_baton_start(exec);
        self->baton = false;
    }
    if (passed_on || !spin_for(exec, source, wait->count, start)) {
        if (!passed_on)
            (void)rep_baton_standby(exec); /* this processor has nothing to do meanwhile */
        sleep_for(exec, source, wait->count);
        self->waits_slept++;
    }
    self->wait_ticks += rep_ticks(exec->options->clock) - start;
}

void rep_post(struct rep_thread *self, uint32_t count)
{
    atomic_store(&self->posted, count);
    if (atomic_load(&self->sleepers) != 0)
        rep_futex_wake(&self->posted, INT32_MAX);
}
