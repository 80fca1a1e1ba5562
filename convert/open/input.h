/* input.h - an opened input: where events come from, and what is known of it besides.
 *
 * Private to convert/. An input fills conv_error itself when the input is at fault; a status that came
 * back from the sink passes through with the error untouched (cause.status FP_OK). */
#ifndef MALLAB_CONVERT_OPEN_INPUT_H
#define MALLAB_CONVERT_OPEN_INPUT_H

#include "convert/base/source.h"
#include "convert/convert.h"
#include "convert/ops/pair.h"
#include "convert/recording/parts.h"

struct conv_input {
    void *data;
    struct conv_namer namer;
    const char *source;      /* meta key `source` */
    uint64_t progress_total; /* 0: unknown */
    uint64_t end_ns;      /* when the recording ended, on its events' clock; 0: known when it is read only */
    uint32_t lane_count;  /* 0: known when it is read only */
    bool tells_residency; /* how much of large objects was in memory may be told */
    /* Hand all events to the sink. */
    enum fp_status (*run)(void *data, const struct conv_sink *sink, struct conv_survey *survey,
                          struct conv_error *error);
    /* A part of what run does: a batch of events, or a group that cannot be parted (order.h). FP_END: there are no
     * more. Called until then instead of run. NULL: this input knows no parts. */
    enum fp_status (*step)(void *data, const struct conv_sink *sink, struct conv_survey *survey,
                           struct conv_error *error);
    /* The lane that makes a lane's objects that were there before: its process' main thread. NULL: lane 0. */
    uint32_t (*home)(void *data, uint32_t lane);
    /* Bytes read so far; NULL: progress is counted in events. */
    uint64_t (*position)(void *data);
    /* After the run: losses, duration, completeness. gap_calls: calls that gap marks say are missing. */
    void (*conclude)(void *data, uint64_t gap_calls, struct conv_survey *survey);
    void (*close)(void *data);
};

/* conv_fail - fill an error. Returns status. conv_fail_with: from libfootprint's. */
enum fp_status conv_fail(struct conv_error *error, const char *path, enum fp_status status, int sys_errno,
                         uint64_t offset, const char *format, ...) __attribute__((format(printf, 6, 7)));
enum fp_status conv_fail_with(struct conv_error *error, const char *path, const struct fp_error *cause);

/* conv_no_remedy - what an error says is enough: no remedy is put behind it. Returns its status. */
enum fp_status conv_no_remedy(struct conv_error *error);

/* conv_input_open - open whatever path leads to, but a workload; a recording leads to one of its footprints
 * (options.process_id), which survey->input names then. survey must stay where it is until close.
 * Returns FP_OK, or the status in ret_error. */
enum fp_status conv_input_open(const char *path, const struct conv_options *options,
                               struct conv_survey *survey, struct conv_error *ret_error,
                               struct conv_input *ret_input);

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

/* conv_import_open - open another tool's trace; close() it after use.
 * path      "-" is standard input. Kept by reference until close.
 * kind      its format; CONV_KIND_UNKNOWN: found out, from its first bytes.
 * survey    kind and what the head tells are filled in. It must stay where it is until close.
 * Returns   FP_OK, or the status in ret_error: FP_ERR_FOREIGN for a trace of no known format, FP_ERR_READ when it may be
 *           of several. */
enum fp_status conv_import_open(const char *path, enum conv_kind kind, const struct conv_options *options,
                                struct conv_survey *survey, struct conv_error *ret_error,
                                struct conv_input *ret_input);

/* conv_footprint_refuse_empty - of an input that conv_footprint_open made: its run fails with the status of the damage
 * when the footprint is damaged or cut and no call of it is left. What is whole may be empty. */
void conv_footprint_refuse_empty(const struct conv_input *input);

/* conv_footprint_parts - the parts of an input that conv_footprint_open made; they last until its close. */
const struct conv_parts *conv_footprint_parts(const struct conv_input *input);

/* conv_incomplete - note why a survey is incomplete; the first reason stands. */
void conv_incomplete(struct conv_survey *survey, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
