/* workload_input.h - a workload as a source of events, for whoever counts them (convert/sites).
 *
 * Each object has an address of its own, its id; times are those of the ops (workload.h). What a conversion left out (calls that
 * failed, marks) is not there. */
#ifndef MALLAB_CONVERT_OPEN_WORKLOAD_INPUT_H
#define MALLAB_CONVERT_OPEN_WORKLOAD_INPUT_H

#include "convert/base/error.h"
#include "convert/base/request.h"
#include "convert/base/source.h"
#include "convert/base/survey_counts.h"
#include "footprint/fp/usage.h"
#include "footprint/wl/workload.h"

/* conv_workload_open - open a workload; close() it after use.
 * survey    program, completeness and what else the conversion noted are filled in.
 * Returns   FP_OK, or the status in ret_error. */
enum fp_status conv_workload_open(const char *path, struct conv_survey *survey, struct conv_error *ret_error,
                                  struct conv_input *ret_input);

/* ---- what a workload says of itself and of the input that it was made of ------------------------- */

/* conv_survey_workload - what the workload at wl_path holds; every window is read.
 * in_path  what the user named, for errors. */
enum fp_status conv_survey_workload(const char *wl_path, const char *in_path,
                                    const struct conv_options *options, struct conv_survey *survey,
                                    struct conv_error *error);

/* conv_survey_note - what a conversion learned of its input, as notes of the workload, which conv_survey_workload reads.
 * Returns  FP_OK, or the writer's. */
enum fp_status conv_survey_note(struct wl_writer *writer, const struct conv_survey *survey);

/* ---- what a process used as a whole, in a workload's meta data: docs/format.md, "Meta" ----------- */

/* conv_usage_read - read its notes; false: there are none, and ret_usage knows nothing. */
bool conv_usage_read(const struct wl_reader *reader, struct fp_usage *ret_usage);

/* conv_looks_read - how much memory of no file the process had over time, where it ran for FP_USAGE_LONG_NS and is here as a whole.
 * Room for FP_USAGE_POINTS_MAX in both; times rise, and are those of the ops. Returns how many; 0: it is not told. */
size_t conv_looks_read(const struct wl_reader *reader, double *ret_times_ns, double *ret_bytes);

#endif
