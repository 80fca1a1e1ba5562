/* attach.h - a process comes to be recorded, or not; then whoever records is told why.
 *
 * Laws of this file and of attach_segment: the first call may come from the loader, before libc's
 * constructors; a forked child comes here with only ordinary memory to remember its parent by; several threads may come at
 * once. Whatever fails, the program goes on, unrecorded. */
#ifndef MALLAB_SHIM_PRELOAD_ATTACH_H
#define MALLAB_SHIM_PRELOAD_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "shim/preload/shim.h"

/* attach_process - bring the process to PROCESS_ON or PROCESS_OFF; safe against races and forks.
 * Returns whether it is on. errno may change. */
bool attach_process(void);

/* attach_count_for_parent - count calls of a confined process that has no slot, and no name, as its parent's.
 * Returns whether the parent is still there. */
bool attach_count_for_parent(uint64_t calls);

/* attach_fork_begins - the process is about to fork, by the calling thread. Returns the number of this fork, which the child
 *                      tells when it takes a slot.
 * attach_fork_is_over - in the parent: a child made by a raw clone later must not take this number for its own. */
uint32_t attach_fork_begins(void);
void attach_fork_is_over(void);

/* attach_forbid - no process attaches from here on; calls that come are passed on.
 * attach_forget - the same, and nothing is left of the recording that this process was in, nor of its shared memory. Returns false
 *                 while a thread is in a hook: then it is to be called again.
 * attach_allow - after it: the process may join another recording. */
void attach_forbid(void);
bool attach_forget(void);
void attach_allow(void);

/* late_told - the reason why this process, that was attached to, is not recorded (late.c). */
void late_told(const char *reason);

/* attach_make_ready - learn what the forked children of a process that is about to be confined cannot ask. */
void attach_make_ready(void);

/* attach_find_segment - set shim_segment: the one that our starter named, or one of a collector of our own.
 * name     the program's, for the output directory.
 * Returns  NULL, else the reason why there is none. No descriptor stays open. */
const char *attach_find_segment(const char *name);

/* attach_replace_segment - map another in its place, by the descriptors of what is told and what is shared, which are closed.
 * attach_owner - whose it is by now in our user namespace, which may be another than when it was mapped; as before, where that is
 *                not seen.
 * attach_leave_segment - memory of our own in its place, where nothing is recorded. Returns whether there is any.
 * attach_take_slot - the process has this slot. attach_complain - tell why it is not recorded.
 * attach_wait_on - sleep until the word is no longer `value`, or for some other reason; of a confined process: turn for a while. */
bool attach_replace_segment(const int *fds);
uint32_t attach_owner(uint32_t before);
bool attach_leave_segment(void);
void attach_take_slot(uint32_t index);
void attach_complain(const char *reason);
void attach_wait_on(const _Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);

/* The reason that may be a passing one: the segment was there when its directory was looked into. */
extern const char ATTACH_OUT_OF_REACH[];

/* attach_count_other - a process that is not asked for is counted, with some names for whoever mistyped one; and keeps nothing
 * mapped, so that its recording does not wait for it. */
void attach_count_other(const char *program);

/* ---- whoever records is told why a process is not recorded (note.c) ---- */

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
