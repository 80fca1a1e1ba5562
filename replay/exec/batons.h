/* batons.h - which thread runs next; the gates at which threads wait, and the futex beneath. */
#ifndef MALLAB_REPLAY_EXEC_BATONS_H
#define MALLAB_REPLAY_EXEC_BATONS_H

#include "replay/exec/exec.h"

/* rep_gate_signal - leave GO or QUIT, and wake the gate's thread if it sleeps; it sees what was
 * written before. */
void rep_gate_signal(struct rep_gate *gate, enum rep_signal signal);

/* rep_gate_pass - sleep until there is a signal, and take it. By the gate's own thread only. */
enum rep_signal rep_gate_pass(struct rep_gate *gate);

/* rep_futex_wait - sleep while *word is value; may return early. rep_futex_wake - wake up to count. */
void rep_futex_wait(_Atomic uint32_t *word, uint32_t value);
void rep_futex_wake(_Atomic uint32_t *word, int count);

/* rep_baton_start - hand the right to run to a thread whose part has not begun. False: all have. */
bool rep_baton_start(struct rep_exec *exec);

/* rep_baton_standby - hand it to the stand-by, to prepare the next window. False when there is
 * none, or somebody prepares it already. */
bool rep_baton_standby(struct rep_exec *exec);

/* rep_ahead_take - whether the calling thread is now the one to prepare the next window. */
bool rep_ahead_take(struct rep_exec *exec);

/* rep_standby_choose - look for an idle thread. By the opener (self), once the parts are assigned. */
void rep_standby_choose(struct rep_exec *exec, struct rep_thread *self);

#endif
