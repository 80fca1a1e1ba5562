/* workload_survey.c - read a workload, and the notes that its conversion left. */
#include "convert/open/workload_survey.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/base/process_usage.h"
#include "convert/base/source.h"
#include "convert/open/usage_notes.h"
#include "convert/select/selection_plan.h"

static void survey_window(const struct wl_window *window, struct conv_survey *survey)
{
    for (uint32_t i = 0; i < window->op_count; i++) {
        const struct wl_op *op = &window->ops[i];
        const struct fp_shape shape = {.call = op->call, .size = op->size, .extra = op->count};
        const uint64_t bytes = fp_shape_bytes(&shape);
        unsigned size_class;
        if (fp_call_kind_of(op->call) == FP_KIND_RELEASE || bytes >= CONV_ADDRESS_LIMIT)
            continue;
        size_class = conv_size_class(bytes);
        survey->class_count[size_class]++;
        survey->class_bytes[size_class] = conv_add_saturating(survey->class_bytes[size_class], bytes);
    }
}

/* Left out where there is no memory for it: it is there to be looked at only. */
static void take_threads(const struct wl_summary *summary, struct conv_survey *survey)
{
    survey->thread_list = calloc((size_t)summary->thread_count + 1, sizeof *survey->thread_list);
    for (uint32_t i = 0; survey->thread_list != NULL && i < summary->thread_count; i++)
        survey->thread_list[survey->thread_count++] = (struct conv_thread){
            .thread_id = summary->threads[i].thread_id,
            .is_main = summary->threads[i].is_main,
            .events = summary->threads[i].ops,
        };
}

static void take_summary(const struct wl_reader *reader, struct conv_survey *survey)
{
    const struct wl_summary *summary = wl_reader_summary(reader);
    survey->ops = survey->events = summary->ops;
    for (unsigned i = 0; i < FP_CALL_COUNT; i++)
        survey->ops_by_call[i] = survey->events_by_call[i] = summary->ops_by_call[i];
    survey->threads = summary->thread_count;
    for (uint32_t i = 0; i < summary->thread_count; i++)
        survey->thread_exits += summary->threads[i].exited;
    survey->duration_ns = summary->duration_ns;
    survey->requested_bytes = summary->requested_bytes;
    survey->live_bytes_peak = summary->live_bytes_peak;
    survey->live_objects_peak = summary->live_objects_peak;
    survey->live_bytes_end = summary->live_bytes_end;
    survey->live_objects_end = summary->live_objects_end;
    survey->largest_size = summary->largest_size;
    survey->windows = summary->windows;
    survey->id_max = summary->id_max;
    survey->digest = wl_reader_digest(reader);
}

/* A name that only a later version knows is no promise that all is known. */
static enum conv_liveness live_from(const char *name)
{
    if (name == NULL)
        return CONV_LIVE_KNOWN;
    for (unsigned live = 0; conv_liveness_name(live) != NULL; live++)
        if (strcmp(name, conv_liveness_name(live)) == 0)
            return live;
    return CONV_LIVE_FROM_MIDDLE;
}

/* ---- notes ---------------------------------------------------------------------------------- */

/* Counts that are noted where another one, or they themselves, are not 0. */
#define NOTE(key, member, when)                                                                              \
    {                                                                                                        \
        key, offsetof(struct conv_survey, member), offsetof(struct conv_survey, when)                        \
    }
static const struct {
    const char *key;
    size_t at, when;
} NOTES[] = {
    NOTE("events_removed", events_removed, events_removed),
    NOTE("inherited_objects", inherited_objects, inherited_objects),
    NOTE("inherited_bytes", inherited_bytes, inherited_objects),
    NOTE("large_noted", large.noted, large.noted),
    NOTE("large_noted_bytes", large.noted_bytes, large.noted),
    NOTE("large_resident_bytes", large.resident_bytes, large.noted),
};
#define NOTES_LENGTH (sizeof NOTES / sizeof NOTES[0])

static uint64_t count_at(const struct conv_survey *survey, size_t at)
{
    return *(const uint64_t *)(const void *)((const char *)survey + at);
}

static enum fp_status note_count(struct wl_writer *writer, const char *prefix, const char *name,
                                 uint64_t count)
{
    char key[64], value[24];
    snprintf(key, sizeof key, "%s%s", prefix, name);
    snprintf(value, sizeof value, "%" PRIu64, count);
    return wl_writer_note(writer, key, value);
}

