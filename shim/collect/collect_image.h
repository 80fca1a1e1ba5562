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

#endif
