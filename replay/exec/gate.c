/* gate.c - futexes. */
#include "replay/exec/gate.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

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
