/* convert.c - an input in, a workload out. */
#include "convert/convert.h"

#include <assert.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "convert/pass.h"
#include "convert/select/plan.h"
#include "convert/stats.h"

#define META_ENTRIES_MAX 8u

/* For a signal handler: the name stays whole while the flag is up. */
static char temporary_name[CONV_PATH_BYTES];
static volatile sig_atomic_t temporary_stands;

const char *conv_output_temporary(void)
{
    return temporary_stands ? temporary_name : NULL;
}

static void announce_temporary(const struct wl_writer *writer)
{
    const char *name = wl_writer_temporary(writer);
    if (name == NULL || strlen(name) >= sizeof temporary_name)
        return;
    strcpy(temporary_name, name);
    temporary_stands = 1;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the workload's meta data -------------------------------------------------------------- */

/* A program's name may hold a newline; meta values may not. */
static void make_value(char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '\n')
            *text = ' ';
}

static enum fp_status create_writer(const char *out_path, const struct conv_options *options,
                                    const struct conv_input *input, struct conv_survey *survey,
                                    struct conv_error *error, struct wl_writer **ret_writer)
{
    const struct wl_writer_options writer_options = {
        .window_ops = options->window_ops, .zstd_level = options->zstd_level, .in_place = options->in_place};
    struct fp_error cause = {.status = FP_ERR_MEMORY, .what = "no memory for writing"};
    struct fp_meta meta[META_ENTRIES_MAX];
    char start[24], processes[24], process_events[24], recording_events[24];
    size_t count = 0;
    make_value(survey->program);
    if (survey->program[0] != '\0')
        meta[count++] = (struct fp_meta){"program", survey->program};
    meta[count++] = (struct fp_meta){"source", input->source};
    meta[count++] = (struct fp_meta){"mallab_version", MALLAB_VERSION};
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

static enum fp_status note_count(struct wl_writer *writer, const char *prefix, const char *name,
                                 uint64_t count)
{
    char key[64], value[24];
    snprintf(key, sizeof key, "%s%s", prefix, name);
    snprintf(value, sizeof value, "%" PRIu64, count);
    return wl_writer_note(writer, key, value);
}

static enum fp_status write_notes(struct wl_writer *writer, const struct conv_survey *survey)
{
    uint64_t lost = survey->lost_marks;
    enum fp_status status = wl_writer_note(writer, "complete", survey->complete ? "yes" : "no");
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++)
        lost += survey->lost[i];
    if (status == FP_OK && survey->incomplete_why[0] != '\0')
        status = wl_writer_note(writer, "incomplete_why", survey->incomplete_why);
    if (status == FP_OK && survey->lacks[0] != '\0')
        status = wl_writer_note(writer, "lacks", survey->lacks);
    if (status == FP_OK)
        status = note_count(writer, "", "lost_calls", lost);
    if (status == FP_OK && survey->inherited_objects > 0)
        status = note_count(writer, "", "inherited_objects", survey->inherited_objects);
    if (status == FP_OK && survey->inherited_objects > 0)
        status = note_count(writer, "", "inherited_bytes", survey->inherited_bytes);
    if (status == FP_OK)
        status = conv_plan_write(writer, &survey->selected);
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT && status == FP_OK; i++)
        if (survey->irregular[i] > 0)
            status = note_count(writer, "irregular_", conv_irregularity_name(i), survey->irregular[i]);
    return status;
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

static enum fp_status convert_input(const struct conv_input *input, const char *out_path,
                                    const struct conv_options *options, struct conv_report *report,
                                    struct conv_error *error)
{
    struct conv_survey *survey = &report->survey;
    struct fp_error cause = {.status = FP_OK};
    struct wl_summary summary;
    struct wl_writer *writer = NULL;
    enum fp_status status = create_writer(out_path, options, input, survey, error, &writer);
    if (status != FP_OK)
        return status;
    announce_temporary(writer);
    status = conv_pass_run(input, options, writer, survey, error);
    if (status == FP_OK)
        status = write_notes(writer, survey);
    if (status != FP_OK && error->cause.status == FP_OK)
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
    temporary_stands = 0;
    if (status != FP_OK)
        return status;
    assert(summary.ops == survey->ops && summary.live_bytes_peak == survey->live_bytes_peak);
    survey->windows = summary.windows;
    survey->id_max = summary.id_max;
    return FP_OK;
}

enum fp_status conv_file(const char *in_path, const char *out_path, const struct conv_options *options,
                         struct conv_report *ret_report, struct conv_error *ret_error)
{
    static const struct conv_options defaults = {0};
    const uint64_t start_ns = now_ns();
    struct conv_report report = {0};
    struct conv_input input = {0};
    struct conv_options settled;
    enum fp_status status;
    memset(ret_error, 0, sizeof *ret_error);
    if (options == NULL)
        options = &defaults;
    settled = *options;
    status = conv_input_open(in_path, options, &report.survey, ret_error, &input);
    if (status == FP_OK) {
        status = conv_plan_settle(in_path, &input, &settled, &report.survey, ret_error);
        if (status == FP_OK)
            status = convert_input(&input, out_path, &settled, &report, ret_error);
        input.close(input.data);
    }
    if (status != FP_OK) {
        conv_report_release(&report);
        return status;
    }
    report.elapsed_ns = now_ns() - start_ns;
    *ret_report = report;
    return FP_OK;
}
