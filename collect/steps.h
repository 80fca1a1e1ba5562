/* steps.h - the functions that the files of mallab-collect share; the types are in collect.h. */
#ifndef MALLAB_COLLECT_STEPS_H
#define MALLAB_COLLECT_STEPS_H

#include "collect/collect.h"
#include "footprint/base/proc.h"

/* ---- process images: found in the segment's table, given a footprint, watched, finished.
 *
 * A process's end is told by its pidfd. An exec leaves the process alive but the image gone: a new image of the same
 * pid in the table tells it, or, when the new one records elsewhere, that the segment is no longer mapped where the
 * slot says (/proc/PID/map_files). The same look proves that a pid still is the image that attached. */

/* image_discover - open a footprint for every slot attached since the last look, or as many as are taken in one round.
 * Returns whether that was all.
 * image_discover_all - likewise, all that have come by now. */
bool image_discover(struct collector *collector);
void image_discover_all(struct collector *collector);

/* image_some_remain - whether an image is of a process that runs: not one whose process was never seen to have the segment although
 * that can be looked at for seconds, which is made up. */
bool image_some_remain(const struct collector *collector);

/* image_check_ends - finish the images whose process ended or execed. thorough: ask also where the kernel would
 * not have told (exec under a plain preload, kernels without pidfd).
 * image_finish - drain, write the trailer, free the slot. */
void image_check_ends(struct collector *collector, bool thorough);
void image_finish(struct collector *collector, struct collect_image *image, enum image_end end);

/* image_move - an image's process became another user, has closed nothing, and waits: what is in its former segment is written, and its
 * slot goes on in another. Returns the slot; SEG_SLOT_COUNT: none, and the image is at its end.
 * image_of_process - the image of a process, with that serial, or SEG_NOBODY: one of them; NULL: none. */
uint32_t image_move(struct collector *collector, struct collect_image *image, struct collect_segment *to);
struct collect_image *image_of_process(const struct collector *collector, uint32_t pid, uint64_t serial);

/* image_bump_epochs - step the word of every image: so several threads' times stay close together, and one thread's next call
 * notices a pause before it (lane_record.c). Returns whether there is an image with several threads. */
bool image_bump_epochs(struct collector *collector);

#define CUT_HEED_NS 2000000 /* given to the lanes that are recording to come to their next call */

/* image_cut - announce a cut (seg_cut in segment.h) to the process of an image: all its threads go through it at one epoch, and what
 * they record behind it is paused, or not, as collector->pauses.now says. */
void image_cut(const struct collector *collector, const struct collect_image *image);

/* ---- what the recorded processes use as a whole: looked at now and then, told by themselves at their end.
 *   look     /proc/PID/stat and status of a process that runs, its pid and start the same as ever
 *   zombie   a process that has ended and was not waited for: its stat has all of its times and faults, and how it ended
 *   told     what the process wrote into its slot before it ended, or became another program (shim/preload/note.c): then
 *            it is no longer looked at. Where the exec failed it takes that back
 * A series keeps every look until it is full; then every second of its points goes, and looks come half as often. What is in
 * a slot any process can write: it is figures, and they are held against the bounds of figures. */

/* usage_adopt - a process was found: note its start, and whose place it took. It works without memory, and then tells less.
 *               is_here: there is a process of its id; else that may be another's.
 * usage_look - looks that are due, of all processes; in each round.
 * usage_end - it has ended, or recording has (image->end says which): take what can still be learnt. Once, before its slot is
 *             given back. */
void usage_adopt(struct collector *collector, struct collect_image *image, bool is_here);
void usage_look(struct collector *collector, uint64_t now_ns);
void usage_end(struct collector *collector, struct collect_image *image);

/* usage_present - the image's usage as it is known now; NULL: of this image nothing is. The image's.
 * usage_release - free what the image has of it; usage_release_looks: only what is of use while it runs. */
const struct fp_usage *usage_present(struct collector *collector, struct collect_image *image);
void usage_release_looks(struct collect_image *image);
void usage_release(struct collect_image *image);

/* ---- an image's footprints: one, or one for each window in which it made a call (footprint.c) ----
 *
 *   part   one footprint. A lane's blocks and its epochs go on from part to part, so that the parts of an image,
 *          read one after the other, are what one footprint would have been
 *   stem   what the names of an image's parts begin with; no two images of a recording have the same
 *
 * A part ends with a trailer that tells the losses since the one before. The next is begun by the next block, so that
 * a process that sleeps through a night leaves no files behind. */

/* image_open_part - begin another footprint of an image, in the present window. image->writing tells whether it could.
 * image_close_part - write the trailer of the one that is being written, if any. */
void image_open_part(struct collector *collector, struct collect_image *image);
void image_close_part(struct collector *collector, struct collect_image *image);

/* image_store - write the marks of a block to the image's footprint, or count them as lost. */
void image_store(struct collector *collector, struct collect_image *image, struct collect_lane *lane,
                 struct fp_columns *block);

/* image_forget_marks - another part begins: what lanes have stored is counted anew. */
void image_forget_marks(struct collect_image *image);

