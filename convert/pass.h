/* pass.h - one reading of one input, with or without a workload writer. Private to convert/. */
#ifndef MALLAB_CONVERT_PASS_H
#define MALLAB_CONVERT_PASS_H

#include "convert/convert.h"
#include "convert/input.h"
#include "footprint/workload.h"

/* conv_pass_run - hand the input's events through the pairing to the writer, and fill the survey.
 * writer    borrowed, NULL: count only.
 * Returns   FP_OK; else the input's status with error filled, or the sink's with error->cause.status
 *           FP_OK: then it is the writer's (wl_writer_error) or a lack of memory. */
enum fp_status conv_pass_run(const struct conv_input *input, const struct conv_options *options,
                             struct wl_writer *writer, struct conv_survey *survey, struct conv_error *error);

/* conv_recording_list - the processes of a recording directory (path), from its recording.json or, where there
 * is none, from its footprints. Sorted as listed. survey->processes is filled; program, start too.
 * ret_complete   what recording.json says; false without one. */
enum fp_status conv_recording_list(const char *path, struct conv_survey *survey, bool *ret_complete,
                                   struct conv_error *error);

/* conv_recording_directory - the directory meant by path: itself, or that of its recording.json. */
void conv_recording_directory(const char *path, char ret_directory[CONV_PATH_BYTES]);

/* conv_recording_choose - the process to convert: process_id's, or of all, the one with most events (of
 * equal ones the first). Marks it chosen. NULL: there is none of that id. */
struct conv_process *conv_recording_choose(struct conv_survey *survey, uint32_t process_id);

/* conv_resolve - the kind that options.from names, or that is detected; unknown stays unknown. */
enum fp_status conv_resolve(const char *path, const struct conv_options *options, enum conv_kind *ret_kind,
                            struct conv_error *error);

#endif
