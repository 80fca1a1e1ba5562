/* export.c - the table of formats; a job from the opened workload to the finished file; the buffered output. */
#include "convert/export/export.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/base/unnamed_file.h"

static enum fp_status export_workload(struct conv_export_job *job);

/* The first is the default. docs/importing.md tells of each. */
static const struct conv_export_format FORMATS[] = {
    {"workload", ".wl", export_workload},
    {"text", ".txt", conv_export_text},
};

const struct conv_export_format *conv_export_find(const char *name)
{
    if (name == NULL)
        return &FORMATS[0];
    for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0]; i++)
        if (strcmp(FORMATS[i].name, name) == 0)
            return &FORMATS[i];
    return NULL;
}

const struct conv_export_format *conv_export_at(size_t number)
{
    return number < sizeof FORMATS / sizeof FORMATS[0] ? &FORMATS[number] : NULL;
}

char *conv_export_names(char *ret_text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < sizeof FORMATS / sizeof FORMATS[0]; i++) {
        const int length = snprintf(ret_text + used, size - used, "%s%s", i > 0 ? ", " : "", FORMATS[i].name);
        if (length < 0 || (size_t)length >= size - used)
            break;
        used += (size_t)length;
    }
    return ret_text;
}

/* ---- the output ------------------------------------------------------------------------------- */

static void flush(struct conv_export_file *file)
{
    if (file->status == FP_OK && file->used > 0)
        file->status = wl_file_append(&file->file, file->buffer, file->used);
    file->used = 0;
}

void conv_export_put(struct conv_export_file *file, const void *bytes, size_t size)
{
    if (size > sizeof file->buffer - file->used)
        flush(file);
    if (size <= sizeof file->buffer) {
        memcpy(file->buffer + file->used, bytes, size);
        file->used += size;
    } else if (file->status == FP_OK) {
        file->status = wl_file_append(&file->file, bytes, size);
    }
}

void conv_export_text_put(struct conv_export_file *file, const char *text)
{
    conv_export_put(file, text, strlen(text));
}

void conv_export_number(struct conv_export_file *file, uint64_t number)
{
    char digits[20];
    char *at = digits + sizeof digits;
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    conv_export_put(file, at, (size_t)(digits + sizeof digits - at));
}

void conv_export_byte(struct conv_export_file *file, char byte)
{
    if (file->used == sizeof file->buffer)
        flush(file);
    file->buffer[file->used++] = byte;
}

void conv_export_print(struct conv_export_file *file, const char *format, ...)
{
    char line[200];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    conv_export_text_put(file, line);
}

/* ---- the job -------------------------------------------------------------------------------- */

enum fp_status conv_export_next(struct conv_export_job *job, struct wl_window *ret_window)
{
    const enum fp_status status = wl_reader_next(job->reader, ret_window);
    if (status == FP_OK && job->options->progress != NULL)
        job->options->progress(job->options->progress_data, ret_window->facts.first_op,
                               ret_window->facts.first_op, job->summary->ops);
    if (status == FP_OK || status == FP_END)
        return status;
    return conv_fail_with(job->error, job->in_path, wl_reader_error(job->reader));
}

enum fp_status conv_export_each(const struct wl_window *window, conv_export_take *take, void *data)
{
    uint32_t noted = 0;
    struct conv_export_op op = {.number = window->facts.first_op};
    enum fp_status status = FP_OK;
    for (uint32_t run = 0; run < window->run_count; run++) {
        const uint32_t end = op.index + window->runs[run].op_count;
        op.thread = window->runs[run].thread;
        for (; op.index < end && status == FP_OK; op.index++, op.number++) {
            op.op = &window->ops[op.index];
            if (op.index % WL_TIME_STRIDE == 0)
                op.time_ns = window->times_ns[op.index / WL_TIME_STRIDE];
            op.noted = noted < window->noted_count && window->noted[noted].op == op.index;
            if (op.noted)
                op.time_ns = window->noted[noted++].time_ns;
            status = take(data, &op);
        }
    }
    return status;
}

/* The same bytes, after all of them were read and checked. */
static enum fp_status export_workload(struct conv_export_job *job)
{
    const struct wl_reader_info *info = wl_reader_info(job->reader);
    struct wl_window window;
    enum fp_status status;
    while ((status = conv_export_next(job, &window)) == FP_OK)
        continue;
    if (status != FP_END)
        return status;
    conv_export_put(job->file, info->file, info->file_bytes);
    return FP_OK;
}

static enum fp_status file_failed(const struct conv_export_file *file, const char *out_path,
                                  struct conv_error *error)
{
    conv_fail_with(error, out_path, &file->file.error);
    error->output = true;
    return file->status;
}

/* Write, and give the file its name. */
static enum fp_status write_all(const struct conv_export_format *format, struct conv_export_job *job,
                                struct conv_report *report)
{
    struct conv_export_file *file = job->file;
    sigset_t held;
    enum fp_status status;
    conv_hold_signals(&held);
    file->used = 0;
    status = file->status = wl_file_create(&file->file, job->out_path, job->options->overwrite);
    if (status == FP_OK)
        conv_announce_temporary(file->file.temporary);
    conv_let_signals(&held);
    if (status != FP_OK)
        return file_failed(file, job->out_path, job->error);
    status = format->write(job);
    flush(file);
    if (status == FP_OK && file->status == FP_OK)
        file->status = wl_file_finish(&file->file);
    if (file->status != FP_OK)
        status = file_failed(file, job->out_path, job->error);
    report->bytes_out = file->file.bytes;
    wl_file_abandon(&file->file); /* of a finished file only names are left */
    conv_announce_temporary(NULL);
    return status;
}

enum fp_status conv_export_run(const struct conv_export_format *format, const char *wl_path,
                               const char *in_path, const char *out_path, const struct conv_options *options,
                               struct conv_report *report, struct conv_error *error)
{
    struct fp_error cause = {.status = FP_ERR_MEMORY, .what = "no memory for reading"};
    struct conv_export_job job = {
        .in_path = in_path, .out_path = out_path, .options = options, .error = error};
    enum fp_status status = wl_reader_open(wl_path, &cause, &job.reader);
    if (status != FP_OK)
        return conv_fail_with(error, in_path, &cause);
    job.summary = wl_reader_summary(job.reader);
    job.file = malloc(sizeof *job.file);
    status = job.file != NULL ? write_all(format, &job, report) : conv_fail_memory(error, in_path, "writing");
    if (status == FP_OK)
        snprintf(report->format, sizeof report->format, "%s", format->name);
    free(job.file);
    wl_reader_close(job.reader);
    return status;
}