/* ---- the lists that grow with a recording: its images, their parts, their lanes and streams.
 * A process says what numbers its lanes and streams have, up to a million, and may say what it likes. So memory is taken for
 * those that have sent something, not for numbers, and for so many of all processes together that it stays below 300 MB. */

/* list_image - append to the recording's images. False: no memory.
 * list_part - room for another part of an image, counted by the caller. NULL: no memory. */
bool list_image(struct collector *collector, struct collect_image *image);
struct collect_part *list_part(struct collect_image *image);

/* image_lane, image_stream - the one of a number, which may be new. NULL: no memory, or no number that can be.
 * image_release_lanes - forget them all. */
struct collect_lane *image_lane(struct collect_image *image, uint32_t number);
struct collect_stream *image_stream(struct collect_image *image, uint32_t number);
void image_release_lanes(struct collect_image *image);

/* ---- stacks and modules that a process told, on their way into its footprint. */

/* stacks_decoder - the decoder of a stream, made at first; NULL: the recording has no stacks, or there is no memory. Freed with
 * stacks_release_stream. */
struct fp_site_decoder *stacks_decoder(const struct collector *collector, struct collect_stream *stream);
void stacks_release_stream(struct collect_stream *stream);

/* stacks_write - append what was told since to the image's footprint, before the marks that name it. Returns as the writer does. */
enum fp_status stacks_write(const struct collector *collector, struct collect_image *image);

/* stacks_begin_part - another footprint of the image begins, which has to have all of it again. */
void stacks_begin_part(struct collect_image *image);

/* stacks_release - nothing more comes. */
void stacks_release(struct collect_image *image);

/* ---- chunks out of the segment into the queues of their streams, and back when they were written (take.c) ----
 *
 * A chunk is zeroed before it is free again: a record is there when its first word is not zero.
 *
 *   queue  a stream's taken chunks in the order of their sequence, linked by index: it needs no memory of its own */

/* take_scan - take every FULL chunk; without memory they stay where they are for the next round, as do those of a process that
 * has no image yet. Returns how many were taken. */
uint32_t take_scan(struct collector *collector);

/* take_image - take all chunks of an image whose threads are all dead, or that is given up. What there is no memory for is
 * counted as lost (FP_LOSS_COLLECTOR): nobody comes back for it. */
void take_image(struct collector *collector, const struct collect_image *image);

/* take_dead_threads - take the open chunks of threads that are gone although their process lives. */
void take_dead_threads(struct collector *collector, struct collect_segment *segment);

/* take_copy - a chunk as it is now, of ours alone until the next call: any process may store in the chunk itself.
 * take_free - zero a chunk, and let it be used again. */
const struct seg_chunk_header *take_copy(const struct collect_segment *segment, uint32_t index);
void take_free(struct collect_segment *segment, uint32_t index);

/* queue_drop - forget the first `count` chunks, which were written; next_chunk says what may follow.
 * queue_skip - go on with the first chunk of a queue, although one before it is missing.
 * queue_longest - a stream with the most chunks that can be written now, of those that have at least `least`; of several the one
 *                 that waits longest. One that was left counts as one with a block's worth: more may never come. NULL: none. */
void queue_drop(struct collect_stream *stream, uint32_t count);
void queue_skip(struct collect_stream *stream);
struct collect_stream *queue_longest(const struct collector *collector, const struct collect_segment *segment,
                                     uint32_t least);

/* ---- taken chunks, in each lane's order, into blocks.
 * A lane's chunks wait in the segment itself until there are enough for a block of good compression, or some
 * seconds have passed; when free chunks run short, the longest queues go first. */

/* drain_blocks - write the lanes that have a block's worth, and more under pressure. Returns chunks freed. */
uint32_t drain_blocks(struct collector *collector);

/* drain_waiting - write the lanes whose chunks have waited for a block's worth for some seconds: what a slow program
 * has done is not to depend for hours on our being alive. */
void drain_waiting(struct collector *collector);

/* drain_open - write what was recorded before the newest cut, or with `all` by now: whole chunks, and what stands so far in those
 * that their lanes still have. */
void drain_open(struct collector *collector, struct collect_image *image, bool all);

/* drain_image - take and write everything of an image whose threads are all dead, or that is given up. */
void drain_image(struct collector *collector, struct collect_image *image);

/* ---- a chunk's records into a block, with the clock read for its stamps (decode.c) ---- */

/* The thread whose records stand at a word of a chunk. */
struct decode_thread {
    uint32_t lane, thread_id;
};

/* decode_chunk - append a chunk's records to the block, from word number `first`, 0 for the first record; one that begins another
 * thread is passed over there.
 * damaged      counts words that are no record.
 * ret_at       the first word not read: 0 as yet in a chunk that its writer still has.
 * Returns      0 when the chunk is done; else the word to go on with after the block was written and cleared: it was
 *              full, epochs were too far apart, or another thread begins there (decode_thread_at). */
uint32_t decode_chunk(struct fp_columns *block, struct collect_stream *stream,
                      const struct collect_clock *clock, const struct seg_chunk_header *chunk, uint32_t first,
                      uint64_t *damaged, uint32_t *ret_at);

