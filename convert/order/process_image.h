/* process_image.h - the footprints of a process image, in one legal order: its blocks by lane, its lanes' names. */
#ifndef MALLAB_CONVERT_ORDER_PROCESS_IMAGE_H
#define MALLAB_CONVERT_ORDER_PROCESS_IMAGE_H

#include <stddef.h>

#include "convert/base/request.h"
#include "convert/order/lane_cursor.h"
#include "convert/recording/parts.h"
#include "footprint/fp/footprint.h"

/* ---- decode blocks on another processor before they are asked for -----------------------------------
 *
 * At most CONV_AHEAD_BLOCKS wait to be fetched; what is wanted beyond is decoded when it is asked for, as is a block that
 * could not be decoded ahead, so that its error is told then and there. The readers' functions are called by one thread at
 * a time, and only from here while this exists. */

#define CONV_AHEAD_BLOCKS 8u

struct conv_ahead;

/* conv_ahead_start - NULL: there is one processor, or no memory or thread to be had. */
struct conv_ahead *conv_ahead_start(void);

/* conv_ahead_want - a block of reader is going to be asked for; NULL is accepted and does nothing. */
void conv_ahead_want(struct conv_ahead *ahead, struct fp_reader *reader, size_t index);

/* conv_ahead_block - what fp_reader_block does.
 * ahead      NULL: there is no other thread.
 * buffer     may become another, with the block in it.
 * ret_error  what fp_reader_error says, unless FP_OK. */
enum fp_status conv_ahead_block(struct conv_ahead *ahead, struct fp_reader *reader, size_t index,
                                struct fp_block_buffer *buffer, struct fp_block *ret_block,
                                struct fp_error *ret_error);

/* conv_ahead_stop - end the thread, free; NULL is accepted. Before the readers are closed. */
void conv_ahead_stop(struct conv_ahead *ahead);

struct conv_image {
    const char *path;
    struct conv_parts parts;
    struct conv_options options;
    struct conv_block_note *notes; /* of all lanes, lane after lane */
    size_t *first;                 /* by lane: index into notes; one more than lanes */
    uint64_t missing_blocks;
    uint32_t main_lane;         /* makes what was there before */
    struct conv_survey *survey; /* while it runs */
    struct conv_error *error;
    struct conv_blocks blocks;
    struct conv_ahead *ahead; /* NULL: not yet, or not at all */
    bool has_calls;           /* a block that could be read holds some */
};

/* conv_image_open - open the parts meant by path and extent, and sort their blocks by lane.
 * path      kept by reference until close.
 * image     zeroed; conv_image_close accepts it whatever is returned, and leaves the struct's own memory alone.
 * Returns   FP_OK, or the status in error. */
enum fp_status conv_image_open(struct conv_image *image, const char *path, enum conv_extent extent,
                               const struct conv_options *options, struct conv_error *error);
void conv_image_close(struct conv_image *image);

/* conv_image_run - as a conv_input's run. */
enum fp_status conv_image_run(struct conv_image *image, const struct conv_sink *sink,
                              struct conv_survey *survey, struct conv_error *error);

/* conv_image_name_lane - a conv_namer's name. data: the image. */
void conv_image_name_lane(void *data, uint32_t lane, uint32_t *ret_thread_id, bool *ret_is_main);

#endif
