/* pass.h - one reading of one input, with or without a workload writer. Private to convert/. */
#ifndef MALLAB_CONVERT_OPEN_PASS_H
#define MALLAB_CONVERT_OPEN_PASS_H

#include <signal.h>

#include "convert/convert.h"
#include "convert/open/input.h"
#include "convert/recording/recording.h"
#include "footprint/wl/workload.h"

/* conv_pass_run - hand the input's events through the pairing to the writer, and fill the survey.
 * writer    borrowed, NULL: count only.
 * Returns   FP_OK; else the input's status with error filled, or the sink's with error->cause.status
 *           FP_OK: then it is the writer's (wl_writer_error) or a lack of memory. */
enum fp_status conv_pass_run(const struct conv_input *input, const struct conv_options *options,
                             struct wl_writer *writer, struct conv_survey *survey, struct conv_error *error);

/* conv_announce_temporary - the name that conv_output_temporary tells from now on; NULL: none. */
void conv_announce_temporary(const char *name);

/* conv_hold_signals - from before a temporary file is made until it is announced no signal handler runs: it would leave
 * the file. conv_let_signals - they may again; held: what conv_hold_signals gave. */
void conv_hold_signals(sigset_t *ret_held);
void conv_let_signals(const sigset_t *held);

/* conv_survey_workload - what the workload at wl_path holds; every window is read.
 * in_path  what the user named, for errors. */
enum fp_status conv_survey_workload(const char *wl_path, const char *in_path,
                                    const struct conv_options *options, struct conv_survey *survey,
                                    struct conv_error *error);

/* A workload in a file without a name. */
struct conv_temporary {
    int descriptor;
    char path[32];                   /* by which it can be opened as long as the descriptor is */
    char directory[CONV_PATH_BYTES]; /* whose room it takes */
};

/* conv_temporary_text - make one of the workload text at in_path.
 * beside   in its directory, see conv_temporary_file.
 * Returns  FP_OK: close the descriptor after use; else a status with error filled. */
enum fp_status conv_temporary_text(const char *in_path, const char *beside,
                                   const struct conv_options *options, struct conv_temporary *ret_temporary,
                                   struct conv_error *error);

/* conv_resolve - the kind that options.from names, or that is detected; unknown stays unknown. */
enum fp_status conv_resolve(const char *path, const struct conv_options *options, enum conv_kind *ret_kind,
                            struct conv_error *error);

#endif
