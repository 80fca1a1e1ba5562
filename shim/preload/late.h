/* late.h - the library loaded into a running program: begins to record there, ends, forgets.
 *
 * Whoever attaches (record/attach) makes a thread of the program call one of three exported functions, in a place where it is in
 * no lock of the loader and of the allocator, as a signal handler would be called. Each leaves errno as it was.
 *
 *   mallab_late_begin   join a recording, and turn the slots of all modules to our hooks (slots.h)
 *   mallab_late_end     turn them back. Threads may be in hooks for a while yet
 *   mallab_late_forget  when none is, as the caller has seen with all of them stopped: let go of the shared memory. It makes
 *                       system calls only */
#ifndef MALLAB_SHIM_PRELOAD_LATE_H
#define MALLAB_SHIM_PRELOAD_LATE_H

#include <stdint.h>

#include "shim/shared/late_report.h"

#pragma GCC visibility push(hidden)

/* late_told - the reason why this process is not recorded. */
void late_told(const char *reason);

#pragma GCC visibility pop

#endif
