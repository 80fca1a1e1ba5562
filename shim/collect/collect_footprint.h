/* collect_footprint.h - an image's footprints: one, or one for each window in which it made a call.
 *
 *   part   one footprint. A lane's blocks and its epochs go on from part to part, so that the parts of an image,
 *          read one after the other, are what one footprint would have been
 *   stem   what the names of an image's parts begin with; no two images of a recording have the same
 *
 * A part ends with a trailer that tells the losses since the one before. The next is begun by the next block, so that
 * a process that sleeps through a night leaves no files behind. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_FOOTPRINT_H
#define MALLAB_SHIM_COLLECT_COLLECT_FOOTPRINT_H

#include "shim/collect/collect.h"

/* image_open_part - begin another footprint of an image, in the present window. image->writing tells whether it could.
 * image_close_part - write the trailer of the one that is being written, if any. */
void image_open_part(struct collector *collector, struct collect_image *image);
void image_close_part(struct collector *collector, struct collect_image *image);

/* image_store - write the marks of a block to the image's footprint, or count them as lost. */
void image_store(struct collector *collector, struct collect_image *image, struct collect_lane *lane,
                 struct fp_columns *block);

/* image_forget_marks - another part begins: what lanes have stored is counted anew. */
void image_forget_marks(struct collect_image *image);

#endif
