/* execute.h - a part, op by op: the timed runs, and waiting for the ops of other threads. */
#ifndef MALLAB_REPLAY_EXEC_EXECUTE_H
#define MALLAB_REPLAY_EXEC_EXECUTE_H

#include "replay/exec/exec.h"

/* rep_execute_part - all of self's part, waits and posts included. */
void rep_execute_part(struct rep_exec *exec, struct rep_thread *self);

/* rep_execute_segment - its ops only: one timed run, or one for each step that keeps with the clock. */
void rep_execute_segment(struct rep_exec *exec, struct rep_thread *self, const struct rep_segment *segment);

/* rep_digest_add - ops were executed. */
void rep_digest_add(struct rep_digest *digest, const struct wl_op *ops, size_t count);

#endif
