/* workload_input.c - ops to events; what a workload says of itself, and how it is noted. */
#include "convert/open/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "convert/base/source.h"
#include "convert/base/survey_counts.h"
#include "convert/ops/rewrite.h"
#include "footprint/fp/fp_sites.h"
#include "footprint/wl/workload.h"

#define PREFIX  "usage_"
#define LOOKS   PREFIX "looks"
#define MS_NS   1000000u
#define KIB     1024u
#define EVENTS  256u /* of a batch: as others' */
#define AT_ONCE 3u   /* events of an op, at most */

struct workload {
    const char *path;
    struct wl_reader *reader;
    uint64_t inherited;    /* ops at the begin that make what was there before */
    uint32_t next_touched; /* of the window's shares */
    struct conv_event events[EVENTS];
    size_t count;
};

/* An id as an address: aligned, and below the limit. */
static uint64_t address_of(uint32_t id)
{
    return (uint64_t)id << 4;
}

static enum fp_status flush(struct workload *workload, const struct conv_sink *sink)
{
    const size_t count = workload->count;
    workload->count = 0;
    return count > 0 ? sink->events(sink->data, workload->events, count) : FP_OK;
}

static struct conv_event event_of(const struct wl_window *window, uint32_t op, uint32_t lane)
{
    const struct fp_shape shape = conv_op_shape(&window->ops[op]);
    return (struct conv_event){.time_ns = wl_window_time(window, op),
                               .address = address_of(window->ops[op].id),
                               .size = shape.size,
                               .extra = shape.extra,
                               .lane = lane,
                               .call = shape.call,
                               .site = window->sites != NULL ? window->sites[op] : 0};
}

/* An object's share in memory is told as soon as it has its size, also where that was all: nobody is to guess. */
static void put_share(struct workload *workload, const struct wl_window *window,
                      const struct conv_event *event, uint64_t number)
{
    const struct fp_shape shape = conv_event_shape(event);
    const bool is_told = workload->next_touched < window->touched_count &&
                         window->touched[workload->next_touched].op == number;
    if (event->address == 0 || fp_call_kind_of(event->call) == FP_KIND_RELEASE ||
        fp_shape_bytes(&shape) < FP_MIDDLING_BYTES)
        return;
    workload->events[workload->count++] = (struct conv_event){
        .time_ns = event->time_ns,
        .address = event->address,
        .extra = is_told ? window->touched[workload->next_touched].share : FP_SHARE_WHOLE,
        .lane = event->lane,
        .call = FP_MARK_RESIDENT};
}

/* A resize has its object's mark before it. */
static void put(struct workload *workload, const struct wl_op *op, struct conv_event event)
{
    if (fp_call_kind_of(op->call) == FP_KIND_RESIZE && !conv_op_allocates(op)) {
        event.old_address = event.address;
        workload->events[workload->count++] = (struct conv_event){.time_ns = event.time_ns,
                                                                  .address = event.address,
                                                                  .lane = event.lane,
                                                                  .call = FP_MARK_RESIZE_FROM};
    }
    workload->events[workload->count++] = event;
}

static enum fp_status take(struct workload *workload, const struct conv_sink *sink,
                           const struct wl_window *window, uint32_t op, uint32_t lane)
{
    const struct conv_event event = event_of(window, op, lane);
    const uint64_t number = window->facts.first_op + op;
    enum fp_status status = FP_OK;
    if (number < workload->inherited)
        return sink->inherit(sink->data, &event, 1);
    put(workload, &window->ops[op], event);
    put_share(workload, window, &event, number);
    if (workload->next_touched < window->touched_count &&
        window->touched[workload->next_touched].op == number)
        workload->next_touched++;
    if (workload->count + AT_ONCE > EVENTS)
        status = flush(workload, sink);
    return status;
}

/* Tells the threads whose ends were recorded; their times are not known. */
static enum fp_status run_ends(struct workload *workload, const struct conv_sink *sink)
{
    const struct wl_summary *summary = wl_reader_summary(workload->reader);
    enum fp_status status = FP_OK;
    for (uint32_t i = 0; i < summary->thread_count && status == FP_OK; i++) {
        if (!summary->threads[i].exited)
            continue;
        workload->events[workload->count++] = (struct conv_event){
            .time_ns = summary->duration_ns, .lane = i, .call = FP_MARK_THREAD_EXIT};
        if (workload->count + AT_ONCE > EVENTS)
            status = flush(workload, sink);
    }
    return status == FP_OK ? flush(workload, sink) : status;
}

