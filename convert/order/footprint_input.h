/* footprint_input.h - a process image as an input: its footprints, put in order, behind what it held before they begin. */
#ifndef MALLAB_CONVERT_ORDER_FOOTPRINT_INPUT_H
#define MALLAB_CONVERT_ORDER_FOOTPRINT_INPUT_H

#include "convert/base/request.h"
#include "convert/base/source.h"
#include "convert/recording/parts.h"

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
struct conv_image;
const struct conv_image *conv_footprint_image(const struct conv_input *input);

#endif
