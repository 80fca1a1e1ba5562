/* collect_tell.h - what whoever started us is told while recording goes on: that it stops, and what is not recorded.
 *
 * Lines on the control descriptor (record/tree_watch.h): "stopped CAUSE NS", "resumed NS", "unrecorded INDEX PID
 * NAME\tWHY", "seen"; and the same in recording.json. Programs that are not recorded tell it themselves, or `mallab record` does, by a
 * datagram to a socket that has no place in any file system and the name of the segment's file (shim/preload/note.c,
 * record/tree_watch.c). Any process of the machine can send one: its bytes are shown, and nothing else is done by them. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_TELL_H
#define MALLAB_SHIM_COLLECT_COLLECT_TELL_H

#include "shim/collect/collect.h"
#include <sys/socket.h>

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

/* ---- disk space held back from the start, so that a disk that others fill still takes the end.
 * Two parts. One is given back to the file system when a trailer may need it: whoever is faster gets it. The other is
 * a file without a name that recording.json is written into and that gets its name then: blocks that nobody else can
 * have. So the losses of every process are told, also where its trailer found no room. */

/* reserve_free_bytes - what others may still take of the disk, UINT64_MAX where it cannot be told. */
uint64_t reserve_free_bytes(const struct collector *collector);

/* reserve_hold - hold disk space back for trailers and for the last recording.json, for the latter as much as there is.
 * Returns false, with errno set, when there is not even a little.
 * reserve_renew - hold again what was given back, where others have made room meanwhile, and what the list needs by now.
 * reserve_for_images - hold as much as the list of the images that there are needs.
 * reserve_release - give the trailers' part back to the file system. */
bool reserve_hold(struct collector *collector);
void reserve_renew(struct collector *collector);
void reserve_for_images(struct collector *collector);
void reserve_release(struct collector *collector);

/* reserve_block_chunks - of how many chunks a block is to be: fewer where the disk is nearly full, so that what is left of
 * it is used. */
uint32_t reserve_block_chunks(const struct collector *collector);

/* reserve_take_list - the file without a name, for the caller to write, name and close; -1: there is none.
 * reserve_name_list - cut it behind what was written, and give it that name. */
int reserve_take_list(struct collector *collector);
bool reserve_name_list(const struct collector *collector, int fd, const char *name);

/* ---- processes of the recorded tree that are another user's than ours: each such user has a segment of its own.
 * Who sends a datagram is the kernel's word (SCM_CREDENTIALS). What comes from strangers is dropped: those of users without a
 * segment that descend from no recorded process. */

/* user_is_believed - whether a sender is of the recorded tree, as far as the kernel tells, or root.
 * user_answer - give a process what it asks for, or say that it gets nothing. from: how the question came.
 * user_give_up_spoiled - close the segments of which pages vanished, once each. */
bool user_is_believed(struct collector *collector, const struct ucred *sender);
void user_answer(struct collector *collector, const struct seg_ask *ask, const struct ucred *sender,
                 const struct msghdr *from);
void user_give_up_spoiled(struct collector *collector);

#endif
