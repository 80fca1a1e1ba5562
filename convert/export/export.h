/* export.h - a workload as something else: one table of formats, by which `--to`, its help and its errors go.
 *
 * An exporter writes from the ops as replay would execute them, so a footprint or a trace becomes a workload first. */
#ifndef MALLAB_CONVERT_EXPORT_EXPORT_H
#define MALLAB_CONVERT_EXPORT_EXPORT_H

#include "convert/base/request.h"
#include "convert/base/survey_counts.h"
#include "footprint/wl/workload.h"

struct conv_export_job;

struct conv_export_format {
    const char *name;   /* as --to takes it */
    const char *ending; /* of the default output */
    /* Write all. Returns FP_OK, or a status with the error filled; those of the output are told by the caller. */
    enum fp_status (*write)(struct conv_export_job *job);
};

/* conv_export_find - find a format by name, NULL for "workload"; NULL when there is none. */
const struct conv_export_format *conv_export_find(const char *name);

/* conv_export_at - the formats by number, from 0; the first is the default. NULL: there are fewer. */
const struct conv_export_format *conv_export_at(size_t number);

/* conv_export_names - all their names with ", " between them; terminated, cut to size. Returns ret_text. */
char *conv_export_names(char *ret_text, size_t size);

/* conv_export_run - export the workload at wl_path.
 * in_path   what the user named, for errors.
 * report    bytes_out and format are filled in.
 * Returns   FP_OK; else a status with error filled. Nothing stands at out_path then. */
enum fp_status conv_export_run(const struct conv_export_format *format, const char *wl_path,
                               const char *in_path, const char *out_path, const struct conv_options *options,
                               struct conv_report *report, struct conv_error *error);

#endif
