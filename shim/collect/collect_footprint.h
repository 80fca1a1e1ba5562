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

#include "footprint/fp/columns.h"
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

#endif
