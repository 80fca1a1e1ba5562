/* ahead.h - decode blocks on another processor before they are asked for. Private to convert/.
 *
 * At most CONV_AHEAD_BLOCKS wait to be fetched; what is wanted beyond is decoded when it is asked for, as is a block that
 * could not be decoded ahead, so that its error is told then and there. The readers' functions are called by one thread at
 * a time, and only from here while this exists. */
#ifndef MALLAB_CONVERT_ORDER_AHEAD_H
#define MALLAB_CONVERT_ORDER_AHEAD_H

#include <stddef.h>

#include "footprint/fp/footprint.h"

#define CONV_AHEAD_BLOCKS 8u

struct conv_ahead;

/* conv_ahead_start - NULL: there is one processor, or no memory or thread to be had. */
struct conv_ahead *conv_ahead_start(void);

/* conv_ahead_want - a block of reader is going to be asked for; NULL is accepted and does nothing. */
void conv_ahead_want(struct conv_ahead *ahead, struct fp_reader *reader, size_t index);

/* conv_ahead_block - what fp_reader_block does; fp_reader_error is its until the next call to one of these functions.
 * buffer  may become another, with the block in it; ahead NULL: fp_reader_block itself. */
enum fp_status conv_ahead_block(struct conv_ahead *ahead, struct fp_reader *reader, size_t index,
                                struct fp_block_buffer *buffer, struct fp_block *ret_block);

/* conv_ahead_stop - end the thread, free; NULL is accepted. Before the readers are closed. */
void conv_ahead_stop(struct conv_ahead *ahead);

#endif
