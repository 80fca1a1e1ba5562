/* pass.h - one reading of one input, with or without a workload writer. Private to convert/. */
#ifndef MALLAB_CONVERT_OPEN_PASS_H
#define MALLAB_CONVERT_OPEN_PASS_H

#include "convert/base/request.h"
#include "convert/base/source.h"
#include "footprint/wl/workload.h"

/* conv_pass_run - hand the input's events through the pairing to the writer, and fill the survey.
 * writer    borrowed, NULL: count only.
 * Returns   FP_OK; else the input's status with error filled, or the sink's with error->cause.status
 *           FP_OK: then it is the writer's (wl_writer_error) or a lack of memory. */
enum fp_status conv_pass_run(const struct conv_input *input, const struct conv_options *options,
                             struct wl_writer *writer, struct conv_survey *survey, struct conv_error *error);

#endif