static enum fp_status run(void *data, const struct conv_sink *sink, struct conv_survey *survey,
                          struct conv_error *error)
{
    struct workload *workload = data;
    struct wl_window window;
    enum fp_status status;
    (void)survey;
    wl_reader_rewind(workload->reader);
    while ((status = wl_reader_next(workload->reader, &window)) == FP_OK) {
        workload->next_touched = 0;
        for (uint32_t k = 0, op = 0; k < window.run_count && status == FP_OK; k++)
            for (uint32_t i = 0; i < window.runs[k].op_count && status == FP_OK; i++, op++)
                status = take(workload, sink, &window, op, window.runs[k].thread);
        if (status == FP_OK)
            status = flush(workload, sink);
        if (status != FP_OK)
            return status;
    }
    if (status != FP_END)
        return conv_fail_with(error, workload->path, wl_reader_error(workload->reader));
    return run_ends(workload, sink);
}

static void name_lane(void *data, uint32_t lane, uint32_t *ret_thread_id, bool *ret_is_main)
{
    const struct wl_thread *thread = &wl_reader_summary(((struct workload *)data)->reader)->threads[lane];
    *ret_thread_id = thread->thread_id;
    *ret_is_main = thread->is_main;
}

static void conclude(void *data, uint64_t gap_calls, struct conv_survey *survey)
{
    const struct workload *workload = data;
    (void)gap_calls;
    survey->large = (struct conv_large){0}; /* shares that nobody told are among them */
    survey->duration_ns = wl_reader_summary(workload->reader)->duration_ns;
}

static enum fp_status take_stacks(void *data, struct fp_stacks *ret_stacks, struct conv_error *error)
{
    struct workload *workload = data;
    struct fp_stacks stacks;
    bool done;
    *ret_stacks = (struct fp_stacks){.executable = strdup("")};
    if (wl_reader_stacks(workload->reader, &stacks) != FP_OK)
        return conv_fail_with(error, workload->path, wl_reader_error(workload->reader));
    done = fp_stacks_add(ret_stacks, &stacks.sites) && ret_stacks->executable != NULL;
    fp_stacks_release(&stacks);
    return done ? FP_OK : conv_fail_memory(error, workload->path, "its call stacks");
}

static void close_workload(void *data)
{
    struct workload *workload = data;
    wl_reader_close(workload->reader);
    free(workload);
}

/* ---- usage ------------------------------------------------------------------------------------------- */

static enum fp_status note_usage(struct wl_writer *writer, const struct fp_usage *usage)
{
    struct fp_usage_texts texts = {.count = 0};
    enum fp_status status = FP_OK;
    if (usage != NULL)
        fp_usage_tell(usage, &texts);
    for (size_t i = 0; i < texts.count && status == FP_OK; i++) {
        char key[64];
        snprintf(key, sizeof key, PREFIX "%s", texts.items[i].key);
        status = wl_writer_note(writer, key, texts.items[i].value);
    }
    return status;
}

bool conv_usage_read(const struct wl_reader *reader, struct fp_usage *ret_usage)
{
    const struct fp_meta *meta = wl_reader_info(reader)->meta;
    const size_t count = wl_reader_info(reader)->meta_count;
    bool told = false;
    fp_usage_init(ret_usage);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(meta[i].key, PREFIX, strlen(PREFIX)) != 0)
            continue;
        (void)fp_usage_take(ret_usage, meta[i].key + strlen(PREFIX),
                            meta[i].value); /* what is no number tells nothing */
        told = true;
    }
    return told;
}

size_t conv_looks_read(const struct wl_reader *reader, double *ret_times_ns, double *ret_bytes)
{
    const char *at = wl_reader_meta(reader, LOOKS);
    size_t count = 0;
    for (char *behind, *end; at != NULL && *at != '\0' && count < FP_USAGE_POINTS_MAX; at = end, count++) {
        ret_times_ns[count] = (double)strtoull(at, &behind, 10) * MS_NS;
        ret_bytes[count] = (double)strtoull(behind, &end, 10) * KIB;
        if (end == behind || (count > 0 && ret_times_ns[count] <= ret_times_ns[count - 1]))
            return 0; /* no series of ours */
    }
    return count;
}

/* ---- what a workload tells of itself ----------------------------------------------------------------- */

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
    survey->digest = wl_reader_info(reader)->digest;
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

/* Counts that are noted where another one, or they themselves, are not 0. The selection's stand behind its words. */
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
    NOTE("select_from_ns", selected.from_ns, selected.from_ns),
    NOTE("select_to_ns", selected.to_ns, selected.to_ns),
    NOTE("select_head", selected.head, selected.head),
};
#define SELECTION    6u /* where its begin */
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

