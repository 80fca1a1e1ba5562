/* collect_complete.h - what was lost, and whether a recording holds all of the tree that was to be recorded. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_COMPLETE_H
#define MALLAB_SHIM_COLLECT_COLLECT_COMPLETE_H

#include "shim/collect/collect.h"

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

#endif