/* decode_thread_at - whether a word begins another thread, and whose. */
bool decode_thread_at(const struct seg_chunk_header *chunk, uint32_t at, struct decode_thread *ret_thread);

/* decode_skip - pass over a chunk's records up to the word `end`, which a collector that is dead has read.
 * sites      the stream's, which follows; NULL: nobody asks.
 * ret_epoch  the one in force there; untouched where none is told.
 * Returns    whose the records from there on are. */
struct decode_thread decode_skip(const struct seg_chunk_header *chunk, uint32_t end,
                                 struct fp_site_decoder *sites, uint64_t *ret_epoch);

/* decode_calls - how many calls stand in a chunk that were not written yet; for one that is given up. No memory.
 * written  words of it that were, its header among them; 0: none. */
uint64_t decode_calls(const struct seg_chunk_header *chunk, uint64_t written);

/* ---- the recorded processes in /proc: their ids, whether they live, what they have mapped (processes.c) ---- */

/* process_exists - whether there is a process of that id, be it a zombie.
 * process_is_zombie - whether its leading thread has ended and nobody has waited for it: the other threads may run on, but its
 *                     memory is not shown under its id. False where /proc cannot tell.
 * process_has_fixed_addresses - whether it has its mappings at the same addresses after an exec, as debuggers arrange. */
bool process_exists(uint32_t pid);
bool process_is_zombie(uint32_t pid);
bool process_has_fixed_addresses(uint32_t pid);

/* process_find_foreign - the process id, in our namespace, of a slot's process that is in a pid namespace below ours.
 * ret_parent    its parent's id here; untouched when there is none.
 * Returns       0 when there is no such process: it has ended. Walks /proc. */
uint32_t process_find_foreign(const struct collect_segment *segment, const struct seg_slot *slot,
                              uint32_t *ret_parent);

enum mapped {
    MAPPED_UNKNOWN, /* the kernel does not show it */
    MAPPED_NO,
    MAPPED_YES,
};

/* mapped_look - whether a process has the segment at that address.
 * mapped_test - find out whether this kernel shows mappings, by our own: sets can_look. */
enum mapped mapped_look(const struct collect_segment *segment, uint32_t pid, uint64_t address);
void mapped_test(struct collect_segment *segment);

/* mapped_unattached_remain - whether some process has the segment mapped without having attached: a forked child
 * that has not allocated yet. Walks /proc. */
bool mapped_unattached_remain(const struct collector *collector);

/* look_at_machine - the machine, and what of it the control group of a process may use. Without the affinities.
 * proc_quota_milli - thousandths of a processor that control groups, and those that they are in, leave (cgroups(7), versions 1 and 2).
 * root     before /sys/fs/cgroup; "" but for tests
 * groups   as /proc/PID/cgroup: "NUMBER:CONTROLLERS:/PATH" a line, without controllers of version 2; changed
 * Returns  FP_USAGE_UNKNOWN where none has a limit. */
void look_at_machine(uint32_t pid, struct fp_machine *ret_machine);
uint64_t proc_quota_milli(const char *root, char *groups);

/* look_at_end - how a process ended that was waited for by now: its pidfd knows (Linux 6.15).
 * ret_wait_status  as wait(2) has it. */
bool look_at_end(int pidfd, int *ret_wait_status);

/* look_age_ns - how long ago a process began that did so at start_ticks. */
uint64_t look_age_ns(uint64_t start_ticks);

/* ---- messages to our starter while recording goes on: that it stops, and what is not recorded.
 *
 * Lines on the control descriptor (record/tree_watch.c): "stopped CAUSE NS", "resumed NS", "unrecorded WORDS",
 * "seen"; and the same in recording.json. Programs that are not recorded tell it themselves, or `mallab record` does, by a
 * datagram to a socket that has no place in any file system and the name of the segment's file (shim/preload/note.c,
 * record/tree_watch.c). Any process of the machine can send one: its bytes are shown, and nothing else is done by them. */

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

/* ---- what was lost, and whether a recording holds all of the tree that was to be recorded (judge.c) ---- */

/* complete_take_counts - note what the process of an image counts in its slot: losses and stalls, as far as they can be
 * true. Before the slot is given away. */
void complete_take_counts(struct collector *collector, struct collect_image *image);

/* complete_lost - calls of an image that were lost so far, by cause; of one that has not ended, as complete_take_counts saw them
 * last.
 * complete_image - whether an image is in the recording from its begin to its end, all of it, with nothing lost. */
uint64_t complete_lost(const struct collect_image *image, unsigned cause);
bool complete_image(const struct collect_image *image);

#define COLLECT_WHY_BYTES 1024

/* complete_judge - whether the recording is complete; the one place that decides it, everybody else reads `complete`.
 * lost     by cause, of all images and of nobody's.
 * final    the recording is over.
 * ret_why  every cause, in words, with semicolons between; "" where it is complete. */
bool complete_judge(const struct collector *collector, const uint64_t *lost, bool final,
                    char ret_why[COLLECT_WHY_BYTES]);

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
