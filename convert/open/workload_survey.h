/* workload_survey.h - what a workload says of itself and of the input that it was made of. */
#ifndef MALLAB_CONVERT_OPEN_WORKLOAD_SURVEY_H
#define MALLAB_CONVERT_OPEN_WORKLOAD_SURVEY_H

#include "convert/base/request.h"
#include "convert/base/survey_counts.h"
#include "footprint/wl/workload.h"

/* conv_survey_workload - what the workload at wl_path holds; every window is read.
 * in_path  what the user named, for errors. */
enum fp_status conv_survey_workload(const char *wl_path, const char *in_path,
                                    const struct conv_options *options, struct conv_survey *survey,
                                    struct conv_error *error);

/* conv_survey_notes - what a conversion noted in a workload. */
void conv_survey_notes(const struct wl_reader *reader, struct conv_survey *survey);

/* conv_survey_note - what a conversion learned of its input, as notes of the workload, which conv_survey_workload reads.
 * Returns  FP_OK, or the writer's. */
enum fp_status conv_survey_note(struct wl_writer *writer, const struct conv_survey *survey);

#endif
