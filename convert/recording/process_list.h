/* process_list.h - how the processes of a recording's directory are found. Private to recording.c. */
#ifndef MALLAB_CONVERT_RECORDING_PROCESS_LIST_H
#define MALLAB_CONVERT_RECORDING_PROCESS_LIST_H

#include "convert/base/survey_counts.h"
#include "convert/recording/recording_json.h"

/* conv_process_list_explain - one reason more why the recording is not finished. */
__attribute__((format(printf, 2, 3))) void conv_process_list_explain(struct conv_survey *survey,
                                                                     const char *format, ...);

/* conv_process_list_take - what a recording.json says: the processes that a finished one lists, what became of an
 * unfinished one's collector.
 * Returns  FP_OK; FP_ERR_CORRUPT, FP_ERR_MEMORY in error. */
enum fp_status conv_process_list_take(const char *directory, const struct conv_recording *recording,
                                      struct conv_survey *survey, struct conv_error *error);

/* The files that the scan of a directory passed over. */
struct conv_passed_over {
    size_t empty;   /* created, nothing in them yet */
    size_t damaged; /* or foreign, or closed to us */
    struct fp_error cause;
    char file[256]; /* the first of the damaged */
};

/* conv_process_list_scan - every footprint of the directory, in the order of their names' bytes.
 * Returns  FP_OK, also for none; FP_ERR_OPEN, FP_ERR_MEMORY, in error. */
enum fp_status conv_process_list_scan(const char *directory, struct conv_survey *survey,
                                      struct conv_passed_over *ret_passed, struct conv_error *error);

/* conv_process_list_tell_ends - of a recording that goes on, put into each process' `ended` what is known of it: as the collector
 * told, as a footprint's end tells, or as the system's processes do. Nothing for others.
 * Returns  FP_OK, or FP_ERR_MEMORY in error. */
enum fp_status conv_process_list_tell_ends(const char *directory, struct conv_survey *survey,
                                           struct conv_error *error);

#endif
