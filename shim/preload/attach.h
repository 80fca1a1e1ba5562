/* attach.h - what the files of a process's attaching share: attach.c (whether, and once), attach_segment.c (the segment),
 * attach_slot.c (the slot).
 *
 * Laws of all three: the first call may come from the loader, before libc's constructors; a forked child comes here with only
 * ordinary memory to remember its parent by; several threads may come at once. Whatever fails, the program goes on, unrecorded. */
#ifndef MALLAB_SHIM_PRELOAD_ATTACH_H
#define MALLAB_SHIM_PRELOAD_ATTACH_H

#include "shim/preload/shim.h"

#define ATTACH_WAIT_NS                                                                                       \
    10000000u /* one futex wait for what another thread or the collector does; then it is looked again */

#pragma GCC visibility push(hidden) /* as in shim.h */

/* What this image is called: its children go by it, whatever argv[0] became. "" until attach.c has looked. */
extern char attach_program[SEG_PROGRAM];

/* attach_say - one line on stderr, unless MALLAB_QUIET forbids it. */
void attach_say(const char *what, const char *more);

/* attach_find_segment - set shim_segment: the one that our starter named, or one of a collector of our own.
 * name     the program's, for the output directory.
 * Returns  NULL, else the reason why there is none. No descriptor stays open. */
const char *attach_find_segment(const char *name);

/* The reason that may be a passing one: the segment was there when its directory was looked into. */
extern const char ATTACH_OUT_OF_REACH[];

/* attach_is_named - whether our starter named the segment. */
bool attach_is_named(void);

/* attach_count_other - a process that is not asked for is counted, with some names for whoever mistyped one; and keeps nothing
 * mapped, so that its recording does not wait for it. */
void attach_count_other(void);

/* attach_wait - sleep until the word is no longer `value`, or for some other reason; of a confined process: turn for a while. */
void attach_wait(const _Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);

/* attach_make_ready - learn what the forked children of a process that is about to be confined cannot ask. */
void attach_make_ready(void);

/* attach_count_for_parent - count calls of a confined process that has no slot, and no name, as its parent's.
 * Returns whether the parent is still there. */
bool attach_count_for_parent(uint64_t calls);

enum taking {
    TAKING_DONE, /* the process has a slot and is recorded */
    TAKING_NONE, /* it is not to be recorded, or has been counted as one that found no slot */
    TAKING_LATE, /* the recording has ended */
};

/* attach_take_slot - a slot of shim_segment for this process, in shim_process. */
enum taking attach_take_slot(const char *executable);

#pragma GCC visibility pop

#endif
