/* collect_sites.h - stacks and modules that a process told, on their way into its footprint. */
#ifndef MALLAB_SHIM_COLLECT_COLLECT_SITES_H
#define MALLAB_SHIM_COLLECT_COLLECT_SITES_H

#include "footprint/fp/site_decoder.h"
#include "shim/collect/collect.h"

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