/* Memory over time, "MILLISECONDS KIB ...", of a program that ran for long. */
static enum fp_status note_looks(struct wl_writer *writer, const struct fp_usage *usage)
{
    const uint32_t count = usage->point_count;
    char text[FP_USAGE_POINTS_MAX * 44 + 1];
    int length = 0;
    if (count == 0 || usage->points[count - 1].time_ns < FP_USAGE_LONG_NS)
        return FP_OK;
    for (uint32_t i = 0; i < count; i++) {
        const struct fp_usage_point *point = &usage->points[i];
        const uint64_t bytes = point->rss_anon_bytes > 0 ? point->rss_anon_bytes : point->rss_bytes;
        length += snprintf(text + length, 45, " %" PRIu64 " %" PRIu64, point->time_ns / MS_NS, bytes / KIB);
    }
    return wl_writer_note(writer, LOOKS, text + 1);
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
    for (size_t i = 0; i < NOTES_LENGTH && status == FP_OK; i++) {
        if (i == SELECTION && survey->selected.text[0] != '\0')
            status = wl_writer_note(writer, "selection", survey->selected.text);
        if (status == FP_OK && count_at(survey, NOTES[i].when) > 0)
            status = note_count(writer, "", NOTES[i].key, count_at(survey, NOTES[i].at));
    }
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT && status == FP_OK; i++)
        if (survey->irregular[i] > 0)
            status = note_count(writer, "irregular_", conv_irregularity_name(i), survey->irregular[i]);
    if (status != FP_OK)
        return status;
    /* Last: where there are notes of everything that can be irregular, these find no room, and nothing fails by that. */
    status = note_usage(writer, survey->usage);
    if (status == FP_OK && survey->usage != NULL && survey->begin_ns == 0 &&
        survey->selected.text[0] == '\0') /* else its times are others */
        status = note_looks(writer, survey->usage);
    return status == FP_ERR_LIMIT ? FP_OK : status;
}

/* "" where there is none. */
static void copy(const struct wl_reader *reader, const char *key, char *ret_text, size_t size)
{
    const char *text = wl_reader_meta(reader, key);
    snprintf(ret_text, size, "%s", text != NULL ? text : "");
}

/* The notes of conv_survey_note, read back. */
static void take_notes(const struct wl_reader *reader, struct conv_survey *survey)
{
    const char *complete = wl_reader_meta(reader, "complete");
    const char *why = wl_reader_meta(reader, "incomplete_why");
    copy(reader, "program", survey->program, sizeof survey->program);
    copy(reader, "lacks", survey->lacks, sizeof survey->lacks);
    conv_survey_label(survey, wl_reader_meta(reader, FP_LABEL_META));
    survey->start_unix_ns = wl_reader_meta_number(reader, "recorded_unix_ns");
    survey->complete = complete == NULL || strcmp(complete, "yes") == 0;
    if (!survey->complete)
        conv_incomplete(survey, "%s", why != NULL ? why : "it was converted from an incomplete recording");
    for (unsigned i = 0; i < CONV_IRREGULARITY_COUNT; i++) {
        char key[64];
        snprintf(key, sizeof key, "irregular_%s", conv_irregularity_name(i));
        survey->irregular[i] = wl_reader_meta_number(reader, key);
    }
    copy(reader, "selection", survey->selected.text, sizeof survey->selected.text);
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
    struct stat facts;
    return stat(path, &facts) == 0 ? (uint64_t)facts.st_size : 0;
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
    take_notes(reader, survey);
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

/* ---- opening --------------------------------------------------------------------------------------- */

static uint32_t main_thread(const struct wl_summary *summary)
{
    for (uint32_t i = 0; i < summary->thread_count; i++)
        if (summary->threads[i].is_main)
            return i;
    return 0;
}

enum fp_status conv_workload_open(const char *path, struct conv_survey *survey, struct conv_error *ret_error,
                                  struct conv_input *ret_input)
{
    struct workload *workload = calloc(1, sizeof *workload);
    struct fp_error cause = {.status = FP_ERR_MEMORY, .what = "no memory for reading"};
    enum fp_status status;
    if (workload == NULL)
        return conv_fail_memory(ret_error, path, "reading");
    workload->path = path;
    status = wl_reader_open_sites(path, &cause, &workload->reader);
    if (status != FP_OK) {
        free(workload);
        return conv_fail_with(ret_error, path, &cause);
    }
    const struct wl_summary *summary = wl_reader_summary(workload->reader);
    survey->kind = CONV_KIND_WORKLOAD;
    take_notes(workload->reader, survey);
    workload->inherited = survey->inherited_objects;
    survey->inherited_objects = survey->inherited_bytes = 0; /* they are counted as they come */
    *ret_input = (struct conv_input){
        .data = workload,
        .namer = {.data = workload, .name = name_lane},
        .source = "footprint",
        .progress_total = summary->ops,
        .end_ns = summary->duration_ns,
        .home_lane = main_thread(summary),
        .run = run,
        .conclude = conclude,
        .stacks = wl_reader_info(workload->reader)->site_end > 0 ? take_stacks : NULL,
        .close = close_workload,
    };
    return FP_OK;
}
