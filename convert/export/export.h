/* export.h - a workload as something else: one table of formats, by which `--to`, its help and its errors go.
 *
 *   job     one export under way: a workload opened at its first window, an output
 *
 * An exporter writes from the ops as replay would execute them, so a footprint or a trace becomes a workload first. */
#ifndef MALLAB_CONVERT_EXPORT_EXPORT_H
#define MALLAB_CONVERT_EXPORT_EXPORT_H

#include "convert/base/request.h"
#include "convert/base/survey_counts.h"
#include "footprint/wl/wl_file.h"
#include "footprint/wl/workload.h"

#define CONV_EXPORT_BUFFER 65536u

/* The output: whole under its final name or not there. The first failure sticks; what is put after it goes nowhere. */
struct conv_export_file {
    struct wl_file file;
    enum fp_status status; /* FP_OK until something failed; file.error says what */
    size_t used;
    char buffer[CONV_EXPORT_BUFFER];
};

struct conv_export_job {
    struct wl_reader *reader; /* before its first window */
    const struct wl_summary *summary;
    struct conv_export_file *file;
    const char *in_path, *out_path; /* as the user named them */
    const struct conv_options *options;
    struct conv_error *error;
};

struct conv_export_format {
    const char *name;   /* as --to takes it */
    const char *ending; /* of the default output */
    /* Write all. Returns FP_OK, or a status with job->error filled; those of the file are filled by the caller. */
    enum fp_status (*write)(struct conv_export_job *job);
};

/* conv_export_text - as text (export_text.c). */
enum fp_status conv_export_text(struct conv_export_job *job);

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

/* ---- for the formats ------------------------------------------------------------------------ */

/* One op, with what lies beside it in its window. */
struct conv_export_op {
    const struct wl_op *op;
    uint64_t number; /* in the workload, from 0 */
    uint32_t thread;
    uint32_t index;   /* in its window */
    uint64_t time_ns; /* of this op, where one is stored; else of the op before it that has one */
    bool noted;       /* one is, though this is no 16th op */
};

/* conv_export_next - the next window. Returns FP_OK, FP_END, or a status with job->error filled. Shows progress. */
enum fp_status conv_export_next(struct conv_export_job *job, struct wl_window *ret_window);

/* conv_export_each - call take for every op of a window, in the one order of all threads, until it fails. */
typedef enum fp_status conv_export_take(void *data, const struct conv_export_op *op);
enum fp_status conv_export_each(const struct wl_window *window, conv_export_take *take, void *data);

/* Put bytes, a text, a number in decimal, one byte; and a line of up to 200 bytes in printf's way, which takes longer. */
void conv_export_put(struct conv_export_file *file, const void *bytes, size_t size);
void conv_export_text_put(struct conv_export_file *file, const char *text);
void conv_export_number(struct conv_export_file *file, uint64_t number);
void conv_export_byte(struct conv_export_file *file, char byte);
void conv_export_print(struct conv_export_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
