/* idle.h - memory that is left when the program has nothing more to do.
 *
 * An allocator without threads of its own looks at the clock, and gives back, only when it is called. So
 * two kinds of rest are told apart:
 *
 *   nothing  no call at all: what a process does that sleeps in poll()
 *   calls    every REP_IDLE_STEP_NS the first thread allocates REP_IDLE_OBJECTS and frees them again, as a
 *            service does that answers a health check: so many that the caches before the allocator's slow
 *            path do not hide them all */
#ifndef MALLAB_REPLAY_EXEC_IDLE_H
#define MALLAB_REPLAY_EXEC_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/exec/calls.h"
#include "replay/exec/promise_check.h"

#define REP_IDLE_STEP_NS     100000000u
#define REP_IDLE_STEPS_MAX   600u  /* of a longer rest each step is longer */
#define REP_IDLE_CHECK_STEPS 150u  /* where promises are checked: 300,000 calls */
#define REP_IDLE_OBJECTS     1000u /* of 16 to 1,024 bytes, some 500 kB together */

/* rep_idle - let span_ns pass: of the recorded clock at once, else of the machine's.
 * slots  room of REP_IDLE_OBJECTS, mapped by the caller; NULL: nothing is called. */
void rep_idle(bool recorded_clock, const struct rep_calls *calls, void **slots, uint64_t span_ns);

/* rep_idle_check - the calls of a rest with calls, each looked at as an op is. On the recorded clock time
 * passes between them, on the machine's none does: a check measures nothing.
 * check    of a run that is over, with room for REP_IDLE_OBJECTS ids behind last_id, none of them live.
 * Returns  false at the first broken promise: ret_problem as rep_check_op fills it, and rep_idle_where
 *          tells the call. */
bool rep_idle_check(bool recorded_clock, struct rep_check *check, uint32_t last_id,
                    struct rep_check_problem *ret_problem);

/* A call of the rest. */
struct rep_idle_call {
    uint64_t number;  /* from 0 */
    const char *name; /* "malloc" or "free" */
    uint64_t size_bytes;
};

/* rep_idle_where - the call that the rest is in, from a signal handler too; false outside of a rest. */
bool rep_idle_where(struct rep_idle_call *ret_call);

#endif