enum fp_status conv_survey_note(struct wl_writer *writer, const struct conv_survey *survey)
{
    const uint64_t lost = conv_add_saturating(survey->lost_marks, fp_loss_sum(survey->lost));
    enum fp_status status = wl_writer_note(writer, "complete", survey->complete ? "yes" : "no");
    if (status == FP_OK && survey->incomplete_why[0] != '\0')
        status = wl_writer_note(writer, "incomplete_why", survey->incomplete_why);
    if (status == FP_OK && survey->lacks[0] != '\0')
        status = wl_writer_note(writer, "lacks", survey->lacks);
    if (status == FP_OK)
        status = note_count(writer, "", "lost_calls", lost);
    for (unsigned i = 0; i < FP_LOSS_COUNT && status == FP_OK; i++)
        if (survey->lost[i] > 0)
            status = note_count(writer, "lost_", fp_loss_name(i), survey->lost[i]);
    if (status == FP_OK && !conv_survey_knows_losses(survey))
        status = wl_writer_note(writer, "lost_known", "no");
    if (status == FP_OK && survey->live != CONV_LIVE_KNOWN)
        status = wl_writer_note(writer, "live", conv_liveness_name(survey->live));
    for (size_t i = 0; i < NOTES_LENGTH && status == FP_OK; i++)
        if (count_at(survey, NOTES[i].when) > 0)
            status = note_count(writer, "", NOTES[i].key, count_at(survey, NOTES[i].at));
    if (status == FP_OK)
        status = conv_plan_write(writer, &survey->selected);
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT && status == FP_OK; i++)
        if (survey->irregular[i] > 0)
            status = note_count(writer, "irregular_", conv_irregularity_name(i), survey->irregular[i]);
    if (status != FP_OK)
        return status;
    /* Last: where there are notes of everything that can be irregular, these find no room, and nothing fails by that. */
    status = conv_usage_note(writer, survey->usage);
    return status == FP_ERR_LIMIT ? FP_OK : status;
}

void conv_survey_notes(const struct wl_reader *reader, struct conv_survey *survey)
{
    const char *program = wl_reader_meta(reader, "program");
    const char *complete = wl_reader_meta(reader, "complete");
    const char *why = wl_reader_meta(reader, "incomplete_why");
    const char *lacks = wl_reader_meta(reader, "lacks");
    snprintf(survey->program, sizeof survey->program, "%s", program != NULL ? program : "");
    conv_survey_label(survey, wl_reader_meta(reader, FP_LABEL_META));
    snprintf(survey->lacks, sizeof survey->lacks, "%s", lacks != NULL ? lacks : "");
    survey->start_unix_ns = wl_reader_meta_number(reader, "recorded_unix_ns");
    survey->complete = complete == NULL || strcmp(complete, "yes") == 0;
    if (!survey->complete)
        conv_incomplete(survey, "%s", why != NULL ? why : "it was converted from an incomplete recording");
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++) {
        char key[64];
        snprintf(key, sizeof key, "irregular_%s", conv_irregularity_name(i));
        survey->irregular[i] = wl_reader_meta_number(reader, key);
    }
    conv_plan_read(reader, &survey->selected);
    survey->live = live_from(wl_reader_meta(reader, "live"));
    for (size_t i = 0; i < NOTES_LENGTH; i++)
        *(uint64_t *)(void *)((char *)survey + NOTES[i].at) = wl_reader_meta_number(reader, NOTES[i].key);
    struct fp_usage usage;
    conv_usage_set(&survey->usage, conv_usage_read(reader, &usage) ? &usage : NULL);
    survey->uncounted = wl_reader_meta(reader, "lost_known") != NULL;
    survey->lost_marks = wl_reader_meta_number(reader, "lost_calls");
    for (unsigned i = 0; i < FP_LOSS_COUNT; i++) {
        char key[64];
        snprintf(key, sizeof key, "lost_%s", fp_loss_name(i));
        survey->lost[i] = wl_reader_meta_number(reader, key);
        survey->lost_marks -= survey->lost[i] < survey->lost_marks ? survey->lost[i] : survey->lost_marks;
    }
}

static uint64_t file_bytes_of(const char *path)
{
    FILE *file = fopen(path, "re");
    off_t size = 0;
    if (file == NULL)
        return 0;
    if (fseeko(file, 0, SEEK_END) == 0)
        size = ftello(file);
    (void)fclose(file); /* only read from */
    return size > 0 ? (uint64_t)size : 0;
}

enum fp_status conv_survey_workload(const char *wl_path, const char *in_path,
                                    const struct conv_options *options, struct conv_survey *survey,
                                    struct conv_error *error)
{
    struct fp_error cause = {.status = FP_ERR_MEMORY, .what = "no memory for reading"};
    struct wl_reader *reader = NULL;
    struct wl_window window;
    enum fp_status status = wl_reader_open(wl_path, &cause, &reader);
    if (status != FP_OK)
        return conv_fail_with(error, in_path, &cause);
    survey->kind = CONV_KIND_WORKLOAD;
    take_summary(reader, survey);
    take_threads(wl_reader_summary(reader), survey);
    conv_survey_notes(reader, survey);
    while ((status = wl_reader_next(reader, &window)) == FP_OK) {
        survey_window(&window, survey);
        if (options->progress != NULL)
            options->progress(options->progress_data, window.facts.first_op, window.facts.first_op,
                              survey->ops);
    }
    if (status != FP_END)
        status = conv_fail_with(error, in_path, wl_reader_error(reader));
    else
        status = FP_OK;
    wl_reader_close(reader);
    survey->file_bytes = file_bytes_of(in_path);
    if (survey->events > 0)
        survey->bytes_per_event = (double)survey->file_bytes / (double)survey->events;
    return status;
}
