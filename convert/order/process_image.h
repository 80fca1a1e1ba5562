/* process_image.h - the footprints of a process image, in one legal order: its blocks by lane, its lanes' names. */
#ifndef MALLAB_CONVERT_ORDER_PROCESS_IMAGE_H
#define MALLAB_CONVERT_ORDER_PROCESS_IMAGE_H

#include <stddef.h>

#include "convert/base/request.h"
#include "convert/base/source.h"
#include "convert/order/lane_cursor.h"
#include "convert/recording/recording.h"
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

/* ---- a process image as an input: its footprints, put in order, behind what it held before they begin (footprint_input.c) ---- */

/* conv_footprint_open - open a footprint; close() it after use.
 * path      as in conv_file. Kept by reference until close.
 * extent    of a recording in windows, whether its process' other windows are meant too.
 * listed    what the recording's list says of the process; borrowed for the call. NULL: the footprint was named alone.
 * survey    input, program, process_id, start_unix_ns and file_bytes are filled in.
 * Returns   FP_OK, or the status in ret_error. */
enum fp_status conv_footprint_open(const char *path, enum conv_extent extent,
                                   const struct conv_process *listed, const struct conv_options *options,
                                   struct conv_survey *survey, struct conv_error *ret_error,
                                   struct conv_input *ret_input);

/* conv_footprint_refuse_empty - make the run of an input that conv_footprint_open made refuse: it fails with the status of the damage
 * when the footprint is damaged or cut and no call of it is left. What is whole may be empty. */
void conv_footprint_refuse_empty(const struct conv_input *input);

/* conv_footprint_image - the image of an input that conv_footprint_open made; it lasts until its close. */
const struct conv_image *conv_footprint_image(const struct conv_input *input);

/* ---- the objects that a process held where its recording begins: its parent's, and those of earlier windows (inherit.c)
 *
 * A child's own footprint knows nothing of them: they were allocated before it was. Its parent's footprint lies
 * beside it in the recording and holds a mark at the fork (FP_MARK_FORK). The parent is read up to that mark, in
 * its legal order, after its own objects of that kind if it was forked too. Rules: docs/notes/order.md, "Forked processes". */

#define CONV_ANCESTORS_MAX 64u

/* conv_inherit - hand the objects that a forked process began with to a sink, as allocations (time 0), the oldest first.
 * path      of the child's first footprint; its ancestors' are looked for in the same directory.
 * child     its parts: meta fork_of and fork_number. Where they do not begin with the child's first window, the windows
 *           before them are read too, and their objects are handed over.
 * options   memory_bytes and salvage hold for the ancestors too.
 * lane      that is to have made them.
 * ret_why   of `size` bytes: one line when ancestors could not be read and are left out; "" when all were.
 * Returns   FP_OK, also where there are none; FP_ERR_MEMORY; what the sink returned. */
enum fp_status conv_inherit(const char *path, const struct conv_parts *child,
                            const struct conv_options *options, uint32_t lane, const struct conv_sink *sink,
                            char *ret_why, size_t size);

#endif
