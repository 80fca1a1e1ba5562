/* process_list.h - how the processes of a recording's directory are found: process_list_json.c by its recording.json, process_list_scan.c by
 * its footprints. Private to recording.c (recording.h is what the others use), which has what both share. */
#ifndef MALLAB_CONVERT_RECORDING_PROCESS_LIST_H
#define MALLAB_CONVERT_RECORDING_PROCESS_LIST_H

#include <jansson.h>

#include "convert/base/survey_counts.h"

/* conv_process_list_add - append a process; its strings are copied. False: no memory. */
bool conv_process_list_add(struct conv_survey *survey, const struct conv_process *facts, const char *file,
                           const char *name, const char *ended);

/* conv_process_list_explain - one reason more why the recording is not finished. */
__attribute__((format(printf, 2, 3))) void conv_process_list_explain(struct conv_survey *survey,
                                                                     const char *format, ...);

/* conv_process_list_look - what a footprint says of itself, where recording.json does not, or not yet.
 * Returns  FP_OK, or why it cannot be read. */
enum fp_status conv_process_list_look(const char *directory, const char *file, struct conv_process *process,
                                      char *ret_name, size_t name_size, struct fp_error *ret_error);

/* conv_process_list_take_json - the processes that a whole recording.json lists; none of an unfinished one.
 * path     of the file, for messages. */
enum fp_status conv_process_list_take_json(const char *directory, const char *path, const json_t *root,
                                           struct conv_survey *survey, struct conv_error *error);

/* What the scan of a directory passed over. */
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
