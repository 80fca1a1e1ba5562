/* convert.c - an input in, a workload out. */
#include "convert/convert.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "convert/base/error.h"
#include "convert/export/export.h"
#include "convert/open/input.h"
#include "convert/recording/recording.h"
#include "convert/select/selection_plan.h"
#include "convert/text/text_input.h"
#include "footprint/base/process.h"
#include "footprint/fp/fp_sites.h"

#define META_ENTRIES_MAX 9u

/* ---- the workload's meta data -------------------------------------------------------------- */

/* A program's name may hold a newline; meta values may not. */
static void make_value(char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '\n')
            *text = ' ';
}

static enum fp_status create_writer(const char *out_path, int descriptor, const struct conv_options *options,
                                    const struct conv_input *input, const struct fp_stacks *stacks,
                                    struct conv_survey *survey, struct conv_error *error,
                                    struct wl_writer **ret_writer)
{
    const struct wl_writer_options writer_options = {
        .window_ops = options->window_ops,
        .zstd_level = options->zstd_level,
        .pause_ns = WL_PAUSE_NS,
        .sites = stacks != NULL ? &stacks->sites : NULL,
        .program = stacks != NULL ? conv_path_name(stacks->executable) : NULL,
        .in_place = options->in_place,
        .descriptor = descriptor};
    struct fp_error cause = {.status = FP_ERR_MEMORY, .what = "no memory for writing"};
    struct fp_meta meta[META_ENTRIES_MAX];
    char start[24], processes[24], process_events[24], recording_events[24];
    size_t count = 0;
    make_value(survey->program);
    if (survey->program[0] != '\0')
        meta[count++] = (struct fp_meta){"program", survey->program};
    meta[count++] = (struct fp_meta){"source", input->source};
    meta[count++] = (struct fp_meta){"mallab_version", MALLAB_VERSION};
    if (survey->label[0] != '\0')
        meta[count++] = (struct fp_meta){FP_LABEL_META, survey->label};
    if (survey->start_unix_ns != 0) {
        snprintf(start, sizeof start, "%" PRIu64, survey->start_unix_ns);
        meta[count++] = (struct fp_meta){"recorded_unix_ns", start};
    }
    if (survey->process_count > 1) {
        uint64_t chosen = 0, all = 0;
        for (size_t i = 0; i < survey->process_count; i++) {
            all = conv_add_saturating(all, survey->processes[i].events);
            if (survey->processes[i].chosen)
                chosen = conv_add_saturating(chosen, survey->processes[i].events);
        }
        snprintf(processes, sizeof processes, "%zu", survey->process_count);
        snprintf(process_events, sizeof process_events, "%" PRIu64, chosen);
        snprintf(recording_events, sizeof recording_events, "%" PRIu64, all);
        meta[count++] = (struct fp_meta){"recording_processes", processes};
        meta[count++] = (struct fp_meta){"recording_events", recording_events};
        meta[count++] = (struct fp_meta){"process_events", process_events};
    }
    assert(count <= META_ENTRIES_MAX);
    if (wl_writer_create(out_path, options->overwrite, &writer_options, meta, count, &cause, ret_writer) ==
        FP_OK)
        return FP_OK;
    conv_fail_with(error, out_path, &cause);
    error->output = true;
    return cause.status;
}

/* ---- conversion ---------------------------------------------------------------------------- */

static enum fp_status output_failed(struct wl_writer *writer, const char *out_path, enum fp_status status,
                                    struct conv_error *error)
{
    const struct fp_error none = {.status = FP_ERR_MEMORY, .what = "no memory for more live objects"};
    const struct fp_error *cause = wl_writer_error(writer);
    if (cause->status != status)
        cause = &none;
    conv_fail_with(error, out_path, cause);
    error->output = true;
    return error->cause.status;
}

/* descriptor: where the workload goes; 0: to a file of its own at out_path. */
static enum fp_status convert_input(const struct conv_input *input, const char *out_path, int descriptor,
                                    const struct conv_options *options, struct conv_report *report,
                                    struct conv_error *error)
{
    struct conv_survey *survey = &report->survey;
    struct fp_error cause = {.status = FP_OK};
    struct wl_summary summary;
    struct wl_writer *writer = NULL;
    struct fp_stacks stacks = {0};
    const bool with_sites = input->stacks != NULL && !options->no_sites;
    enum fp_status status = FP_OK;
    if (with_sites)
        status = input->stacks(input->data, &stacks, error);
    if (status == FP_OK)
        status = create_writer(out_path, descriptor, options, input, with_sites ? &stacks : NULL, survey,
                               error, &writer);
    if (status == FP_OK)
        status = conv_pass_run(input, options, writer, survey, error);
    if (status == FP_OK) {
        conv_choice_judge(options, survey);
        conv_recording_judge(survey, true);
    }
    if (status == FP_OK)
        status = conv_survey_note(writer, survey);
    if (status != FP_OK && writer != NULL && error->cause.status == FP_OK)
        status = output_failed(writer, out_path, status, error);
    if (status == FP_OK) {
        status = wl_writer_finish(writer, survey->duration_ns, &summary, &report->bytes_out, &cause);
        writer = NULL;
        if (status != FP_OK) {
            conv_fail_with(error, out_path, &cause);
            error->output = true;
        }
    }
    wl_writer_abandon(writer);
    fp_stacks_release(&stacks);
    if (status != FP_OK)
        return status;
    assert(summary.ops == survey->ops && summary.live_bytes_peak == survey->live_bytes_peak);
    survey->windows = summary.windows;
    survey->id_max = summary.id_max;
    return FP_OK;
}

