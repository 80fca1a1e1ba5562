/* selection_plan.h - what is selected of an opened input, settled: shares of its time turned into times, words for people and for
 * the workload's meta data. Private to convert/. */
#ifndef MALLAB_CONVERT_SELECT_SELECTION_PLAN_H
#define MALLAB_CONVERT_SELECT_SELECTION_PLAN_H

#include "convert/base/request.h"
#include "convert/base/survey_counts.h"
#include "footprint/wl/workload.h"

/* conv_plan_wants_duration - whether a share of the input's time, or one by the clock, is asked for, so that its duration must be known. */
bool conv_plan_wants_duration(const struct conv_selection *select);

/* conv_plan_settle - after opening, before the pass. Fills survey->selected and moves survey->start_unix_ns to where
 * the section begins; options->select's times become CONV_WHEN_TIME or CONV_WHEN_NONE.
 * path          of the input as the caller named it, for messages.
 * duration_ns   of the whole input; 0: not known.
 * options       the caller's copy.
 * Returns       FP_OK; FP_ERR_ARGUMENT for what cannot be meant, in error. */
enum fp_status conv_plan_settle(const char *path, uint64_t duration_ns, struct conv_options *options,
                                struct conv_survey *survey, struct conv_error *error);

/* conv_plan_clock - turn a time by the clock into one since the recording began; others stay as they are.
 * start_unix_ns, duration_ns   of the input; 0: not known.
 * Returns  FP_OK; FP_ERR_ARGUMENT where the begin is not known, or the recording ended before that time, in error. */
enum fp_status conv_plan_clock(const char *path, uint64_t start_unix_ns, uint64_t duration_ns,
                               struct conv_when *when, struct conv_error *error);

/* conv_plan_any - whether calls are selected by when they came (not counting processes). Of settled options. */
bool conv_plan_any(const struct conv_selection *select);

/* conv_plan_write - the selection as notes of a workload. conv_plan_read - back. */
enum fp_status conv_plan_write(struct wl_writer *writer, const struct conv_selected *selected);
void conv_plan_read(const struct wl_reader *reader, struct conv_selected *ret_selected);

#endif
