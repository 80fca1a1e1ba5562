/* workload_input.h - a workload as a source of events, for whoever counts them (convert/sites).
 *
 * Each object has an address of its own, its id; times are those of the ops (workload.h). What a conversion left out (calls that
 * failed, marks) is not there. */
#ifndef MALLAB_CONVERT_OPEN_WORKLOAD_INPUT_H
#define MALLAB_CONVERT_OPEN_WORKLOAD_INPUT_H

#include "convert/base/error.h"
#include "convert/base/source.h"

/* conv_workload_open - open a workload; close() it after use.
 * survey    program, completeness and what else the conversion noted are filled in.
 * Returns   FP_OK, or the status in ret_error. */
enum fp_status conv_workload_open(const char *path, struct conv_survey *survey, struct conv_error *ret_error,
                                  struct conv_input *ret_input);

#endif
