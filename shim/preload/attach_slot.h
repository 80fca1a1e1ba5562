/* attach_slot.h - a process's slot in the segment's table: claimed, waited for, filled. */
#ifndef MALLAB_SHIM_PRELOAD_ATTACH_SLOT_H
#define MALLAB_SHIM_PRELOAD_ATTACH_SLOT_H

#include "shim/preload/shim.h"

#define ATTACH_WAIT_NS 10000000u /* for another thread or the collector; then we look again */

enum taking {
    TAKING_DONE, /* the process has a slot and is recorded */
    TAKING_NONE, /* it is not to be recorded, or has been counted as one that found no slot */
    TAKING_LATE, /* the recording has ended */
};

/* attach_take_slot - a slot of shim_segment for this process, in shim_process.
 * program     what it is called; executable: its file. */
enum taking attach_take_slot(const char *program, const char *executable);

/* attach_wait - sleep until the word is no longer `value`, or for some other reason; of a confined process: turn for a while. */
void attach_wait(const _Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);

/* attach_count_for_parent - count calls of a confined process that has no slot, and no name, as its parent's.
 * Returns whether the parent is still there. */
bool attach_count_for_parent(uint64_t calls);

/* attach_fork_begins - the process is about to fork, by the calling thread. Returns the number of this fork, which the child
 *                      tells when it takes a slot.
 * attach_fork_is_over - in the parent: a child made by a raw clone later must not take this number for its own. */
uint32_t attach_fork_begins(void);
void attach_fork_is_over(void);

#endif
