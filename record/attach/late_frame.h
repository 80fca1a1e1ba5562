/* late_frame.h - a thread that stands still made to call a function, as a signal's handler is called (late_call.h has the terms).
 *
 * x86-64. */
#ifndef MALLAB_RECORD_ATTACH_LATE_FRAME_H
#define MALLAB_RECORD_ATTACH_LATE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "record/attach/late_call.h"
#include "record/attach/late_thread.h"

/* late_frame_begin - lay the frame on the thread's stack and set its registers, once, when the frame stands. From then on it makes
 * the call when it is let go, whatever becomes of us.
 * restorer  to where signals' handlers return.
 * Returns   false where the thread was left as it was: in a restartable sequence (rseq(2)), in a call that cannot be begun anew,
 *           with registers that cannot be kept, or with a stack that cannot be written. */
bool late_frame_begin(const struct late_process *process, const struct late_thread *thread,
                      const struct late_call *call, uint64_t restorer);

#endif
