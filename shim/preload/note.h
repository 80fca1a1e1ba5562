/* note.h - whoever records is told why a process is not recorded. */
#ifndef MALLAB_SHIM_PRELOAD_NOTE_H
#define MALLAB_SHIM_PRELOAD_NOTE_H

#include <stdbool.h>

#include "shim/preload/shim.h"

/* note_take_name - the segment's path, by which the recording's socket is named: of a process that found it without $MALLAB_SEGMENT.
 * note_wanted - whether somebody records this tree, and is to be told. */
void note_take_name(const char *segment_path);

/* note_forget_name - another recording begins in this process (late.c). */
void note_forget_name(void);

bool note_wanted(void);

/* note_send - tell the collector why this process is not recorded, or what it becomes; by system calls only.
 * of_child  it is about a process that this one starts, and whose number is not known yet.
 * Returns   whether it was told, or nobody is to be told. */
bool note_send(const char *program, const char *reason, bool of_child);

/* note_ask - ask the collector for shared memory of our user's (seg_ask), and wait for its answer, for a bounded time.
 * serial    of the slot that the process has; SEG_NOBODY.
 * ret_slot  that it has there; SEG_SLOT_COUNT: none yet.
 * ret_fds   what is told, what is shared: the caller's to close; or -1, both.
 * Returns   whether an answer came, of the recording's owner. */
bool note_ask(uint64_t serial, uint32_t *ret_slot, int *ret_fds);

/* note_say - one line on stderr, unless MALLAB_QUIET forbids it; for a process that no recording has started. */
void note_say(const char *what, const char *more);

/* ---- what a process tells of its processor time, page faults and memory, where it begins and where it ends ----
 *
 * Nothing there calls malloc or changes errno; system calls only, none in a confined process. */

/* usage_begin - an image, or a forked child, begins to be recorded: fill its slot's figures, and forget those of the slot's last use. */
void usage_begin(struct seg_slot *slot);

/* usage_note - the process is about to end, or to execute another program, or goes on because that failed (SEG_USAGE_NONE); in a
 * child that shares its parent's memory it does nothing. */
void usage_note(enum seg_usage_end end);

#endif
