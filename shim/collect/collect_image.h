/* collect_image.h - process images: found in the segment's table, given a footprint, watched, finished.
 *
 * A process's end is told by its pidfd. An exec leaves the process alive but the image gone: a new image of the same
 * pid in the table tells it, or, when the new one records elsewhere, that the segment is no longer mapped where the
 * slot says (/proc/PID/map_files). The same look proves that a pid still is the image that attached. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_IMAGE_H
#define MALLAB_SHIM_COLLECT_COLLECT_IMAGE_H

#include "shim/collect/collect.h"

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
 * they record behind it is paused, or not, as collector->paused says. */
void image_cut(const struct collector *collector, const struct collect_image *image);

/* ---- what the recorded processes use as a whole: looked at now and then, told by themselves at their end.
 *   look     /proc/PID/stat and status of a process that runs, its pid and start the same as ever
 *   zombie   a process that has ended and was not waited for: its stat has all of its times and faults, and how it ended
 *   told     what the process wrote into its slot before it ended, or became another program (shim/preload/usage_note.c): then
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

/* ---- an image's footprints: one, or one for each window in which it made a call (collect_footprint.c) ----
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
 * those that have sent something, not for numbers, and for so many of all processes together that it stays below 200 MB. */

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

/* ---- chunks out of the segment into the queues of their streams, and back when they were written (collect_take.c) ----
 *
 * A chunk is zeroed before it is free again: a record is there when its first word is not zero.
 *
 *   queue  a stream's taken chunks in the order of their sequence, linked by index: it needs no memory of its own
 *   rank   streams whose queue begins with the chunk that continues what is written stand in one list for each length, up to
 *          a block's worth. So the longest is found without a look at all that ever were. */

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
void queue_drop(struct collector *collector, struct collect_stream *stream, uint32_t count);
void queue_skip(struct collector *collector, struct collect_stream *stream);
struct collect_stream *queue_longest(const struct collect_segment *segment, uint32_t least);

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

/* ---- a chunk's records into a block, with the clock read for its stamps (collect_decode.c) ---- */

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

#endif
