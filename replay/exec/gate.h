/* gate.h - where a thread waits to be told to go on, and the futex beneath.
 *
 * A gate belongs to one thread, which passes it; any other may open it. It holds one signal: whoever
 * signals must know that the last one was taken (run_threads.c: a thread is signalled once a window). */
#ifndef MALLAB_REPLAY_EXEC_GATE_H
#define MALLAB_REPLAY_EXEC_GATE_H

#include <stdatomic.h>
#include <stdint.h>

enum rep_signal {
    REP_GATE_SHUT = 0,
    REP_GATE_SLEEPING = 1, /* shut, and its thread sleeps in the kernel */
    REP_GATE_GO = 2,       /* execute the part that was assigned */
    REP_GATE_QUIT = 3,     /* end */
};

struct rep_gate {
    _Atomic uint32_t state; /* enum rep_signal */
};

/* rep_gate_signal - leave GO or QUIT, and wake the gate's thread if it sleeps. What was written before is
 * seen by the thread after it passed. */
void rep_gate_signal(struct rep_gate *gate, enum rep_signal signal);

/* rep_gate_pass - sleep until there is a signal, and take it. By the gate's own thread only. */
enum rep_signal rep_gate_pass(struct rep_gate *gate);

/* rep_futex_wait - sleep while *word is value; may return early. rep_futex_wake - wake up to count. */
void rep_futex_wait(_Atomic uint32_t *word, uint32_t value);
void rep_futex_wake(_Atomic uint32_t *word, int count);

#endif
