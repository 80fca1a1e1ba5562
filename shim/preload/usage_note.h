/* usage_note.h - what a process tells of its processor time, page faults and memory, where it begins and where it ends.
 *
 * Nothing here calls malloc or changes errno; system calls only, none in a confined process. */
#ifndef MALLAB_SHIM_PRELOAD_USAGE_NOTE_H
#define MALLAB_SHIM_PRELOAD_USAGE_NOTE_H

#include "shim/preload/shim.h"

#pragma GCC visibility push(hidden)

/* usage_begin - an image, or a forked child, begins to be recorded: fill its slot's figures, and forget those of the slot's last use. */
void usage_begin(struct seg_slot *slot);

/* usage_note - the process is about to end, or to execute another program, or goes on because that failed (SEG_USAGE_NONE); in a
 * child that shares its parent's memory it does nothing. */
void usage_note(enum seg_usage_end end);

#pragma GCC visibility pop

#endif
