/* collect_usage.h - what the recorded processes use as a whole: looked at now and then, told by themselves at their end.
 *
 *   look     /proc/PID/stat and status of a process that runs, its pid and start the same as ever
 *   zombie   a process that has ended and was not waited for: its stat has all of its times and faults, and how it ended
 *   told     what the process wrote into its slot before it ended, or became another program (shim/preload/usage_note.c): then
 *            it is no longer looked at. Where the exec failed it takes that back
 *
 * A series keeps every look until it is full; then every second of its points goes, and looks come half as often. What is in
 * a slot any process can write: it is figures, and they are held against the bounds of figures. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_USAGE_H
#define MALLAB_SHIM_COLLECT_COLLECT_USAGE_H

#include "shim/collect/collect.h"

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
