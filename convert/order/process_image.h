/* process_image.h - a process image while it is an input: what process_image.c, which reads it, and process_image_end.c, which says at its end what
 * is known of it, share. Others see a conv_input (input.h). */
#ifndef MALLAB_CONVERT_ORDER_PROCESS_IMAGE_H
#define MALLAB_CONVERT_ORDER_PROCESS_IMAGE_H

#include "convert/open/input.h"
#include "convert/order/ahead.h"
#include "convert/order/order.h"
#include "convert/recording/parts.h"

struct image {
    const char *path;
    struct conv_parts parts;
    enum conv_extent extent;
    struct conv_options options;
    uint64_t listed[FP_LOSS_COUNT]; /* losses, as the recording's list has them */
    uint64_t events_removed;        /* likewise */
    uint64_t until_ns;              /* the recording's end; 0 when unknown */
    bool ran_on, uncounted;         /* as the list or the last trailer says */
    struct conv_block_note *notes;  /* of all lanes, lane after lane */
    size_t *first;                  /* by lane: index into notes; one more than lanes */
    uint64_t missing_blocks;
    uint32_t main_lane;         /* makes what was there before */
    struct conv_survey *survey; /* while it runs */
    struct conv_error *error;
    struct conv_blocks blocks;
    struct conv_ahead *ahead; /* NULL: not yet, or not at all */
    struct conv_order *order; /* while it is taken in parts */
    bool refuse_empty;        /* see conv_footprint_refuse_empty */
    bool has_calls;           /* a block that could be read holds some */
};

/* conv_image_conclude - a conv_input's conclude: what the trailers, the recording's list and the counts of the pass tell of
 * how complete the image is. data: a struct image. */
void conv_image_conclude(void *data, uint64_t gap_calls, struct conv_survey *survey);

#endif
