/* input.h - open whatever a path leads to, and pass over it. */
#ifndef MALLAB_CONVERT_OPEN_INPUT_H
#define MALLAB_CONVERT_OPEN_INPUT_H

#include "convert/base/error.h"
#include "convert/base/request.h"
#include "convert/base/source.h"
#include "convert/base/survey_counts.h"
#include "footprint/fp/usage.h"
#include "footprint/wl/workload.h"

/* conv_input_open - open whatever path leads to, but a workload; a recording leads to one of its footprints
 * (options.process_id), which survey->input names then. survey must stay where it is until close.
 * Returns FP_OK, or the status in ret_error. */
enum fp_status conv_input_open(const char *path, const struct conv_options *options,
                               struct conv_survey *survey, struct conv_error *ret_error,
                               struct conv_input *ret_input);

/* conv_input_settle - settle what is selected of an opened input, see conv_plan_settle. It is read once more when a share
 * of its time is asked for that no trailer tells.
 * Returns FP_OK, or the status in error. */
enum fp_status conv_input_settle(const char *path, const struct conv_input *input,
                                 struct conv_options *options, struct conv_survey *survey,
                                 struct conv_error *error);

/* conv_detect - what kind of file stands at path, by its first bytes, never by its name.
 * path   "-" is CONV_KIND_UNKNOWN: a pipe is read once (conv_file detects while it reads).
 * Returns CONV_KIND_UNKNOWN also when it cannot be opened; the caller's next step says why. */
enum conv_kind conv_detect(const char *path);

/* conv_resolve - the kind that options.from names, or that is detected; unknown stays unknown. */
enum fp_status conv_resolve(const char *path, const struct conv_options *options, enum conv_kind *ret_kind,
                            struct conv_error *error);

/* ---- one reading of one input, with or without a workload writer --------------------------------- */

/* conv_pass_run - hand the input's events through the pairing to the writer, and fill the survey.
 * writer    borrowed, NULL: count only.
 * Returns   FP_OK; else the input's status with error filled, or the sink's with error->cause.status
 *           FP_OK: then it is the writer's (wl_writer_error) or a lack of memory. */
enum fp_status conv_pass_run(const struct conv_input *input, const struct conv_options *options,
                             struct wl_writer *writer, struct conv_survey *survey, struct conv_error *error);

/* ---- a workload as a source of events, for whoever counts them (convert/sites) --------------------
 *
 * Each object has an address of its own, its id; times are those of the ops (workload.h). What a conversion left out (calls that
 * failed, marks) is not there. */

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
