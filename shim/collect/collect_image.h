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

/* image_bump_epochs - step the word of every image: so several threads' times stay close together, and one thread's next call
 * notices a pause before it (lane_record.c). Returns whether there is an image with several threads. */
bool image_bump_epochs(struct collector *collector);

#define CUT_HEED_NS 2000000 /* given to the lanes that are recording to come to their next call */

/* image_cut - announce a cut (seg_cut in segment.h) to the process in a slot: all its threads go through it at one epoch, and what
 * they record behind it is paused, or not, as collector->paused says. */
void image_cut(const struct collector *collector, uint32_t slot);

#endif
