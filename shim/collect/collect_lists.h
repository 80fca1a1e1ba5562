/* collect_lists.h - the lists that grow with a recording: its images, their parts, their lanes and streams.
 *
 * A process says what numbers its lanes and streams have, up to a million, and may say what it likes. So memory is taken for
 * those that have sent something, not for numbers, and for so many of all processes together that it stays below 200 MB. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_LISTS_H
#define MALLAB_SHIM_COLLECT_COLLECT_LISTS_H

#include "shim/collect/collect.h"

/* list_image - append to the recording's images. False: no memory.
 * list_part - room for another part of an image, counted by the caller. NULL: no memory. */
bool list_image(struct collector *collector, struct collect_image *image);
struct collect_part *list_part(struct collect_image *image);

/* image_lane, image_stream - the one of a number, which may be new. NULL: no memory, or no number that can be.
 * image_release_lanes - forget them all. */
struct collect_lane *image_lane(struct collect_image *image, uint32_t number);
struct collect_stream *image_stream(struct collect_image *image, uint32_t number);
void image_release_lanes(struct collect_image *image);

#endif
