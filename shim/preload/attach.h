/* attach.h - a process comes to be recorded, or not.
 *
 * Laws of this file and of attach_self, attach_slot, attach_segment: the first call may come from the loader, before libc's
 * constructors; a forked child comes here with only ordinary memory to remember its parent by; several threads may come at
 * once. Whatever fails, the program goes on, unrecorded. */
#ifndef MALLAB_SHIM_PRELOAD_ATTACH_H
#define MALLAB_SHIM_PRELOAD_ATTACH_H

#include <stdbool.h>

/* attach_process - bring the process to PROCESS_ON or PROCESS_OFF; safe against races and forks.
 * Returns whether it is on. errno may change. */
bool attach_process(void);

#endif
