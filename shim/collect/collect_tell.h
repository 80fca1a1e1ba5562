/* collect_tell.h - messages to our starter while recording goes on: that it stops, and what is not recorded.
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

/* reserve_block_chunks - the number of chunks in a block: fewer where the disk is nearly full, so that what is left of
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

/* ---- what was lost, and whether a recording holds all of the tree that was to be recorded (collect_complete.c) ---- */

/* complete_take_counts - note what the process of an image counts in its slot: losses and stalls, as far as they can be
 * true. Before the slot is given away. */
void complete_take_counts(struct collector *collector, struct collect_image *image);

/* complete_lost - calls of an image that were lost so far, by cause; of one that has not ended, as complete_take_counts saw them
 * last.
 * complete_image - whether an image is in the recording from its begin to its end, all of it, with nothing lost. */
uint64_t complete_lost(const struct collect_image *image, unsigned cause);
bool complete_image(const struct collect_image *image);

/* complete_judge - whether the recording is complete; the one place that decides it, everybody else reads `complete`.
 * final    the recording is over.
 * ret_why  every cause, in words, with semicolons between; "" where it is complete. */
bool complete_judge(const struct collector *collector, bool final, char *ret_why, size_t size);

/* front_check - note such a process, once, when it has ended or run for a while.
 * front_look - likewise all that run. */
void front_check(struct collector *collector, struct collect_image *image);
void front_look(struct collector *collector);

/* ---- recording.json: what was recorded, for people and for the other programs.
 * It is written beside its place and renamed into it, so that a reader finds the old text or the new, never half. */

/* json_write - write recording.json anew and put it in place of the old one. Returns false with errno set. */
bool json_write(struct collector *collector, bool final);

/* ---- the loop: a round, the rest between two, and how it knows that it is over; a recording controlled while it runs ----
 *
 * Those are asked for by signals to the collector, never to a recorded process; answered in recording.json:
 *
 *   SIGUSR1         pause                       SIGRTMIN + 1   begin a new window
 *   SIGUSR2         go on                       SIGRTMIN + 2   end the recording; the program runs on
 *                                               SIGRTMIN + 3   write what there is, and recording.json anew */

/* loop_take_signals - take those by which a recording is controlled (mallab-record(1)).
 * loop_begin - the first window, and the pause that --paused asks for; before the segment is published.
 * loop_run - collect until nobody is left, or until it was asked to end. */
void loop_take_signals(void);
void loop_begin(struct collector *collector);
void loop_run(struct collector *collector);

/* ---- what a killed collector left: its segment's records, put behind its footprints' last whole blocks.
 * Run by hand of `mallab convert` and `mallab record`, never by a program. The segment is taken over for good: it is
 * stopped, so that processes still running claim nothing more, drained, and removed.
 * It was shared with the recorded processes, so nothing in it is believed before it is checked. */

enum recover_result {
    RECOVER_DONE,
    RECOVER_NOTHING, /* no segment, or its collector lives, or somebody else is at it */
    RECOVER_FAILED,
};

/* recover_open - map the segment of options.out's dead collector and check it. ret_reason is set unless RECOVER_DONE. */
enum recover_result recover_open(struct collector *collector, const char **ret_reason);

/* recover_run - stop the segment, write everything in it, finish all footprints. */
void recover_run(struct collector *collector);

/* recover_footprint - go on with the footprint that the note of the image's slot names. Returns false when there is none to go on
 * with. */
bool recover_footprint(struct collector *collector, struct collect_image *image);

#endif
