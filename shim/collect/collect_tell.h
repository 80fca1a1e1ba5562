/* collect_tell.h - what whoever started us is told while recording goes on: that it stops, and what is not recorded.
 *
 * Lines on the control descriptor (record/tree_watch.h): "stopped CAUSE NS", "resumed NS", "unrecorded INDEX PID
 * NAME\tWHY", "seen"; and the same in recording.json. Programs that are not recorded tell it themselves, or `mallab record` does, by a
 * datagram to a socket that has no place in any file system and the name of the segment's file (shim/preload/note.c,
 * record/tree_watch.c). Any process of the machine can send one: its bytes are shown, and nothing else is done by them. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_TELL_H
#define MALLAB_SHIM_COLLECT_COLLECT_TELL_H

#include "shim/collect/collect.h"

/* stop_note - nothing is written any more, of one process at least; each cause is told once.
 * stop_over - a block was written again: when no process is without, recording goes on.
 * stop_name - the cause as recording.json has it, NULL for STOP_NONE. */
void stop_note(struct collector *collector, enum collect_stop cause);
void stop_over(struct collector *collector);
const char *stop_name(enum collect_stop cause);

/* tell_seen - the command has ended, and its image, if it had one, is finished: it may be waited for. Told once. */
void tell_seen(struct collector *collector);

/* notes_open - the socket by which programs that are not recorded are told of; when the segment has its path.
 * notes_take - take what was told, and pass it on.
 * notes_take_last - and decide on what was guessed from outside: a process is recorded when it came.
 * notes_add - likewise what the collector found out itself. why: cut to fit.
 * notes_take_former - what recording.json says that a collector which is dead was told.
 * tell_changed - whether recording.json is to be written because of what was told or noted since the last call. */
void notes_open(struct collector *collector);
void notes_take(struct collector *collector);
void notes_take_last(struct collector *collector);
void notes_add(struct collector *collector, const char *name, uint32_t pid, const char *why);
void notes_take_former(struct collector *collector);
bool tell_changed(struct collector *collector);

#endif