/* Events become a workload, or by way of one without a name another format. */
static enum fp_status convert_events(const char *in_path, const char *out_path,
                                     const struct conv_export_format *format,
                                     const struct conv_options *options, struct conv_report *report,
                                     struct conv_error *error)
{
    const bool direct = format == conv_export_find(NULL);
    struct conv_temporary temporary = {0};
    struct conv_input input = {0};
    struct conv_options settled = *options;
    enum fp_status status = conv_input_open(in_path, options, &report->survey, error, &input);
    if (status != FP_OK)
        return status;
    if (report->survey.sample_bytes != 0)
        status = CONV_FOREIGN(
            error, in_path, "is a sample of objects, for sites and leaks: to replay, record without =BYTES");
    if (status == FP_OK)
        status = conv_input_settle(in_path, &input, &settled, &report->survey, error);
    if (status == FP_OK && !direct)
        status = conv_temporary_open(out_path, &temporary, error);
    if (status == FP_OK)
        status = convert_input(&input, direct ? out_path : temporary.path, temporary.descriptor, &settled,
                               report, error);
    if (status != FP_OK && !direct)
        conv_temporary_name(&temporary, error);
    input.close(input.data);
    if (direct)
        snprintf(report->format, sizeof report->format, "%s", format->name);
    if (status == FP_OK && !direct)
        status = conv_export_run(format, temporary.path, in_path, out_path, options, report, error);
    if (temporary.descriptor > 0)
        (void)close(temporary.descriptor); /* nothing is to be kept */
    return status;
}

/* The input is a workload already, as a file or as text. */
static enum fp_status convert_workload(const char *in_path, const char *out_path, bool is_text,
                                       const struct conv_export_format *format,
                                       const struct conv_options *options, struct conv_report *report,
                                       struct conv_error *error)
{
    struct conv_temporary temporary = {0};
    const char *wl_path = in_path;
    enum fp_status status = FP_OK;
    if (conv_plan_any(&options->select) || conv_process_asked(options))
        return conv_fail(error, in_path, FP_ERR_ARGUMENT, 0, 0,
                         "is a workload: only of recordings and traces something can be selected");
    if (options->no_sites)
        return conv_fail(error, in_path, FP_ERR_ARGUMENT, 0, 0,
                         "is a workload: call stacks are left out when a recording is converted");
    if (is_text) {
        status = conv_temporary_text(in_path, out_path, options, &temporary, error);
        wl_path = temporary.path;
    }
    if (status != FP_OK)
        return status;
    status = conv_survey_workload(wl_path, in_path, options, &report->survey, error);
    if (status == FP_OK)
        status = conv_export_run(format, wl_path, in_path, out_path, options, report, error);
    if (is_text) {
        report->survey.kind = CONV_KIND_TEXT;
        (void)close(temporary.descriptor); /* nothing is to be kept */
    }
    return status;
}

enum fp_status conv_file(const char *in_path, const char *out_path, const struct conv_options *options,
                         struct conv_report *ret_report, struct conv_error *ret_error)
{
    static const struct conv_options defaults = {0};
    const uint64_t start_ns = fp_now_ns();
    struct conv_report report = {0};
    const struct conv_export_format *format;
    enum conv_kind kind;
    char names[128];
    enum fp_status status;
    memset(ret_error, 0, sizeof *ret_error);
    if (options == NULL)
        options = &defaults;
    format = conv_export_find(options->to);
    if (format == NULL)
        return conv_fail(ret_error, in_path, FP_ERR_ARGUMENT, 0, 0,
                         "unknown format '%.60s' to export to; known are %s", options->to,
                         conv_export_names(names, sizeof names));
    snprintf(report.survey.input, sizeof report.survey.input, "%s", in_path);
    status = conv_resolve(in_path, options, &kind, ret_error);
    if (status == FP_OK && (kind == CONV_KIND_WORKLOAD || kind == CONV_KIND_TEXT))
        status = convert_workload(in_path, out_path, kind == CONV_KIND_TEXT, format, options, &report,
                                  ret_error);
    else if (status == FP_OK)
        status = convert_events(in_path, out_path, format, options, &report, ret_error);
    if (status != FP_OK) {
        conv_report_release(&report);
        return conv_bound_told(status, in_path, ret_error);
    }
    report.elapsed_ns = fp_now_ns() - start_ns;
    *ret_report = report;
    return FP_OK;
}
